"""Alarms until somebody answers, for programs with a secret key (contract §15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from risala.dataclass import dataclass
from risala.engine.features.alarms import records
from risala.engine.features.alarms.records import (
    INTERVAL_MAX_S,
    INTERVAL_MIN_S,
    NAME_MAX,
    PEOPLE_MAX,
    ROUNDS_MAX,
    TEXT_MAX,
    WORD_MAX,
    AlarmChain,
    RaisedAlarm,
)
from risala.engine.model.commands import Principal
from risala.engine.model.errors import NotFound
from risala.engine.model.people import Language
from risala.engine.model.records.asks import Ask
from risala.engine.model.states import Mode
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
from risala.sms.numbering.plan import EXAMPLE

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

ONLY_LIVE: Final = "A test key raises trials by chains, and changes none. Use a live key."
MISSING: Final = "No chain has this id, or no alarm of this key’s mode."
_FIT: Final[Any] = {"pattern": fields.FIT_PATTERN}
Word = Annotated[str, Field(json_schema_extra=_FIT)]
ChainId = Annotated[
    str,
    Field(
        alias="chainId",
        min_length=1,
        json_schema_extra=_FIT,
        examples=["alc_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"],
    ),
]
AlarmId = Annotated[
    str,
    Field(
        alias="alarmId",
        min_length=1,
        json_schema_extra=_FIT,
        examples=["alm_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"],
    ),
]
Name = Annotated[
    str, Field(min_length=1, max_length=NAME_MAX, json_schema_extra=_FIT, examples=["Cold room"])
]
People = Annotated[
    list[Annotated[str, Field(json_schema_extra=_FIT, examples=[EXAMPLE])]],
    Field(
        min_length=1,
        max_length=PEOPLE_MAX,
        description="In their order: a number, then perhaps days and hours of a shift:"
        " `mon-fri 08:00-18:00`.",
    ),
]


class ChainFieldsBody(RequestBody):
    """What a chain may have beside its name and people; the answer says what each is."""

    interval_seconds: Annotated[
        int | None,
        Field(alias="intervalSeconds", ge=INTERVAL_MIN_S, le=INTERVAL_MAX_S),
        fields.WHOLE,
    ] = None
    rounds: Annotated[int | None, Field(ge=1, le=ROUNDS_MAX), fields.WHOLE] = None
    word: Annotated[Word | None, Field(min_length=1, max_length=WORD_MAX)] = None
    language: Annotated[str | None, *one_of(*(each.value for each in Language))] = None
    sender: Annotated[Word | None, Field(alias="from")] = None


class CreateChainBody(ChainFieldsBody):
    """Who is written to, in which order, until somebody answers."""

    name: Name
    people: Annotated[People, Field(repr=False)]


class UpdateChainBody(ChainFieldsBody):
    """What is to be another. What is left out stays as it is."""

    chain_id: ChainId
    name: Name | None = None
    people: Annotated[People | None, Field(repr=False)] = None


class ChainBody(RequestBody):
    """Which chain."""

    chain_id: ChainId


class RaiseBody(RequestBody):
    """An alarm."""

    chain_id: ChainId
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=TEXT_MAX,
            json_schema_extra=_FIT,
            repr=False,
            description="What has happened; the message ends with the word to answer.",
            examples=["The cold room is at 9 °C."],
        ),
    ]
    idempotency_key: Annotated[
        fields.IdempotencyKey | None,
        Field(
            alias="idempotencyKey",
            description="What was raised by the same key before is answered again.",
        ),
    ] = None


class AlarmBody(RequestBody):
    """Which alarm."""

    alarm_id: AlarmId


CHAIN: Final = ApiAnswer(
    "AlarmChainAnswer",
    record=AlarmChain,
    members="chainId name people intervalSeconds rounds word language from createdAt",
)
ALARM: Final = ApiAnswer(
    "AlarmAnswer",
    record=RaisedAlarm,
    members="alarmId chainId text state steps nextAt raisedAt raisedBy endedAt endedBy",
)
STEP: Final = ApiAnswer("AlarmStepAnswer", record=records.AlarmStep)


def _each(item: ApiAnswer, about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": item.reference}, "description": about}


@dataclass(frozen=True, slots=True)
class _DutyNow:
    """A chain with its alarms."""

    time_zone: str
    """The organization's, in which shifts are."""
    on_duty: tuple[str, ...]
    """The numbers of those who are on duty now, in their order."""


@dataclass(frozen=True, slots=True)
class _StepsSoFar:
    """An alarm with each of its steps."""

    chain_name: str


CHAIN_VIEW: Final = ApiAnswer(
    "AlarmChainViewAnswer",
    record=_DutyNow,
    members="chain timeZone onDuty alarms",
    more={
        "chain": {"$ref": CHAIN.reference},
        "alarms": _each(ALARM, "Those of the key’s mode, the newest first."),
    },
)
ALARM_VIEW: Final = ApiAnswer(
    "AlarmViewAnswer",
    record=_StepsSoFar,
    members="alarm chainName past",
    more={
        "alarm": {"$ref": ALARM.reference},
        "past": _each(STEP, "Its steps, in their order."),
    },
)
ALL: Final = ApiAnswer(
    "AlarmChainsAnswer",
    record=records.AlarmChains,
    members="items going",
    more={
        "items": _each(CHAIN, "By their names."),
        "going": _each(ALARM, "Alarms of the key’s mode that nobody has answered yet."),
    },
)
COMPONENTS: Final = (CHAIN, ALARM, STEP, CHAIN_VIEW, ALARM_VIEW, ALL)


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``/api/alarms/…``."""
    made = _Alarms(KeyPerformer(gateway, MISSING), context, auth)
    return {
        "/api/alarms/chains/list": made.list,
        "/api/alarms/chains/get": made.get_chain,
        "/api/alarms/chains/create": made.create,
        "/api/alarms/chains/update": made.update,
        "/api/alarms/chains/delete": made.delete,
        "/api/alarms/raise": made.raise_one,
        "/api/alarms/get": made.get_alarm,
        "/api/alarms/end": made.end,
    }


@dataclass(frozen=True, slots=True)
class _Alarms:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def _read(
        self, request: PlainRequest, model: type[RequestBody]
    ) -> tuple[Principal, dict[str, Any]]:
        """The key that asks, and the members of its body."""
        principal = self.auth.secret(request)
        return principal, parse_body(model, await read_body(request), self.context()).given()

    async def _chain(
        self, request: PlainRequest, ask: Ask[AlarmChain], model: type[RequestBody]
    ) -> PlainAnswer:
        principal, members = await self._read(request, model)
        if principal.mode is Mode.TEST:
            raise NotFound(ONLY_LIVE)
        chain = await self.performer.ask(principal, ask, **members)
        return PlainAnswer(json_bytes(CHAIN.wire(chain)))

    async def list(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._read(request, EmptyBody)
        mine = principal.organization_id
        listed = await self.performer.ask(principal, records.LIST, organization_id=mine)
        chains = [CHAIN.wire(each) for each in listed.chains]
        going = [ALARM.wire(each) for each in listed.going if each.mode is principal.mode]
        return PlainAnswer(json_bytes({"items": chains, "going": going}))

    async def get_chain(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, ChainBody)
        view = await self.performer.ask(principal, records.SHOW, **members)
        alarms = [ALARM.wire(each) for each in view.alarms if each.mode is principal.mode]
        duty = _DutyNow(view.time_zone, view.on_duty)
        wire = CHAIN_VIEW.wire(duty, chain=CHAIN.wire(view.chain), alarms=alarms)
        return PlainAnswer(json_bytes(wire))

    async def create(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, CreateChainBody)
        if principal.mode is Mode.TEST:
            raise NotFound(ONLY_LIVE)
        members |= {"organization_id": principal.organization_id}
        chain = await self.performer.ask(principal, records.CREATE, **members)
        return PlainAnswer(json_bytes(CHAIN.wire(chain)))

    async def update(self, request: PlainRequest) -> PlainAnswer:
        return await self._chain(request, records.SET, UpdateChainBody)

    async def delete(self, request: PlainRequest) -> PlainAnswer:
        return await self._chain(request, records.DELETE, ChainBody)

    async def raise_one(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, RaiseBody)
        members |= {"mode": principal.mode.value}
        return _shown(await self.performer.ask(principal, records.RAISE, **members))

    async def _view(self, principal: Principal, members: Mapping[str, Any]) -> records.AlarmView:
        """The alarm that a request names, of the key's mode. Raises ``NotFound``."""
        view = await self.performer.ask(principal, records.STEPS, **members)
        if view.alarm.mode is not principal.mode:
            raise NotFound(MISSING)
        return view

    async def get_alarm(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, AlarmBody)
        view = await self._view(principal, members)
        past = [STEP.wire(each) for each in view.past]
        so_far = _StepsSoFar(view.chain_name)
        wire = ALARM_VIEW.wire(so_far, alarm=ALARM.wire(view.alarm), past=past)
        return PlainAnswer(json_bytes(wire))

    async def end(self, request: PlainRequest) -> PlainAnswer:
        principal, members = await self._read(request, AlarmBody)
        await self._view(principal, members)
        return _shown(await self.performer.ask(principal, records.END, **members))


def _shown(alarm: RaisedAlarm) -> PlainAnswer:
    return PlainAnswer(json_bytes(ALARM.wire(alarm)))
