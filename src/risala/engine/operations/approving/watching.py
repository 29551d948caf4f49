"""Four eyes: what one operator may not do alone waits for another one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import ApprovalNeeded, Refusal
from risala.engine.model.money import minor_units, money
from risala.engine.model.records.people.approvals import ApprovalState, StoredApproval
from risala.engine.model.times import iso
from risala.engine.operations.arguments import Json
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.people.four_eyes import APPROVAL_MS, Weight, operator_key, watches

ASK: Final = "approval.ask"
"""The line of a request in the audit trail."""


@asynccontextmanager
async def watched(
    call: Call[Any], operation: Operation[Any, Any], arguments: Json
) -> AsyncIterator[None]:
    """Around the handler of an operation: counts what is done alone, and lets nothing through that
    needs a second operator.

    Raises:
        ApprovalNeeded: it is asked for, and waits.
        Conflict: the same waits already, or too many do.
    """
    written = call.services.settings.people.four_eyes_from
    limit = None if written is None else minor_units(written)
    weight = None if operation.weighs is None else operation.weighs(call)
    if weight is None or not watches(limit, call.caller, weight):
        yield
        return
    stored, new = call.services.repositories.approvals, _asked(call, operation, arguments, weight)
    if limit is None or not await stored.take_alone(new, limit):
        by = AuditEntry(
            caller=call.caller,
            action=ASK,
            at=call.now_ms,
            subject=new.id,
            organization_id=new.organization_id,
            said=said_of(new),
        )
        await stored.ask(by, new, operation.operators)
        call.services.people.mail_is_owed()
        raise ApprovalNeeded(new.id, iso(new.expires_at))
    try:
        yield
    except Refusal:
        await stored.give_back(new)
        raise


def said_of(found: StoredApproval) -> dict[str, Any]:
    """What the line of a request says of it."""
    amount = None if found.amount is None else money(found.amount)
    return {"operation": found.kind, "amount": amount}


def _asked(
    call: Call[Any], operation: Operation[Any, Any], arguments: Json, weight: Weight
) -> StoredApproval:
    given = {name: value for name, value in arguments.items() if value is not None}
    return StoredApproval(
        call.services.ids.new("apr"),
        operation.name,
        given,
        weight.amount,
        operation.owner(call.services, call.given),
        dict(weight.seen),
        call.caller.who,
        operator_key(call.caller),
        call.now_ms,
        call.now_ms + APPROVAL_MS,
        ApprovalState.PENDING,
    )
