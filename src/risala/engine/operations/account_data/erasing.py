"""Erasing the data about one number: how much there is, and the order to erase it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import PlainValidator, ValidationInfo

from risala.engine.model.audit import masked
from risala.engine.model.records.upkeep import erasure_progress
from risala.engine.model.records.upkeep.erasure_progress import (
    ErasureProgress,
    Erasures,
    ErasureState,
    NumberFigures,
    WentOn,
)
from risala.engine.model.records.upkeep.erasures import STEPS, Erasure, ErasureStep
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    OfOrganization,
    Text,
    text,
    unread,
)
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS, OWNERS, READERS, SUPPORT
from risala.engine.services import Services
from risala.engine.upkeep.erasing import go_on
from risala.sms.numbering.plan import DEFAULT
from risala.sms.numbering.written import NumberFault, UnreadNumber, read_written

SHOWN_MAX: Final = 50
"""Deletions that a list shows: the latest."""


_is_whole: Final = re.compile(r"\+[1-9][0-9]{6,14}", re.ASCII).fullmatch


def _number(value: object, info: ValidationInfo) -> str:
    """A whole number of any country: people write from abroad, too."""
    typed, plan = text(value), info.context or DEFAULT
    try:
        return plan.read(typed)
    except UnreadNumber as error:
        found = read_written(typed, lambda digits: digits if _is_whole(digits) else None)
        if isinstance(found, NumberFault):
            raise unread(error, plan) from None
    return found


class OfNumber(OfOrganization):
    """Names a number, as a person writes it."""

    number: Annotated[str, PlainValidator(_number), ArgumentKind("phone number, also abroad")]


class OfErasure(Arguments):
    erasure_id: Text


def progress_of(erasure: Erasure) -> ErasureProgress:
    is_done = erasure.ended_at is not None
    return ErasureProgress(
        id=erasure.id,
        organization_id=erasure.organization_id,
        number=None if erasure.last4 is None else masked(erasure.last4),
        state=ErasureState.DONE if is_done else ErasureState.UNDER_WAY,
        step=STEPS.index(erasure.step),
        steps=len(STEPS),
        waits=erasure.step is ErasureStep.CARRIERS and not is_done,
        gone=erasure.gone,
        asked_by=erasure.asked_by,
        created_at=erasure.created_at,
        ended_at=erasure.ended_at,
    )


def _owner(services: Services, given: OfErasure) -> str:
    return services.repositories.erasures.find(given.erasure_id).organization_id


async def _preview(call: Call[OfNumber]) -> NumberFigures:
    organization_id, number = call.given.organization_id, call.given.number
    call.services.accounts.fresh_organization(organization_id)
    return call.services.repositories.erasures.of_number(organization_id, number)


async def _forget(call: Call[OfNumber]) -> ErasureProgress:
    """Order the erasure. It is done in steps; ``erasure.show`` shows the progress."""
    organization_id, number = call.given.organization_id, call.given.number
    services, now_ms = call.services, call.now_ms
    services.accounts.fresh_organization(organization_id)
    erasure_id, who = services.ids.new("del"), call.caller.who
    by = call.audit(organization_id=organization_id, said={"number": masked(number)})
    erasure = await services.repositories.erasures.begin(
        by, erasure_id, organization_id, number, who, now_ms
    )
    services.errands.erasing.ring()
    services.errands.exporting.ring()
    return progress_of(erasure)


async def _list(call: Call[OfOrganization]) -> Erasures:
    organization_id = call.given.organization_id
    call.services.accounts.fresh_organization(organization_id)
    found = call.services.repositories.erasures.of_organization(organization_id, SHOWN_MAX)
    return Erasures(tuple(progress_of(each) for each in found))


async def _show(call: Call[OfErasure]) -> ErasureProgress:
    return progress_of(call.services.repositories.erasures.find(call.given.erasure_id))


async def _run(call: Call[OfErasure]) -> WentOn:
    """Do one unit of work. A running service does the same by itself, and both may run at once."""
    done = await go_on(call.services, call.given.erasure_id)
    return WentOn(progress_of(done.erasure), done.waits)


_NAMED: Final[dict[str, Any]] = {"roles": OWNERS, "owner": owners.named}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(erasure_progress.FIGURES, OfNumber, _preview, operators=SUPPORT, **_NAMED),
    operation(erasure_progress.FORGET, OfNumber, _forget, changes=ErasureProgress, **_NAMED),
    operation(erasure_progress.LIST, OfOrganization, _list, operators=READERS, **_NAMED),
    operation(
        erasure_progress.SHOW, OfErasure, _show, roles=OWNERS, operators=READERS, owner=_owner
    ),
    operation(erasure_progress.RUN, OfErasure, _run, roles=OPERATORS),
)
