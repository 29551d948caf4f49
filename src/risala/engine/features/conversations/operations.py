"""Conversations: looked at, answered, and marked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.conversations.rules import NO_CARRIER, NO_NUMBER
from risala.engine.features.conversations.stored.conversations import (
    ConversationFilter,
    ConversationRepository,
)
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeAnyText,
    MaybeContained,
    MaybeDigits,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.cursors import (
    MaybeCursor,
    MaybeIdPlace,
    few_numbers,
    limit_of,
    part_of,
    steps_of,
    written,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage, Values
from risala.engine.model.callers import CallerKind
from risala.engine.model.commands import AnswerWay, Principal, SendMessage
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.records.conversations import (
    GET,
    LIST,
    MARK,
    NOT_ANSWERABLE,
    REPLY,
    WAITING_MAX,
    Conversations,
    ConversationState,
    ConversationSummary,
    Known,
    StoredConversation,
    Thread,
    ThreadMessage,
)
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import AcceptedMessage, MessageView
from risala.engine.model.records.record import from_json
from risala.engine.model.records.search import Findable
from risala.engine.model.states import Mode
from risala.engine.operations.inbound import at_home
from risala.engine.operations.messages import Body, MaybeKey
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS
from risala.engine.services import Services

_STATES: Final = tuple(each.value for each in ConversationState)


def _state(value: object) -> str:
    word = text(value)
    if word not in _STATES:
        raise fault("unknown_word", f"`{{name}}` must be one of {', '.join(_STATES)}.")
    return word


MaybeState = Annotated[str | None, PlainValidator(maybe(_state)), ArgumentKind("`open` or `done`")]


class ListConversations(OfOrganization):
    """A page of an organization's conversations, those with the newest texts first."""

    state: MaybeState = None
    unread: MaybeFlag = None
    assigned_to: MaybeAnyText = None
    """A member's id; empty: nobody's."""
    number: MaybeText = None
    digits: MaybeDigits = None
    """Digits of the number."""
    contains: MaybeContained = None
    """Words of a text or of the person's name; for callers who see no texts only of the name."""
    opted_out: MaybeFlag = None
    """Whether the person wants no messages any more."""
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


class OfConversation(OfOrganization):
    """Names a conversation by its id, or by the number."""

    conversation_id: MaybeText = None
    number: MaybeText = None


class GetConversation(OfConversation):
    """A conversation with the newest of its messages, or with a page of others."""

    before: MaybeCursor = None
    after: MaybeCursor = None
    limit: MaybeWhole = None


class ReplyInConversation(OfConversation):
    """Answer in a conversation, by the carrier and from the number of the last text."""

    body: Body = Field(repr=False)
    idempotency_key: MaybeKey = None
    seen: MaybeCursor = None
    """The place of the newest message that was read: with it, an answer to a conversation that has
    gone on is refused."""


class MarkConversation(OfConversation):
    """Change what is stored of a conversation; what is not given stays."""

    state: MaybeState = None
    read: MaybeFlag = None
    assigned_to: MaybeAnyText = None
    """A member's id; empty: nobody in particular."""


FOUND: Final = (
    Findable(
        kind="conversation",
        table="conversations",
        title="number",
        number="number",
        prefix="cnv",
        at="coalesce((SELECT t.received_at FROM inbound t WHERE t.id = last_text), 0)",
        newest="last_text",
        state="state",
        page="conversations/{}",
        operators=SUPPORT,
    ),
    Findable(
        kind="inbound",
        table="inbound",
        title="sender",
        texts=("body",),
        prefix="mo",
        place="(SELECT c.id FROM conversations c WHERE c.organization_id = inbound.organization_id"
        " AND c.number = inbound.sender)",
        at="received_at",
        note="body",
        page="conversations/{}",
        operators=SUPPORT,
    ),
)
"""What a search finds of conversations, and of the texts in them."""
OPERATIONS: Final = Operations()
_LOOKS: Final[dict[str, Any]] = {
    "roles": VIEWERS,
    "operators": SUPPORT,
    "owner": owners.named,
    "shows_texts": True,
}
_WRITES: Final[dict[str, Any]] = {"roles": DEVELOPERS, "owner": owners.named}


@OPERATIONS(LIST, **_LOOKS)
async def _list(call: Call[ListConversations]) -> Conversations:
    arguments, services = call.arguments, call.services
    services.accounts.organization(arguments.organization_id)
    filters = ConversationFilter(
        *(arguments.organization_id, arguments.state, arguments.unread, arguments.assigned_to),
        number=_number_of(call),
        part=part_of(services.settings.plan, arguments.digits),
        contains=arguments.contains,
        opted_out=arguments.opted_out,
        searches_texts=not call.hides_texts,
    )
    steps = steps_of(arguments.limit, arguments.before, arguments.after)
    talks = call.stored(ConversationRepository)
    with few_numbers():
        page = await talks.page(filters, steps)
    if page.items:
        details = {"conversations": len(page.items)}
        await call.note_look(_audit_entry(call, arguments.organization_id, details))
    items = await talks.summaries(page.items)
    shown = tuple(_without_text(each) for each in items) if call.hides_texts else items
    reached = None if page.looked_to is None else page.looked_to.received_at
    waiting = talks.count_unread(arguments.organization_id, WAITING_MAX)
    return Conversations(shown, written(page.newer), written(page.older), reached, waiting)


@OPERATIONS(GET, **_LOOKS)
async def _get(call: Call[GetConversation]) -> Thread:
    arguments = call.arguments
    one, talks = _named(call), call.stored(ConversationRepository)
    limit = limit_of(arguments.limit)
    page = await talks.thread(one, limit, arguments.before, arguments.after)
    await call.note_look(_audit_entry(call, one.organization_id, {}, one.id))
    (shown,) = await talks.summaries([one])
    messages = page.messages
    if call.hides_texts:
        shown, messages = _without_text(shown), tuple(map(_blank, messages))
    way = _way(call.services, one, talks.last_way(one))
    thread = Thread(
        *(shown, messages, _text_of(page.newer), _text_of(page.older)),
        answerable=isinstance(way, AnswerWay),
        known=await _known(call, one, talks),
    )
    if not isinstance(way, AnswerWay):
        return replace(thread, why_not=way)
    sender = way.sender or call.services.settings.service.default_sender
    return replace(thread, answers_from=sender, answers_by=way.carrier)


async def _known(
    call: Call[GetConversation], one: StoredConversation, talks: ConversationRepository
) -> Known:
    opt_outs = call.services.intake.opt_outs
    opted_out = opt_outs.wants_none(one.organization_id, one.number)
    return replace(await talks.known(one), opted_out=opted_out)


def _response(accepted: AcceptedMessage) -> dict[str, Any]:
    return dict(accepted.response)


@OPERATIONS(REPLY, wire=_response, changes=MessageView, **_WRITES)
async def _reply(call: Call[ReplyInConversation]) -> AcceptedMessage:
    """Answer in a conversation. The answer of a known idempotency key comes before all else."""
    arguments, services = call.arguments, call.services
    organization = services.accounts.fresh_organization(arguments.organization_id)
    if organization.status != "active":
        raise Forbidden("The organization is not active.")
    one = _named(call)
    known = services.repositories.messages.known_answer(
        organization.id, Mode.LIVE, arguments.idempotency_key or ""
    )
    way = _way(services, one, call.stored(ConversationRepository).last_way(one))
    if known is None and not isinstance(way, AnswerWay):
        if way == NO_NUMBER:
            raise Conflict(NO_NUMBER, NOT_ANSWERABLE)
        raise Conflict(NO_CARRIER, NOT_ANSWERABLE)
    is_program = call.caller.face is CallerKind.API
    key_id = call.caller.who if is_program else "operator"
    command = SendMessage(
        to=one.number,
        body=arguments.body,
        idempotency_key=arguments.idempotency_key,
        way=way if isinstance(way, AnswerWay) else None,
    )
    response = json.loads(
        await services.intake.send(
            Principal(organization.id, key_id, KeyType.SECRET, Mode.LIVE),
            command,
            by=call.audit(AuditImage.MESSAGE, details={"conversation": one.id}),
            around=ConversationRepository.answering(one, arguments.seen),
        )
    )
    return replace(from_json(AcceptedMessage, response), response=response)


@OPERATIONS(MARK, changes=StoredConversation, **_WRITES)
async def _mark(call: Call[MarkConversation]) -> StoredConversation:
    arguments, one = call.arguments, _named(call)
    return await call.stored(ConversationRepository).mark(
        call.audit(AuditImage.CONVERSATION, one.id),
        one.id,
        call.now_ms,
        state=arguments.state,
        is_read=arguments.read,
        assigned_to=arguments.assigned_to,
    )


def _named(call: Call[Any]) -> StoredConversation:
    """The conversation that the arguments name.

    Raises:
        Invalid: they name none, or two.
        NotFound: it is unknown, or another organization's.
    """
    arguments, talks = call.arguments, call.stored(ConversationRepository)
    if (arguments.conversation_id is None) is (arguments.number is None):
        sentence = "Give `conversation_id` or `number`, one of the two."
        raise Invalid("conversation_id", "one_of_two", sentence)
    if arguments.number is not None:
        number = _number_of(call) or ""
        return talks.with_number(arguments.organization_id, number)
    one = talks.find(arguments.conversation_id)
    if one.organization_id != arguments.organization_id:
        raise NotFound("There is no such conversation.")
    return one


def _number_of(call: Call[Any]) -> str | None:
    number = call.arguments.number
    return None if number is None else at_home(number, call.services.settings.plan)


def _way(services: Services, one: StoredConversation, way: AnswerWay | None) -> AnswerWay | str:
    """How an answer leaves; or a sentence that says why none can."""
    if not services.settings.plan.serves(one.number):
        return NO_NUMBER
    if way is None or not services.router.sends_by(way.carrier):
        return NO_CARRIER
    return way


def _audit_entry(
    call: Call[Any], organization_id: str, details: Values, subject: str | None = None
) -> AuditEntry:
    return call.audit(
        subject=subject, organization_id=organization_id, details=details, always=True
    )


def _blank(message: ThreadMessage) -> ThreadMessage:
    return replace(message, body=None)


def _without_text(one: ConversationSummary) -> ConversationSummary:
    return replace(one, last=None if one.last is None else _blank(one.last))


def _text_of(place: int | None) -> str | None:
    return None if place is None else str(place)
