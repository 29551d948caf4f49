"""Four eyes: what one operator may not do alone waits for another one, who is told by mail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from risala.engine.features.approvals.records import ApprovalState, StoredApproval
from risala.engine.features.approvals.rules import APPROVAL_MS, operator_key
from risala.engine.features.approvals.stored import ApprovalRepository
from risala.engine.kernel.arguments import Json
from risala.engine.kernel.operation import Call, Operation, Weight
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import ApprovalNeeded, Refusal
from risala.engine.model.money import money
from risala.engine.model.people_records import OwedMail
from risala.engine.model.times import iso
from risala.engine.people.letters import Letters, Values, Words, amount, moment, named

ASK: Final = "approval.ask"
"""The line of a request in the audit trail."""


@asynccontextmanager
async def watched(
    call: Call[Any],
    operation: Operation[Any, Any],
    arguments: Json,
    weight: Weight,
    limit: int | None,
) -> AsyncIterator[None]:
    """Around the handler of an operation that weighs: counts what is done alone, and lets nothing
    through that needs a second operator.

    Args:
        limit: from this sum on in a day it needs two; minor units.

    Raises:
        ApprovalNeeded: it is asked for, and waits.
        Conflict: the same waits already, or too many do.
    """
    stored = call.stored(ApprovalRepository)
    new = _asked(call, operation, arguments, weight)
    if limit is None or not await stored.take_alone(new, limit):
        by = AuditEntry(
            caller=call.caller,
            action=ASK,
            at=call.now_ms,
            subject=new.id,
            organization_id=new.organization_id,
            details={
                "operation": new.kind,
                "amount": None if new.amount is None else money(new.amount),
            },
        )
        await stored.ask(by, new, operation.operators)
        call.services.people.sources.owed()
        raise ApprovalNeeded(new.id, iso(new.expires_at))
    try:
        yield
    except Refusal:
        await stored.give_back(new)
        raise


def _asked(
    call: Call[Any], operation: Operation[Any, Any], arguments: Json, weight: Weight
) -> StoredApproval:
    present = {name: value for name, value in arguments.items() if value is not None}
    return StoredApproval(
        call.services.ids.new("apr"),
        operation.name,
        present,
        weight.amount,
        operation.owner(call.services, call.arguments),
        dict(weight.seen),
        call.caller.who,
        operator_key(call.caller),
        call.now_ms,
        call.now_ms + APPROVAL_MS,
        ApprovalState.PENDING,
    )


def letter(letters: Letters, owed: OwedMail, words: Words) -> Values | None:
    """What operators are told of a request; None: it is decided by now."""
    approval = letters.repositories.part(ApprovalRepository).approval(owed.details["approval"])
    if approval.state is not ApprovalState.PENDING:
        return None
    kinds = words["approvals"]
    whose = approval.organization_id
    organization = letters.accounts.organization(whose) if whose else None
    due = "–" if approval.amount is None else amount(approval.amount, owed.language)
    if organization is not None and approval.amount is not None:
        due = f"{due} {organization.currency}"
    return {
        "who": approval.asked_by,
        "what": kinds.get(approval.kind.replace(".", "_"), approval.kind),
        "organization": "–" if organization is None else named(organization),
        "amount": due,
        "until": moment(approval.expires_at, owed.language, letters.zone),
        "url": f"{letters.console_url}/operator/approvals",
    }
