"""The operator's operations by name: one table for the command line and the control socket."""

from __future__ import annotations

from typing import Final

import trio

from risala.engine.journal.store.watched import telling
from risala.engine.model.errors import NotFound, OutcomeUnknown, StorageFailed
from risala.engine.operations import (
    accounts,
    inbound,
    messages,
    money,
    retention,
    senders,
    service,
    verify,
    webhooks,
)
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.services import Services

__all__ = ["OPERATIONS", "perform"]

OPERATIONS: Final[dict[str, Operation]] = {
    **accounts.OPERATIONS,
    **money.OPERATIONS,
    **senders.OPERATIONS,
    **messages.OPERATIONS,
    **verify.OPERATIONS,
    **service.OPERATIONS,
    **webhooks.OPERATIONS,
    **inbound.OPERATIONS,
    **retention.OPERATIONS,
}


async def perform(services: Services, name: str, arguments: Json) -> Json:
    """Do one operation. See :meth:`Gateway.perform`."""
    operation = OPERATIONS.get(name)
    if operation is None:
        raise NotFound(f"There is no operation {name!r}.")
    condition = services.recorder.journal.condition
    # A caller who hangs up must not leave a cache older than the journal.
    with trio.CancelScope(shield=True):
        try:
            with telling(condition.meet):
                return await operation(services, Arguments(arguments))
        except StorageFailed as error:
            if isinstance(error, OutcomeUnknown) or condition.ailment is None:
                raise
            # To the operator in full: what is wrong, where, and what to do.
            raise StorageFailed(condition.ailment.sentence) from error
    raise AssertionError("a shield lets nothing be cancelled")
