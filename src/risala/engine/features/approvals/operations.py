"""What waits for a second operator: others confirm or refuse it, who asked may withdraw it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import trio
from pydantic import PlainValidator

from risala.engine.features.approvals.records import (
    CONFIRM,
    LIST,
    REFUSE,
    Approval,
    Approvals,
    ApprovalState,
    StoredApproval,
)
from risala.engine.features.approvals.rules import is_asker
from risala.engine.features.approvals.stored import ApprovalRepository
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    NoArguments,
    Text,
    maybe,
    parse,
    words,
)
from risala.engine.kernel.operation import Call, Confirming, Operation, Operations
from risala.engine.model.callers import CallerKind
from risala.engine.model.errors import Conflict, Forbidden
from risala.engine.rules.roles import OPERATORS, STAFF

WHY_MAX: Final = 200
"""Characters of a reason."""
AT_THE_MACHINE: Final = frozenset({CallerKind.CLI, CallerKind.CONTROL})
"""Callers by which the person who asked may confirm alone: a person who may write its files could
do worse."""
CHANGED: Final = "Things changed since this was requested. Refuse it and ask for a new request."
NOT_YOURS: Final = "Somebody else must confirm it."
_ONE_AT_A_TIME: Final = trio.Lock()
"""Confirming compares what is there and then changes it: nobody else confirms in between."""

MaybeWhy = Annotated[
    str | None, PlainValidator(maybe(words(WHY_MAX))), ArgumentKind("text on one line")
]


class ConfirmApproval(Arguments):
    """Confirm what another operator asked for: it is done now, once."""

    approval_id: Text
    alone: MaybeWhy = None
    """The reason why the person who asked confirms it at the machine without a second operator."""


class RefuseApproval(Arguments):
    """Refuse what another operator asked for, or withdraw one's own."""

    approval_id: Text
    why: MaybeWhy = None


OPERATIONS: Final = Operations()
_OPERATORS: Final[dict[str, Any]] = {"roles": OPERATORS, "operators": STAFF}


def _operation(approval: StoredApproval) -> Operation[Any, Any]:
    from risala.engine.gateway import table

    return table.OPERATIONS[approval.kind]


def _shown(call: Call[Any], approval: StoredApproval) -> Approval:
    caller, organization_id = call.caller, approval.organization_id
    state = approval.state_at(call.now_ms)
    is_mine = is_asker(caller, approval.asked_key, approval.asked_by)
    may = state is ApprovalState.PENDING and _operation(approval).allows(caller)
    names = call.services.repositories.organizations
    return Approval(
        approval.id,
        approval.kind,
        {name: _text(value) for name, value in approval.arguments.items()},
        approval.amount,
        organization_id,
        None if organization_id is None else names.name(organization_id),
        state,
        approval.asked_by,
        approval.asked_at,
        approval.expires_at,
        approval.decided_by,
        approval.decided_at,
        approval.why,
        may_confirm=may and not is_mine,
        may_refuse=may or (is_mine and state is ApprovalState.PENDING),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@OPERATIONS(LIST, **_OPERATORS)
async def _list(call: Call[NoArguments]) -> Approvals:
    stored = call.stored(ApprovalRepository)
    approvals = (*stored.waiting(call.now_ms), *stored.decided())
    return Approvals(tuple(_shown(call, each) for each in approvals))


@OPERATIONS(CONFIRM, fresh=True, changes=Approval, **_OPERATORS)
async def _confirm(call: Call[ConfirmApproval]) -> Approval:
    decision, services, caller = call.arguments, call.services, call.caller
    stored = call.stored(ApprovalRepository)
    async with _ONE_AT_A_TIME:
        approval = stored.approval(decision.approval_id)
        operation = _operation(approval)
        _refuse(call, approval, operation)
        arguments = parse(operation.arguments, dict(approval.arguments), services.settings.plan)
        confirming = Confirming(approval.id, approval.asked_by, decision.alone)
        inner: Call[Any] = Call(services, caller, operation.name, arguments, confirming)
        operation.refuse(services, caller, arguments)
        weight = None if operation.four_eyes is None else operation.four_eyes(inner)
        if weight is None or weight.amount != approval.amount or dict(weight.seen) != approval.seen:
            raise Conflict(CHANGED)
        await operation.handler(inner)
    return _shown(call, stored.approval(approval.id))


def _refuse(
    call: Call[ConfirmApproval], approval: StoredApproval, operation: Operation[Any, Any]
) -> None:
    if not operation.allows(call.caller):
        raise Forbidden(f"This is not for the role {call.caller.role_word!r}.")
    alone = call.arguments.alone
    if alone is not None and call.caller.face not in AT_THE_MACHINE:
        raise Forbidden("Only at the machine can a request be confirmed without a second operator.")
    if alone is None and is_asker(call.caller, approval.asked_key, approval.asked_by):
        raise Conflict(NOT_YOURS)


@OPERATIONS(REFUSE, changes=Approval, **_OPERATORS)
async def _refuse_one(call: Call[RefuseApproval]) -> Approval:
    arguments, stored = call.arguments, call.stored(ApprovalRepository)
    approval = stored.approval(arguments.approval_id)
    shown = _shown(call, approval)
    if not shown.may_refuse and shown.state is ApprovalState.PENDING:
        raise Forbidden(f"This is not for the role {call.caller.role_word!r}.")
    by = call.audit(
        subject=approval.id,
        organization_id=approval.organization_id,
        details={"operation": approval.kind, "asked_by": approval.asked_by, "why": arguments.why},
    )
    return _shown(call, await stored.refuse(by, approval.id, arguments.why))
