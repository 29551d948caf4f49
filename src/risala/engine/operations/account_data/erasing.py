"""Taking out what is about one number: what there is, and having it taken out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import masked
from risala.engine.model.records.upkeep.erasures import Erasure, ErasureStep, NumberFigures
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    OfOrganization,
    Text,
    fault,
    text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS, OWNERS
from risala.engine.services import Services
from risala.engine.upkeep.erasing import go_on

SHOWN_MAX: Final = 50
"""Deletions that a list shows: the latest."""


_is_whole: Final = re.compile(r"\+[1-9][0-9]{6,14}", re.ASCII).fullmatch


def _number(value: object) -> str:
    """A whole number of any country: people write from abroad, too."""
    found = text(value)
    if not _is_whole(found):
        raise fault("invalid_phone_number", "`{name}` must look like +22236123456.")
    return found


class OfNumber(OfOrganization):
    """Names a number, as a person writes it."""

    number: Annotated[str, PlainValidator(_number), ArgumentKind("phone number, also abroad")]


class OfErasure(Arguments):
    erasure_id: Text


@dataclass(frozen=True, slots=True)
class NumberFound:
    """What an organization knows of a number."""

    number: str
    figures: NumberFigures


@dataclass(frozen=True, slots=True)
class Erasures:
    erasures: tuple[Erasure, ...]


@dataclass(frozen=True, slots=True)
class WentOn:
    """What one piece of work came to."""

    erasure: Erasure
    waits: bool


def _found_wire(found: NumberFound) -> Json:
    figures = found.figures
    return {
        "number": found.number,
        "messages": figures.messages,
        "pending": figures.pending,
        "inbound": figures.inbound,
        "verifications": figures.verifications,
        "optedOut": figures.opted_out,
    }


def erasure_wire(erasure: Erasure) -> Json:
    is_done = erasure.ended_at is not None
    return {
        "id": erasure.id,
        "organizationId": erasure.organization_id,
        "number": None if erasure.last4 is None else masked(erasure.last4),
        "state": "done" if is_done else "under way",
        "step": int(erasure.step),
        "steps": len(ErasureStep),
        "waits": erasure.step is ErasureStep.CARRIERS and not is_done,
        "gone": {**erasure.gone},
        "askedBy": erasure.asked_by,
        "createdAt": iso(erasure.created_at),
        "endedAt": maybe_iso(erasure.ended_at),
    }


def _erasures_wire(found: Erasures) -> Json:
    return {"erasures": [erasure_wire(each) for each in found.erasures]}


def _went_on_wire(done: WentOn) -> Json:
    return {"erasure": erasure_wire(done.erasure), "waits": done.waits}


def _owner(services: Services, given: OfErasure) -> str:
    return services.repositories.erasures.find(given.erasure_id).organization_id


async def _preview(call: Call[OfNumber]) -> NumberFound:
    organization_id, number = call.given.organization_id, call.given.number
    call.services.accounts.fresh_organization(organization_id)
    figures = call.services.repositories.erasures.of_number(organization_id, number)
    return NumberFound(number, figures)


async def _forget(call: Call[OfNumber]) -> Erasure:
    """Note that it is to be taken out; that is done in steps, and told by ``erasure.show``."""
    organization_id, number = call.given.organization_id, call.given.number
    services, now_ms = call.services, call.now_ms
    services.accounts.fresh_organization(organization_id)
    erasure_id, who = services.ids.new("del"), call.caller.who
    by = call.audit(organization_id=organization_id, said={"number": masked(number)})
    erasure = await services.repositories.erasures.begin(
        erasure_id, organization_id, number, who, now_ms, by=by
    )
    services.errands.erasing.ring()
    services.errands.exporting.ring()
    return erasure


async def _list(call: Call[OfOrganization]) -> Erasures:
    organization_id = call.given.organization_id
    call.services.accounts.fresh_organization(organization_id)
    found = call.services.repositories.erasures.of_organization(organization_id, SHOWN_MAX)
    return Erasures(tuple(found))


async def _show(call: Call[OfErasure]) -> Erasure:
    return call.services.repositories.erasures.find(call.given.erasure_id)


async def _run(call: Call[OfErasure]) -> WentOn:
    """One unit of work; beside a service too, which does the same by itself."""
    done = await go_on(call.services, call.given.erasure_id)
    return WentOn(done.erasure, done.waits)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="number.show",
        arguments=OfNumber,
        result=NumberFound,
        wire=_found_wire,
        handler=_preview,
        roles=OWNERS,
        owner=owners.named,
    ),
    Operation(
        name="number.forget",
        arguments=OfNumber,
        result=Erasure,
        wire=erasure_wire,
        handler=_forget,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="erasure.list",
        arguments=OfOrganization,
        result=Erasures,
        wire=_erasures_wire,
        handler=_list,
        roles=OWNERS,
        owner=owners.named,
    ),
    Operation(
        name="erasure.show",
        arguments=OfErasure,
        result=Erasure,
        wire=erasure_wire,
        handler=_show,
        roles=OWNERS,
        owner=_owner,
    ),
    Operation(
        name="erasure.run",
        arguments=OfErasure,
        result=WentOn,
        wire=_went_on_wire,
        handler=_run,
        roles=OPERATORS,
    ),
)
