"""Messages by somebody's hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import (
    AHEAD_MAX_S,
    MessageView,
    Principal,
    SendMessage,
    TimelineEntry,
)
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.model.money import money
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.message_lists import CutMessage
from risala.engine.model.records.record import to_json
from risala.engine.model.records.webhooks import EventAbout
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.engine.model.wire import message_wire, timeline_wire
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeFlag,
    MaybeMoment,
    ModeWord,
    Number,
    OfOrganization,
    Text,
    fault,
    is_text,
    maybe,
    text,
    whole,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import DEVELOPERS, VIEWERS
from risala.engine.services import Services
from risala.engine.upkeep import overview
from risala.sms.address import sender_fault
from risala.sms.alphabet import fits_gsm7, plainer, smart_encode
from risala.sms.segment import SegmentCount, count

BODY_MAX: Final = 1600
KEY_LENGTH: Final = (8, 128)
VALIDITY_S: Final = (60, 259_200)
UNSERVED: Final = (
    "It waits: no enabled carrier serves this number. Name its network or prefix in a"
    " carrier's table before its validity is over."
)


def _body(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise fault("missing", "`{name}` is required.")
    if len(value) > BODY_MAX or not is_text(value):
        sentence = f"A message has 1 to {BODY_MAX} characters, no NUL and no lone surrogate."
        raise fault("too_long", sentence)
    return value


def _sender(value: object) -> str:
    found = text(value)
    if wrong := sender_fault(found):
        raise fault("invalid_sender", wrong)
    return found


def _idempotency_key(value: object) -> str:
    found = text(value)
    least, most = KEY_LENGTH
    if not least <= len(found) <= most:
        raise fault("invalid_length", f"A key has {least} to {most} characters.")
    return found


def _validity(value: object) -> int:
    found = whole(value)
    least, most = VALIDITY_S
    if not least <= found <= most:
        raise fault("out_of_range", f"A validity is {least} to {most} seconds.")
    return found


class Send(OfOrganization):
    """Send one message by hand, on an organization's balance."""

    to: Number
    body: Annotated[str, PlainValidator(_body), ArgumentKind("text")] = Field(repr=False)
    sender: Annotated[str | None, PlainValidator(maybe(_sender)), ArgumentKind("sender")] = Field(
        default=None, alias="from"
    )
    idempotency_key: Annotated[
        str | None, PlainValidator(maybe(_idempotency_key)), ArgumentKind("text")
    ] = None
    urgent: MaybeFlag = None
    send_at: MaybeMoment = None
    validity_s: Annotated[
        int | None, PlainValidator(maybe(_validity)), ArgumentKind("whole number of seconds")
    ] = None
    mode: ModeWord = "live"
    """A test message meets no carrier and costs nothing: its number chooses its outcome."""


class EstimateMessage(OfOrganization):
    """What a text would cost, and which letters make it Unicode. Nothing is sent."""

    body: Annotated[str, PlainValidator(_body), ArgumentKind("text")] = Field(repr=False)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A text as it would be sent: counted, priced, and looked through."""

    size: SegmentCount
    price: int
    currency: str
    odd: tuple[tuple[int, str], ...]
    """Places and characters that are not in GSM 7-bit; none where the text fits it."""


class OfMessage(Arguments):
    """Names one message."""

    message_id: Text


class EraseMessage(OfMessage):
    """Take a message's text out, unless ``text_only`` its number and metadata too."""

    text_only: MaybeFlag = None


@dataclass(frozen=True, slots=True)
class ErasedMessage:
    """A message that was taken out, or whose text was."""

    message_id: str


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """A message that was accepted; ``warning`` says where no carrier serves its number."""

    message_id: str
    response: bytes
    """The body that ``POST /api/sms`` answers; the same for the same idempotency key."""
    warning: str | None


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as it is now."""

    view: MessageView


@dataclass(frozen=True, slots=True)
class MessageStory:
    """A message with its whole timeline."""

    view: MessageView
    timeline: tuple[TimelineEntry, ...]
    is_hidden: bool = False
    """Its text is left out, and shown by ``message.body``."""
    cut: CutMessage | None = None
    """The longer message that it is a part of, which its customer cut; None: it is no part."""


@dataclass(frozen=True, slots=True)
class EventsAbout:
    """The events about a message that are kept, with their deliveries."""

    events: tuple[EventAbout, ...]


def _events_wire(found: EventsAbout) -> Json:
    return {
        "events": [
            {
                "eventId": each.id,
                "type": each.type,
                "createdAt": iso(each.at),
                "deliveries": [to_json(delivery) for delivery in each.deliveries],
            }
            for each in found.events
        ]
    }


def _estimate_wire(found: Estimate) -> Json:
    return {
        "encoding": found.size.alphabet.value,
        "segments": found.size.segments,
        "characters": found.size.units,
        "price": money(found.price),
        "currency": found.currency,
        "unicodeCharacters": [
            {"character": each, "index": place, "suggestion": plainer(each)}
            for place, each in found.odd
        ],
    }


def _accepted_wire(accepted: AcceptedMessage) -> Json:
    return {**json.loads(accepted.response), **warning_wire(accepted.warning)}


def warning_wire(warning: str | None) -> Json:
    """The member ``warning`` of a result; none where there is nothing to warn of."""
    return {} if warning is None else {"warning": warning}


def _message_wire(shown: ShownMessage | MessageStory) -> Json:
    view = shown.view
    told = {"organizationId": view.organization_id, "kind": view.kind, "mode": view.mode.value}
    return {"message": {**message_wire(view), **told, "keyId": view.api_key}}


def _story_wire(story: MessageStory) -> Json:
    return {
        **_message_wire(story),
        **({"bodyHidden": True} if story.is_hidden else {}),
        "timeline": [timeline_wire(entry) for entry in story.timeline],
        "part": None if story.cut is None else _part_wire(story, story.cut),
    }


def _part_wire(story: MessageStory, whole: CutMessage) -> Json:
    """Which part of its message it is, the text of that, and where its other parts are."""
    numbers = {each.id: number for number, each in sorted(whole.parts.items())}
    return {
        "number": numbers[story.view.id],
        "total": whole.total,
        "text": None if story.is_hidden or story.view.body is None else whole.text,
        "messages": [{"number": number, "messageId": each} for each, number in numbers.items()],
    }


def unserved_warning(services: Services, message_id: str) -> str | None:
    """A sentence where the message waits because no carrier serves its number; else None."""
    return UNSERVED if services.repositories.queue.is_unserved(message_id) else None


def _erased_wire(erased: ErasedMessage) -> Json:
    return {"messageId": erased.message_id}


def _message_id(response: bytes) -> str:
    message_id: str = json.loads(response)["messageId"]
    return message_id


async def _send(call: Call[Send]) -> AcceptedMessage:
    given, services = call.given, call.services
    if given.send_at is not None and given.send_at > call.now_ms + AHEAD_MAX_S * 1000:
        sentence = f"A message is sent within {AHEAD_MAX_S // 86_400} days."
        raise Invalid("send_at", "too_late", sentence)
    organization = services.accounts.fresh_organization(given.organization_id)
    if organization.status != "active":
        raise Forbidden("The organization is not active.")
    command = SendMessage(
        to=given.to,
        body=given.body,
        sender=given.sender,
        idempotency_key=given.idempotency_key,
        urgent=bool(given.urgent),
        send_at=given.send_at,
        validity_s=given.validity_s,
    )
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode(given.mode))
    by = call.audit(AuditImage.MESSAGE)
    response = await services.intake.send(principal, command, by=by)
    message_id = _message_id(response)
    return AcceptedMessage(message_id, response, unserved_warning(services, message_id))


async def _message_estimate(call: Call[EstimateMessage]) -> Estimate:
    given, services = call.given, call.services
    organization = services.accounts.organization(given.organization_id)
    text = smart_encode(given.body) if organization.smart_encoding else given.body
    size = count(text)
    odd = tuple((place, each) for place, each in enumerate(text) if not fits_gsm7(each))
    price = services.intake.prices.of(organization, size.segments)
    return Estimate(size, price, organization.currency, odd)


async def _message_show(call: Call[OfMessage]) -> MessageStory:
    message_id = call.given.message_id
    view, entries = overview.message(call.services, message_id)
    whole = call.services.repositories.message_lists.cut_message(message_id)
    if call.hides_texts:
        hidden = replace(view, body=None, metadata={})
        return MessageStory(hidden, tuple(entries), view.body is not None, whole)
    if view.body is not None:
        by = call.audit(subject=message_id, organization_id=view.organization_id, always=True)
        await call.note_look(by)
    return MessageStory(view, tuple(entries), cut=whole)


async def _message_events(call: Call[OfMessage]) -> EventsAbout:
    view, _ = overview.message(call.services, call.given.message_id)
    return EventsAbout(call.services.repositories.events.about(view))


async def _message_cancel(call: Call[OfMessage]) -> ShownMessage:
    message_id = call.given.message_id
    await call.services.recorder.cancel(message_id, by=call.audit(AuditImage.MESSAGE, message_id))
    view, _ = overview.message(call.services, message_id)
    return ShownMessage(view)


async def _message_erase(call: Call[EraseMessage]) -> ErasedMessage:
    message_id, text_only = call.given.message_id, bool(call.given.text_only)
    by = call.audit(AuditImage.MESSAGE, message_id, said={"textOnly": text_only}, always=True)
    await call.services.repositories.erasures.take_out_message(
        message_id, text_only=text_only, by=by
    )
    return ErasedMessage(message_id)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="send",
        arguments=Send,
        result=AcceptedMessage,
        wire=_accepted_wire,
        handler=_send,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="message.show",
        arguments=OfMessage,
        result=MessageStory,
        wire=_story_wire,
        handler=_message_show,
        roles=VIEWERS,
        owner=owners.of_message,
        reveals=True,
    ),
    Operation(
        name="message.estimate",
        arguments=EstimateMessage,
        result=Estimate,
        wire=_estimate_wire,
        handler=_message_estimate,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="message.events",
        arguments=OfMessage,
        result=EventsAbout,
        wire=_events_wire,
        handler=_message_events,
        roles=VIEWERS,
        owner=owners.of_message,
    ),
    Operation(
        name="message.cancel",
        arguments=OfMessage,
        result=ShownMessage,
        wire=_message_wire,
        handler=_message_cancel,
        roles=DEVELOPERS,
        owner=owners.of_message,
        changes=True,
    ),
    Operation(
        name="message.erase",
        arguments=EraseMessage,
        result=ErasedMessage,
        wire=_erased_wire,
        handler=_message_erase,
        roles=DEVELOPERS,
        owner=owners.of_message,
        changes=True,
    ),
)
