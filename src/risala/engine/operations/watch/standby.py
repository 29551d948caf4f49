"""Whether answers wait for the second machine."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import trio

from risala.engine.model.errors import Conflict
from risala.engine.model.records.upkeep.awaited_log import (
    GO_ASYNC,
    GO_BEFORE_ANSWER,
    SHOW,
    LogState,
)
from risala.engine.operations.arguments import NoArguments
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS
from risala.engine.services import Services

if TYPE_CHECKING:
    from risala.engine.journal.shipping.awaited_log import AwaitedLog

SUBJECT: Final = "standby"


def _log(services: Services) -> AwaitedLog:
    """
    Raises:
        Conflict: answers wait for nothing here.
    """
    log = services.shipping.log
    if log is None:
        raise Conflict(
            'Answers wait for no second machine here: that needs replicate = "before_answer" in '
            "[standby], and the service running."
        )
    return log


def _state(log: AwaitedLog) -> LogState:
    status = log.status()
    return LogState(**{each.name: getattr(status, each.name) for each in fields(LogState)})


async def _show(call: Call[NoArguments]) -> LogState:
    return _state(_log(call.services))


async def _go_async(call: Call[NoArguments]) -> LogState:
    # Imported here: without a second machine nothing of it is needed.
    from risala.engine.journal.shipping.awaited_log import OrderRefused

    log = _log(call.services)
    try:
        await trio.to_thread.run_sync(log.go_async)
    except OrderRefused as error:
        raise Conflict(
            f"Answers go on waiting: PostgreSQL has to know first that they do not, or a takeover "
            f"would send messages twice. {error}"
        ) from error
    # Afterwards: before it, the entry could not be written while nothing reaches the log.
    await _note(call)
    return _state(log)


async def _go_before_answer(call: Call[NoArguments]) -> LogState:
    log = _log(call.services)
    await _note(call)
    log.go_before_answer()
    return _state(log)


async def _note(call: Call[NoArguments]) -> None:
    await call.note(call.audit(subject=SUBJECT, always=True))


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(SHOW, NoArguments, _show, roles=OPERATORS),
    operation(
        GO_ASYNC, NoArguments, _go_async, roles=OPERATORS, changes=LogState, heeds_no_log=True
    ),
    operation(GO_BEFORE_ANSWER, NoArguments, _go_before_answer, roles=OPERATORS, changes=LogState),
)
