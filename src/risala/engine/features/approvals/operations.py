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
"""Where who asked may confirm alone: a person who may write its files could do worse."""
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
    """At the machine: why who asked confirms it without a second operator."""


class RefuseApproval(Arguments):
    """Refuse what another operator asked for, or withdraw one's own."""

    approval_id: Text
    why: MaybeWhy = None


OPERATIONS: Final = Operations()
_OPERATORS: Final[dict[str, Any]] = {"roles": OPERATORS, "operators": STAFF}


def _stored(call: Call[Any]) -> ApprovalRepository:
    return call.services.repositories.part(ApprovalRepository)


def _operation(found: StoredApproval) -> Operation[Any, Any]:
    from risala.engine.gateway import table

    return table.OPERATIONS[found.kind]


def _shown(call: Call[Any], found: StoredApproval) -> Approval:
    caller, organization_id = call.caller, found.organization_id
    state = found.state_at(call.now_ms)
    is_mine = is_asker(caller, found.asked_key, found.asked_by)
    may = state is ApprovalState.PENDING and _operation(found).allows(caller)
    names = call.services.repositories.organizations
    return Approval(
        found.id,
        found.kind,
        {name: _text(value) for name, value in found.arguments.items()},
        found.amount,
        organization_id,
        None if organization_id is None else names.name(organization_id),
        state,
        found.asked_by,
        found.asked_at,
        found.expires_at,
        found.decided_by,
        found.decided_at,
        found.why,
        may_confirm=may and not is_mine,
        may_refuse=may or (is_mine and state is ApprovalState.PENDING),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@OPERATIONS(LIST, **_OPERATORS)
async def _list(call: Call[NoArguments]) -> Approvals:
    stored = _stored(call)
    found = (*stored.waiting(call.now_ms), *stored.decided())
    return Approvals(tuple(_shown(call, each) for each in found))


@OPERATIONS(CONFIRM, fresh=True, changes=Approval, **_OPERATORS)
async def _confirm(call: Call[ConfirmApproval]) -> Approval:
    given, services, caller = call.given, call.services, call.caller
    stored = _stored(call)
    async with _ONE_AT_A_TIME:
        found = stored.approval(given.approval_id)
        asked = _operation(found)
        _refuse(call, found, asked)
        arguments = parse(asked.arguments, dict(found.arguments), services.settings.plan)
        confirming = Confirming(found.id, found.asked_by, given.alone)
        inner: Call[Any] = Call(services, caller, asked.name, arguments, confirming)
        asked.refuse(services, caller, arguments)
        weight = None if asked.four_eyes is None else asked.four_eyes(inner)
        if weight is None or weight.amount != found.amount or dict(weight.seen) != found.seen:
            raise Conflict(CHANGED)
        await asked.handler(inner)
    return _shown(call, stored.approval(found.id))


def _refuse(call: Call[ConfirmApproval], found: StoredApproval, asked: Operation[Any, Any]) -> None:
    if not asked.allows(call.caller):
        raise Forbidden(f"This is not for the role {call.caller.role_word!r}.")
    alone = call.given.alone
    if alone is not None and call.caller.face not in AT_THE_MACHINE:
        raise Forbidden("Only at the machine can a request be confirmed without a second operator.")
    if alone is None and is_asker(call.caller, found.asked_key, found.asked_by):
        raise Conflict(NOT_YOURS)


@OPERATIONS(REFUSE, changes=Approval, **_OPERATORS)
async def _refuse_one(call: Call[RefuseApproval]) -> Approval:
    given, stored = call.given, _stored(call)
    found = stored.approval(given.approval_id)
    shown = _shown(call, found)
    if not shown.may_refuse and shown.state is ApprovalState.PENDING:
        raise Forbidden(f"This is not for the role {call.caller.role_word!r}.")
    by = call.audit(
        subject=found.id,
        organization_id=found.organization_id,
        said={"operation": found.kind, "asked_by": found.asked_by, "why": given.why},
    )
    return _shown(call, await stored.refuse(by, found.id, given.why))
