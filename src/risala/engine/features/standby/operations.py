"""Whether answers wait for the second machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from risala.engine.features.standby.feature import (
    GO_ASYNC,
    GO_BEFORE_ANSWER,
    SHOW,
    LogState,
)
from risala.engine.features.standby.service import second_machine
from risala.engine.kernel.arguments import NoArguments
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Conflict
from risala.engine.rules.roles import OPERATORS
from risala.engine.services import Services

if TYPE_CHECKING:
    from risala.engine.features.standby.stored.awaited_log import AwaitedLog

SUBJECT: Final = "standby"


def _log(services: Services) -> AwaitedLog:
    """
    Raises:
        Conflict: answers wait for nothing here.
    """
    log = services.part(second_machine).status.log
    if log is None:
        raise Conflict(
            'Answers wait for no second machine here: that needs replicate = "before_answer" in '
            "[standby], and the service running."
        )
    return log


OPERATIONS: Final = Operations()


@OPERATIONS(SHOW, roles=OPERATORS)
async def _show(call: Call[NoArguments]) -> LogState:
    return _log(call.services).status()


@OPERATIONS(GO_ASYNC, roles=OPERATORS, changes=LogState, works_without_standby=True)
async def _go_async(call: Call[NoArguments]) -> LogState:
    # Imported here: without a second machine nothing of it is needed.
    from risala.engine.features.standby.stored.awaited_log import OrderRefused

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
    return log.status()


@OPERATIONS(GO_BEFORE_ANSWER, roles=OPERATORS, changes=LogState)
async def _go_before_answer(call: Call[NoArguments]) -> LogState:
    log = _log(call.services)
    await _note(call)
    log.go_before_answer()
    return log.status()


async def _note(call: Call[NoArguments]) -> None:
    await call.note(call.audit(subject=SUBJECT, always=True))
