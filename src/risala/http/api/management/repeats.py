"""Mailings that repeat, for programs with a secret key (contract §15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from risala.dataclass import dataclass
from risala.engine.features.repeats import records
from risala.engine.features.repeats.records import (
    COUNT_MAX,
    EVERY_MAX,
    NAME_MAX,
    PACE_MAX,
    MailingRepeat,
    RepeatView,
)
from risala.engine.model.commands import Principal
from risala.engine.model.errors import NotFound
from risala.engine.model.records.asks import Ask
from risala.http.api import fields
from risala.http.api.answers import ApiAnswer
from risala.http.api.fields import Compared
from risala.http.api.management.list_bodies import EmptyBody, one_of
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body
from risala.sms.limits import TEXT_CHARACTERS_MAX

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

MISSING: Final = "No repeat of this key’s mode has this id, or no list has it."
_FIT: Final[Any] = {"pattern": fields.FIT_PATTERN}
RepeatId = Annotated[
    str,
    Field(
        alias="repeatId",
        min_length=1,
        json_schema_extra=_FIT,
        examples=["rpt_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"],
    ),
]
Name = Annotated[
    str, Field(min_length=1, max_length=NAME_MAX, json_schema_extra=_FIT, examples=["Rent"])
]
Word = Annotated[str, Field(json_schema_extra=_FIT)]
ListId = Annotated[
    str,
    Field(
        min_length=1,
        json_schema_extra=_FIT,
        examples=["lst_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"],
    ),
]
Unit = Annotated[
    str, *one_of(*(each.value for each in records.RepeatUnit)), Field(examples=["weeks"])
]
Message = Annotated[
    str, Field(min_length=1, max_length=TEXT_CHARACTERS_MAX, json_schema_extra=_FIT)
]
Time = Annotated[Word, Field(examples=["10:00"])]


class RepeatFieldsBody(RequestBody):
    """What a repeat may have beside its name, list, text, unit and time; the answer says what each
    is."""

    sender: Annotated[Word | None, Field(alias="from")] = None
    pace: Annotated[int | None, Field(ge=1, le=PACE_MAX), fields.WHOLE] = None
    from_hour: Annotated[int | None, Field(alias="fromHour", ge=0, le=23), fields.WHOLE] = None
    to_hour: Annotated[int | None, Field(alias="toHour", ge=1, le=24), fields.WHOLE] = None
    every: Annotated[int | None, Field(ge=1, le=EVERY_MAX), fields.WHOLE] = None
    days: list[Word] | None = None
    month_days: Annotated[list[int] | None, Field(alias="monthDays")] = None
    until: Annotated[Word | None, Field(description="The last day; an empty text: none.")] = None
    count: Annotated[
        int | None,
        Field(ge=0, le=COUNT_MAX, description="So many runs; 0: without end."),
        fields.WHOLE,
    ] = None


class CreateRepeatBody(RepeatFieldsBody):
    """A mailing to a list, that repeats."""

    name: Name
    list_id: Annotated[ListId, Field(alias="listId")]
    text: fields.MessageText
    unit: Unit
    time: Time
    starts_on: Annotated[
        Word | None, Field(alias="startsOn", description="The first day; left out: today.")
    ] = None


class UpdateRepeatBody(RepeatFieldsBody):
    """What is to be another. What is left out stays as it is."""

    repeat_id: RepeatId
    name: Name | None = None
    list_id: Annotated[ListId | None, Field(alias="listId")] = None
    text: Annotated[Message | None, Field(repr=False)] = None
    unit: Unit | None = None
    time: Time | None = None


class RepeatBody(RequestBody):
    """Which repeat."""

    repeat_id: RepeatId


REPEAT: Final = ApiAnswer(
    "RepeatAnswer",
    record=MailingRepeat,
    members="repeatId name state reason listId text from pace fromHour toHour unit every days"
    " monthDays time startsOn until count runs nextAt createdAt",
)
RUN: Final = ApiAnswer("RepeatRunAnswer", record=records.RepeatRun)
UPCOMING: Final = ApiAnswer("UpcomingRunAnswer", record=records.UpcomingRun)


def _each(item: ApiAnswer, about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": item.reference}, "description": about}


@dataclass(frozen=True, slots=True)
class _Runs:
    """A repeat with its runs."""

    time_zone: str
    """The organization's, in which its times are."""
    upcoming: tuple[records.UpcomingRun, ...]
    past: tuple[records.RepeatRun, ...]


VIEW: Final = ApiAnswer(
    "RepeatViewAnswer",
    record=_Runs,
    members="repeat timeZone upcoming past",
    more={
        "repeat": {"$ref": REPEAT.reference},
        "upcoming": _each(UPCOMING, "The next runs, at most ten."),
        "past": _each(RUN, "Runs that were due, the newest first; a hundred are kept."),
    },
)
ALL: Final = ApiAnswer(
    "RepeatsAnswer",
    record=records.MailingRepeats,
    members="items",
    more={"items": _each(REPEAT, "The next due first, then those that rest.")},
)
COMPONENTS: Final = (REPEAT, RUN, UPCOMING, VIEW, ALL)


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``/api/repeats/…``."""
    made = _Repeats(KeyPerformer(gateway, MISSING), context, auth)
    return {
        "/api/repeats/list": made.list,
        "/api/repeats/get": made.get,
        "/api/repeats/create": made.create,
        "/api/repeats/update": made.update,
        "/api/repeats/pause": made.pause,
        "/api/repeats/resume": made.resume,
        "/api/repeats/end": made.end,
        "/api/repeats/delete": made.delete,
    }


@dataclass(frozen=True, slots=True)
class _Repeats:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def _read(
        self, request: PlainRequest, model: type[RequestBody]
    ) -> tuple[Principal, dict[str, Any]]:
        """The key that asks, and the members of its body."""
        principal = self.auth.secret(request)
        return principal, parse_body(model, await read_body(request), self.context()).given()

    async def _view(self, principal: Principal, members: Mapping[str, Any]) -> RepeatView:
        """The repeat that a request names, of the key's mode. Raises ``NotFound``."""
        repeat_id = members["repeat_id"]
        view = await self.performer.ask(principal, records.SHOW, repeat_id=repeat_id)
        if view.repeat.mode is not principal.mode:
            raise NotFound(MISSING)
        return view

    async def _act(
        self, request: PlainRequest, ask: Ask[MailingRepeat], model: type[RequestBody] = RepeatBody
    ) -> PlainAnswer:
        principal, members = await self._read(request, model)
        await self._view(principal, members)
        return _shown(await self.performer.ask(principal, ask, **members))

    async def list(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._read(request, EmptyBody)
        mine = principal.organization_id
        listed = await self.performer.ask(principal, records.LIST, organization_id=mine)
        repeats = [each for each in listed.repeats if each.mode is principal.mode]
        return PlainAnswer(json_bytes({"items": [REPEAT.wire(each) for each in repeats]}))

    async def get(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, RepeatBody)
        view = await self._view(principal, members)
        upcoming = [UPCOMING.wire(each) for each in view.upcoming]
        past = [RUN.wire(each) for each in view.past]
        runs = _Runs(view.time_zone, view.upcoming, view.past)
        wire = VIEW.wire(runs, repeat=REPEAT.wire(view.repeat), upcoming=upcoming, past=past)
        return PlainAnswer(json_bytes(wire))

    async def create(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, CreateRepeatBody)
        members |= {"organization_id": principal.organization_id, "mode": principal.mode.value}
        return _shown(await self.performer.ask(principal, records.CREATE, **members))

    async def update(self, request: PlainRequest) -> PlainAnswer:
        return await self._act(request, records.SET, UpdateRepeatBody)

    async def pause(self, request: PlainRequest) -> PlainAnswer:
        return await self._act(request, records.PAUSE)

    async def resume(self, request: PlainRequest) -> PlainAnswer:
        return await self._act(request, records.GO_ON)

    async def end(self, request: PlainRequest) -> PlainAnswer:
        return await self._act(request, records.END)

    async def delete(self, request: PlainRequest) -> PlainAnswer:
        return await self._act(request, records.DELETE)


def _shown(repeat: MailingRepeat) -> PlainAnswer:
    return PlainAnswer(json_bytes(REPEAT.wire(repeat)))
