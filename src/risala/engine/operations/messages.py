"""Messages sent and changed by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeFlag,
    MaybeMoment,
    MaybeNumber,
    MaybeSender,
    MaybeText,
    ModeWord,
    Number,
    OfOrganization,
    Text,
    fault,
    maybe,
    text,
    whole,
    words,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import AHEAD_MAX_S, Principal, SendMessage, TimelineEntry
from risala.engine.model.errors import CountryNotOpen, Forbidden, Invalid, NotFound
from risala.engine.model.records import messages
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.message_lists import (
    CutMessage,
)
from risala.engine.model.records.messages import (
    AcceptedMessage,
    ErasedMessage,
    Estimate,
    EventsAbout,
    MessageBody,
    MessageStory,
    MessageView,
    OtherPart,
    PlacedCharacter,
    ShownMessage,
    StoryEntry,
    WholeMessage,
)
from risala.engine.model.records.record import from_json, to_json
from risala.engine.model.sentences import sentence
from risala.engine.model.states import PRIORITY_CODE, PRIORITY_MESSAGE, Mode
from risala.engine.model.wire import is_text, message_wire
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, READERS, SUPPORT, VIEWERS
from risala.engine.rules.template import freeze
from risala.engine.rules.verify_settings import VerifySettings
from risala.engine.services import Services
from risala.engine.upkeep import overview
from risala.sms.alphabet import fits_gsm7, plainer
from risala.sms.limits import IDEMPOTENCY_KEY_CHARACTERS, TEXT_CHARACTERS_MAX, VALIDITY_S
from risala.sms.segment import count
from risala.sms.unseen import as_sent, name_of

UNSERVED: Final = (
    "It waits: no enabled carrier serves this number. Name its network or prefix in a"
    " carrier's table before its validity is over."
)


def _body(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise fault("missing", "`{name}` is required.")
    if len(value) > TEXT_CHARACTERS_MAX or not is_text(value):
        sentence = (
            f"A message must have 1 to {TEXT_CHARACTERS_MAX} characters, without NUL and lone "
            "surrogates."
        )
        raise fault("too_long", sentence)
    return value


def _idempotency_key(value: object) -> str:
    key = text(value)
    least, most = IDEMPOTENCY_KEY_CHARACTERS
    if not least <= len(key) <= most:
        raise fault("invalid_length", f"A key has {least} to {most} characters.")
    return key


def _validity(value: object) -> int:
    seconds = whole(value)
    least, most = VALIDITY_S
    if not least <= seconds <= most:
        raise fault("out_of_range", f"A validity is {least} to {most} seconds.")
    return seconds


def _message_class(value: object) -> int:
    if whole(value) != 0:
        raise fault("out_of_range", "The only message class is 0: a flash message.")
    return 0


Body = Annotated[str, PlainValidator(_body), ArgumentKind("text")]
MaybeKey = Annotated[str | None, PlainValidator(maybe(_idempotency_key)), ArgumentKind("text")]


class Send(OfOrganization):
    """Send one message by hand, on an organization's balance."""

    to: Number
    body: Body = Field(repr=False)
    sender: MaybeSender = Field(default=None, alias="from")
    idempotency_key: MaybeKey = None
    urgent: MaybeFlag = None
    send_at: MaybeMoment = None
    validity_s: Annotated[
        int | None, PlainValidator(maybe(_validity)), ArgumentKind("whole number of seconds")
    ] = None
    mode: ModeWord = "live"
    """A test message reaches no carrier and costs nothing: its number chooses its outcome."""


class EstimateMessage(OfOrganization):
    """The price of a text, and the letters that make it Unicode. Nothing is sent."""

    body: Body = Field(repr=False)
    to: MaybeNumber = None
    """Whom it would be to; None: somebody at home."""
    app_hash: MaybeText = None
    """The registered Android app that fills the code in. With it, or with ``origin``, the text is
    that of a code: its placeholders are filled, and the line is counted."""
    origin: MaybeText = None
    """The registered host that the code is bound to."""
    message_class: Annotated[
        int | None, PlainValidator(maybe(_message_class)), ArgumentKind("0")
    ] = None
    """0: the text would be a flash message."""


class OfMessage(Arguments):
    """Names one message."""

    message_id: Text


class EraseMessage(OfMessage):
    """Delete a message's text, and without ``text_only`` also its number and metadata."""

    text_only: MaybeFlag = None


def _accepted_wire(accepted: AcceptedMessage) -> Json:
    return {**accepted.response, **warning_wire(accepted.warning)}


def warning_wire(warning: str | None) -> Json:
    """The member ``warning`` of a result; empty without a warning."""
    return {} if warning is None else {"warning": warning}


def _message_wire(shown: ShownMessage | MessageStory) -> Json:
    view = shown.message
    more = {"organizationId": view.organization_id, "kind": view.kind, "mode": view.mode.value}
    return {"message": {**message_wire(view), **more, "keyId": view.api_key}}


def _story_wire(story: MessageStory) -> Json:
    return {
        **_message_wire(story),
        **({"bodyHidden": True} if story.body_hidden else {}),
        "timeline": [to_json(entry) for entry in story.timeline],
        "part": None if story.part is None else to_json(story.part),
    }


def _entry(entry: TimelineEntry) -> StoryEntry:
    line = entry.line
    return StoryEntry(
        entry.at,
        entry.status,
        sentence(entry),
        line.kind.name,
        line.cause,
        line.values or {},
        entry.carrier,
        entry.attempt,
        entry.segment,
        entry.raw,
    )


def _whole(message_id: str, cut: CutMessage, *, is_shown: bool) -> WholeMessage:
    """A part's place in the whole message, the whole text, and the ids of the other parts."""
    parts = tuple(OtherPart(number, each.id) for number, each in sorted(cut.parts.items()))
    number = next(each.number for each in parts if each.message_id == message_id)
    return WholeMessage(number, cut.total, cut.text if is_shown else None, parts)


def unserved_warning(services: Services, message_id: str) -> str | None:
    """A sentence if the message waits because no carrier serves its number; else None."""
    return UNSERVED if services.repositories.queue.is_unserved(message_id) else None


OPERATIONS: Final = Operations()
_LOOKS: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.of_message}
_CHANGES: Final[dict[str, Any]] = {"roles": DEVELOPERS, "changes": MessageView}
_OF_MESSAGE: Final[dict[str, Any]] = {**_CHANGES, "owner": owners.of_message}


@OPERATIONS(messages.SEND, wire=_accepted_wire, owner=owners.named, **_CHANGES)
async def _send(call: Call[Send]) -> AcceptedMessage:
    arguments, services = call.arguments, call.services
    if arguments.send_at is not None and arguments.send_at > call.now_ms + AHEAD_MAX_S * 1000:
        sentence = f"A message can be scheduled at most {AHEAD_MAX_S // 86_400} days ahead."
        raise Invalid("send_at", "too_late", sentence)
    organization = services.accounts.fresh_organization(arguments.organization_id)
    if organization.status != "active":
        raise Forbidden("The organization is not active.")
    command = SendMessage(
        to=arguments.to,
        body=arguments.body,
        sender=arguments.sender,
        idempotency_key=arguments.idempotency_key,
        priority=PRIORITY_CODE if arguments.urgent else PRIORITY_MESSAGE,
        send_at=arguments.send_at,
        validity_s=arguments.validity_s,
    )
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode(arguments.mode))
    by = call.audit(AuditImage.MESSAGE)
    response = json.loads(await services.intake.send(principal, command, by=by))
    accepted = from_json(AcceptedMessage, response)
    warning = unserved_warning(services, accepted.message_id)
    return replace(accepted, warning=warning, response=response)


@OPERATIONS(messages.SHOW, operators=SUPPORT, wire=_story_wire, shows_texts=True, **_LOOKS)
async def _message_show(call: Call[OfMessage]) -> MessageStory:
    message_id = call.arguments.message_id
    view, entries = overview.message(call.services, message_id)
    has_text, hides = view.body is not None, call.hides_texts
    cut = call.services.repositories.message_lists.cut_message(message_id)
    part = None if cut is None else _whole(message_id, cut, is_shown=has_text and not hides)
    if hides:
        view = replace(view, body=None, metadata={})
    elif has_text:
        by = call.audit(subject=message_id, organization_id=view.organization_id, always=True)
        await call.note_look(by)
    return MessageStory(view, tuple(map(_entry, entries)), part, has_text and hides)


@OPERATIONS(messages.ESTIMATE, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _message_estimate(call: Call[EstimateMessage]) -> Estimate:
    arguments, services = call.arguments, call.services
    organization = services.accounts.organization(arguments.organization_id)
    if arguments.app_hash is None and arguments.origin is None:
        text = as_sent(arguments.body, smart=organization.smart_encoding)
    else:
        if arguments.message_class is not None:
            raise Invalid("message_class", "invalid", "A code is never a flash message.")
        text = _code_text(services.code_settings(organization.id), arguments)
    if arguments.message_class is not None:
        drafts, home = services.intake.drafts, services.settings.plan.example
        drafts.router.flash_route(drafts.route_of(organization.id, arguments.to or home))
    size = count(text)
    odd = tuple(
        PlacedCharacter(each, place, plainer(each), name_of(each))
        for place, each in enumerate(text)
        if not fits_gsm7(each)
    )
    price = services.intake.prices.of(organization, arguments.to, size.segments)
    if price is None:
        country = services.settings.plan.country_of(arguments.to or "")
        raise CountryNotOpen(country.name if country is not None else arguments.to or "")
    alphabet = size.alphabet.value
    return Estimate(alphabet, size.segments, size.units, price, organization.currency, odd)


def _code_text(settings: VerifySettings, arguments: EstimateMessage) -> str:
    """The text of a code as it would be sent, with the lines for autofill.

    Raises:
        Invalid: the app hash or the origin is not registered.
    """
    if faults := settings.faults_of(None, arguments.app_hash, arguments.origin):
        raise Invalid.of(faults)
    frozen = freeze(arguments.body, settings.expiry_minutes, arguments.app_hash, arguments.origin)
    return settings.filled(frozen)


@OPERATIONS(messages.EVENTS, operators=SUPPORT, **_LOOKS)
async def _message_events(call: Call[OfMessage]) -> EventsAbout:
    view, _ = overview.message(call.services, call.arguments.message_id)
    return EventsAbout(call.services.repositories.events.about(view))


@OPERATIONS(messages.CANCEL, operators=SUPPORT, wire=_message_wire, **_OF_MESSAGE)
async def _message_cancel(call: Call[OfMessage]) -> ShownMessage:
    message_id = call.arguments.message_id
    await call.services.recorder.cancel(message_id, by=call.audit(AuditImage.MESSAGE, message_id))
    view, _ = overview.message(call.services, message_id)
    return ShownMessage(view)


@OPERATIONS(messages.ERASE, **_OF_MESSAGE)
async def _message_erase(call: Call[EraseMessage]) -> ErasedMessage:
    message_id, text_only = call.arguments.message_id, bool(call.arguments.text_only)
    by = call.audit(AuditImage.MESSAGE, message_id, details={"textOnly": text_only}, always=True)
    await call.services.repositories.messages.erase(by, message_id, text_only=text_only)
    return ErasedMessage(message_id)


REASON_MAX: Final = 200


class ReadBody(OfMessage):
    """Read the text of one message, which is otherwise hidden from operators."""

    reason: Annotated[str, PlainValidator(words(REASON_MAX)), ArgumentKind("text on one line")]
    """Why: it is in the audit trail before the text is shown."""


@OPERATIONS(
    messages.BODY, roles=OPERATORS, operators=SUPPORT, owner=owners.of_message, shows_texts=True
)
async def _message_body(call: Call[ReadBody]) -> MessageBody:
    arguments = call.arguments
    message = call.services.repositories.messages.find(arguments.message_id)
    if message is None:
        raise NotFound(f"There is no message {arguments.message_id}.")
    by = call.audit(
        subject=arguments.message_id,
        organization_id=message.organization_id,
        details={"reason": arguments.reason},
        always=True,
    )
    await call.note(by)
    return MessageBody(message.id, message.organization_id, message.kind, message.body)
