"""Alarms until somebody answers: chains are made and changed, alarms raised, looked at, ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, ValidationInfo

from risala.engine.features.alarms import records
from risala.engine.features.alarms.records import (
    INTERVAL_MAX_S,
    INTERVAL_MIN_S,
    INTERVAL_S,
    LINE_MAX,
    NAME_MAX,
    PEOPLE_MAX,
    ROUNDS,
    ROUNDS_MAX,
    TEXT_MAX,
    WORD,
    WORD_MAX,
    AlarmChain,
    AlarmChains,
    AlarmState,
    AlarmView,
    ChainView,
    RaisedAlarm,
)
from risala.engine.features.alarms.rules import is_word, person_of
from risala.engine.features.alarms.service import AlarmCalling
from risala.engine.features.alarms.stored.alarms import AlarmRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeSender,
    MaybeWhole,
    ModeWord,
    OfOrganization,
    Text,
    fault,
    maybe,
    name_text,
    number,
    one_of,
    text,
    texts,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Invalid
from risala.engine.model.people import Language
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.operations.messages import MaybeKey
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS
from risala.engine.services import Services

_words: Final = text
"""The parser of a text: in the classes below, ``text`` is a field."""
_language: Final = one_of("invalid_language", [each.value for each in Language])


def _people(value: object, info: ValidationInfo) -> tuple[str, ...]:
    """Lines, each with its number as ``+`` and digits."""
    lines = [each for line in texts(value) if (each := line.strip())]
    if not lines:
        raise fault("missing", "`{name}` needs somebody: a number on each line.")
    if len(lines) > PEOPLE_MAX:
        raise fault("too_many_recipients", f"`{{name}}` can have at most {PEOPLE_MAX} people.")
    return tuple(_line(each, info) for each in lines)


def _line(line: str, info: ValidationInfo) -> str:
    person = person_of(line) if len(line) <= LINE_MAX else None
    if person is None:
        sentence = (
            "A line of `{name}` is a number, then perhaps days and hours: mon-fri 08:00-18:00."
        )
        raise fault("invalid_person", sentence)
    return replace(person, number=number(person.number, info)).line


def _word(value: object) -> str:
    word = text(value).strip()
    if len(word) > WORD_MAX or not is_word(word):
        raise fault("invalid_keyword", f"`{{name}}` is one word of at most {WORD_MAX} characters.")
    return word


def _between(least: int, most: int) -> Any:  # noqa: ANN401 -- a validator
    def parse(value: object) -> int:
        count = whole(value)
        if not least <= count <= most:
            raise fault("out_of_range", f"`{{name}}` must be {least} to {most}.")
        return count

    return PlainValidator(maybe(parse))


def _message(value: object) -> str:
    message = text(value).strip()
    if not message:
        raise fault("empty", "`{name}` must say what has happened.")
    if len(message) > TEXT_MAX:
        raise fault("too_long", f"`{{name}}` can have at most {TEXT_MAX} characters.")
    return message


_NAME: Final = ArgumentKind(f"text, at most {NAME_MAX} characters")
_PEOPLE: Final = ArgumentKind(f"list of at most {PEOPLE_MAX} people")


class _Fields(Arguments):
    """What a chain may have beside its name and people."""

    interval_seconds: Annotated[
        int | None,
        _between(INTERVAL_MIN_S, INTERVAL_MAX_S),
        ArgumentKind(f"seconds, {INTERVAL_MIN_S} to {INTERVAL_MAX_S}"),
    ] = None
    """Until the next person is written to; usually 300."""
    rounds: Annotated[
        int | None, _between(1, ROUNDS_MAX), ArgumentKind(f"whole number, 1 to {ROUNDS_MAX}")
    ] = None
    """How often each is written to at most; usually 3."""
    word: Annotated[
        str | None,
        PlainValidator(maybe(_word)),
        ArgumentKind(f"one word, at most {WORD_MAX} characters"),
    ] = None
    """The word that ends an alarm; usually `OK`."""
    language: Annotated[
        str | None,
        PlainValidator(maybe(_language)),
        ArgumentKind(", ".join(f"`{each.value}`" for each in Language)),
    ] = None
    """The language of the sentence that asks for the word; usually `en`."""
    sender: MaybeSender = Field(default=None, alias="from")
    """People must be able to answer it; none: the service's own."""


class CreateChain(OfOrganization, _Fields):
    """Say who is written to, in which order, until somebody answers."""

    name: Annotated[str, PlainValidator(name_text(NAME_MAX)), _NAME] = Field(examples=["Cold room"])
    people: Annotated[tuple[str, ...], PlainValidator(_people), _PEOPLE] = Field(repr=False)
    """In their order: a number, then perhaps days and hours: `mon-fri 08:00-18:00`."""


class OfChain(Arguments):
    """Names one chain."""

    chain_id: Text = Field(examples=["alc_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])


class SetChain(OfChain, _Fields):
    """Change a chain; what is not given stays as it is. Alarms that go on take it from their next
    step."""

    name: Annotated[str | None, PlainValidator(maybe(name_text(NAME_MAX))), _NAME] = None
    people: Annotated[
        tuple[str, ...] | None,
        PlainValidator(lambda value, info: None if value is None else _people(value, info)),
        _PEOPLE,
    ] = Field(default=None, repr=False)
    version: MaybeWhole = None
    """The version as ``alarm.show`` has it; None: whatever changed meanwhile."""


class RaiseAlarm(OfChain):
    """Write to the people of a chain, one after the other, until somebody answers."""

    text: Annotated[
        str, PlainValidator(_message), ArgumentKind(f"text, at most {TEXT_MAX} characters")
    ] = Field(repr=False, examples=["The cold room is at 9 °C."])
    mode: ModeWord = "live"
    """The mode: in `test` no carrier is used, and nothing is charged."""
    idempotency_key: MaybeKey = None
    """What was raised by the same key before is answered again."""


class OfAlarm(Arguments):
    """Names one alarm."""

    alarm_id: Text = Field(examples=["alm_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])


OPERATIONS: Final = Operations()


def of_chain(services: Services, arguments: OfChain) -> str:
    """The organization of a chain. Raises ``NotFound``."""
    stored = services.repositories.part(AlarmRepository)
    return stored.chain(arguments.chain_id).organization_id


def of_alarm(services: Services, arguments: OfAlarm) -> str:
    """The organization of an alarm. Raises ``NotFound``."""
    stored = services.repositories.part(AlarmRepository)
    return stored.alarm(arguments.alarm_id).organization_id


@OPERATIONS(records.LIST, roles=VIEWERS, operators=SUPPORT, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> AlarmChains:
    organization_id, stored = call.arguments.organization_id, call.stored(AlarmRepository)
    call.services.accounts.organization(organization_id)
    going = stored.going(organization_id)
    return AlarmChains(tuple(stored.of_organization(organization_id)), _shown(call, going))


def _shown(call: Call[Any], alarms: Sequence[RaisedAlarm]) -> tuple[RaisedAlarm, ...]:
    """Alarms as the caller may see them."""
    return tuple(replace(each, text="") if call.hides_texts else each for each in alarms)


@OPERATIONS(records.SHOW, roles=VIEWERS, operators=SUPPORT, owner=of_chain, versioned_by="chain_id")
async def _show(call: Call[OfChain]) -> ChainView:
    stored = call.stored(AlarmRepository)
    chain = stored.chain(call.arguments.chain_id)
    zone = call.services.accounts.organization(chain.organization_id).time_zone
    duty = call.part(AlarmCalling).duty_of(chain)
    numbers = tuple(dict.fromkeys(each.number for each in duty))
    return ChainView(chain, zone, numbers, _shown(call, stored.of_chain(chain.id)))


@OPERATIONS(records.CREATE, roles=DEVELOPERS, owner=owners.named, changes=AlarmChain)
async def _create(call: Call[CreateChain]) -> AlarmChain:
    arguments = call.arguments
    organization = call.services.accounts.fresh_organization(arguments.organization_id)
    new = AlarmChain(
        id=call.services.ids.new("alc"),
        organization_id=organization.id,
        name=arguments.name,
        people=arguments.people,
        interval_seconds=arguments.interval_seconds or INTERVAL_S,
        rounds=arguments.rounds or ROUNDS,
        word=arguments.word or WORD,
        language=Language(arguments.language or Language.ENGLISH),
        sender=arguments.sender,
        created_at=call.now_ms,
    )
    _check(call, new)
    by = call.audit(AuditImage.ALARM_CHAIN)
    return await call.stored(AlarmRepository).add_chain(by, new)


def _check(call: Call[Any], chain: AlarmChain) -> None:
    """
    Raises:
        Invalid: the word is one of the opt-outs.
        SenderNotApproved: the sender is not on the account.
    """
    if call.stored(AlarmRepository).means_more(chain.organization_id, chain.word):
        sentence = "This word begins or ends messages to its writer. Choose another one."
        raise Invalid("word", "reserved_word", sentence)
    call.services.intake.drafts.sender_of(chain.organization_id, chain.sender)


@OPERATIONS(
    records.SET, roles=DEVELOPERS, owner=of_chain, changes=AlarmChain, versioned_by="chain_id"
)
async def _set(call: Call[SetChain]) -> AlarmChain:
    arguments, stored = call.arguments, call.stored(AlarmRepository)
    before = stored.chain(arguments.chain_id)
    values: dict[str, Any] = {
        name: value
        for name, value in arguments.given_of(AlarmChain).items()
        if value is not None or name == "sender"
    }
    if "language" in values:
        values["language"] = Language(values["language"])
    _check(call, replace(before, **values))
    by = _signed(call, AuditImage.ALARM_CHAIN, before.id)
    return await stored.change_chain(by, before.id, values)


@OPERATIONS(records.DELETE, roles=DEVELOPERS, owner=of_chain, changes=AlarmChain)
async def _delete(call: Call[OfChain]) -> AlarmChain:
    chain_id = call.arguments.chain_id
    by = _signed(call, AuditImage.ALARM_CHAIN, chain_id)
    return await call.stored(AlarmRepository).delete_chain(by, chain_id)


@OPERATIONS(records.RAISE, roles=DEVELOPERS, owner=of_chain, changes=RaisedAlarm)
async def _raise(call: Call[RaiseAlarm]) -> RaisedAlarm:
    arguments, chain_id = call.arguments, call.arguments.chain_id
    whose = call.stored(AlarmRepository).chain(chain_id).organization_id
    who = call.caller.who
    principal = Principal(whose, who, KeyType.SECRET, Mode(arguments.mode))
    once = arguments.idempotency_key
    once = None if once is None else f"{arguments.mode}:{once}"
    by = call.audit(AuditImage.ALARM, organization_id=whose)
    return await call.part(AlarmCalling).raise_alarm(by, principal, chain_id, arguments.text, once)


@OPERATIONS(records.STEPS, roles=VIEWERS, operators=SUPPORT, owner=of_alarm)
async def _steps(call: Call[OfAlarm]) -> AlarmView:
    stored = call.stored(AlarmRepository)
    alarm = stored.alarm(call.arguments.alarm_id)
    name = stored.chain(alarm.chain_id).name
    (shown,) = _shown(call, (alarm,))
    return AlarmView(shown, name, tuple(stored.steps_of(alarm.id)))


@OPERATIONS(records.END, roles=DEVELOPERS, operators=SUPPORT, owner=of_alarm, changes=RaisedAlarm)
async def _end(call: Call[OfAlarm]) -> RaisedAlarm:
    alarm_id, who = call.arguments.alarm_id, call.caller.who
    by = _signed(call, AuditImage.ALARM, alarm_id)
    stored = call.stored(AlarmRepository)
    return await stored.end(by, alarm_id, AlarmState.ENDED, who, call.now_ms)


def _signed(call: Call[Any], image: AuditImage, subject: str) -> AuditEntry:
    return call.audit(image, subject)
