"""Conversations, for programs with a secret key (contract §15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from risala.dataclass import dataclass
from risala.engine.model.commands import Principal
from risala.engine.model.errors import NotFound
from risala.engine.model.records import conversations as records
from risala.engine.model.records.conversations import ConversationSummary, Thread
from risala.engine.model.states import Mode
from risala.http.api import answers, fields
from risala.http.api.fields import Compared
from risala.http.api.management.cursors import ListName, page, written
from risala.http.api.management.list_bodies import (
    LIMIT_USUAL,
    Address,
    ConversationCursor,
    PageBody,
    PlacesBody,
    StateWord,
    ThreadCursor,
)
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

MISSING: Final = "No conversation has this id, or is with this number."
MEMBER_MAX: Final = 64
"""Characters of a member's id."""
Member = Annotated[
    str,
    Field(
        max_length=MEMBER_MAX,
        json_schema_extra={"pattern": fields.FIT_PATTERN},
        description="A member's id; empty: nobody in particular.",
    ),
]
ConversationId = Annotated[
    str, Field(min_length=1, json_schema_extra={"pattern": fields.FIT_PATTERN})
]
_NULL: Final[JsonDict] = {"type": "null"}
_TEXT: Final[JsonDict] = {"type": "string"}
_ONE_OF_TWO: Final[JsonDict] = {
    "oneOf": [
        {"required": ["conversationId"], "properties": {"conversationId": _TEXT, "number": _NULL}},
        {"required": ["number"], "properties": {"conversationId": _NULL, "number": _TEXT}},
    ]
}
WithNumber = Annotated[Address, Field(description="Who writes; or give `conversationId`.")]


class ListConversationsBody(PlacesBody[ConversationCursor], PageBody):
    """Which conversations, those with the newest texts first; without any member all."""

    state: StateWord | None = None
    unread: Annotated[
        bool | None,
        Field(strict=True, description="Whether a text came in that nobody has read."),
    ] = None
    assigned_to: Annotated[Member | None, Field(alias="assignedTo")] = None


class OfConversationBody(RequestBody):
    """Which conversation."""

    model_config = ConfigDict(json_schema_extra=_ONE_OF_TWO)

    conversation_id: Annotated[
        ConversationId | None,
        Field(
            alias="conversationId",
            description="Its id; or give `number`.",
            examples=["cnv_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"],
        ),
    ] = None
    number: WithNumber | None = None


class GetConversationBody(OfConversationBody, PageBody):
    """Which conversation, and which of its messages; without a cursor the newest."""

    before: ThreadCursor | None = None
    after: ThreadCursor | None = None


class ReplyBody(OfConversationBody):
    """An answer to the last text."""

    body: fields.MessageText
    idempotency_key: Annotated[
        fields.IdempotencyKey | None,
        Field(
            alias="idempotencyKey",
            description="As of `POST /api/sms`: the same key gives the same answer, and sends"
            " nothing more.",
        ),
    ] = None


class MarkBody(OfConversationBody):
    """What changes; what is left out stays."""

    state: StateWord | None = None
    read: Annotated[
        bool | None, Field(strict=True, description="False: nothing of it was read.")
    ] = None
    assigned_to: Annotated[Member | None, Field(alias="assignedTo")] = None


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``POST /api/conversations/list``, ``get``, ``reply`` and ``mark``."""
    talks = _Conversations(KeyPerformer(gateway, MISSING), context, auth)
    return {
        "/api/conversations/list": talks.list,
        "/api/conversations/get": talks.get,
        "/api/conversations/reply": talks.reply,
        "/api/conversations/mark": talks.mark,
    }


@dataclass(frozen=True, slots=True)
class _Conversations:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def _read(
        self, request: PlainRequest, model: type[RequestBody]
    ) -> tuple[Principal, dict[str, Any]]:
        """The key that asks, and the arguments of its body."""
        principal = self.auth.secret(request)
        members = parse_body(model, await read_body(request), self.context()).given()
        return principal, {"organization_id": principal.organization_id, **members}

    async def _read_one(
        self, request: PlainRequest, model: type[RequestBody]
    ) -> tuple[Principal, dict[str, Any]]:
        """:meth:`_read` about one conversation.

        Raises:
            NotFound: for a test key: no text comes in for it.
        """
        principal, arguments = await self._read(request, model)
        if principal.mode is Mode.TEST:
            raise NotFound(MISSING)
        return principal, arguments

    async def list(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ListConversationsBody)
        if principal.mode is Mode.TEST:  # what comes in comes from carriers
            return page(ListName.CONVERSATIONS)
        filters = {"limit": LIMIT_USUAL, **arguments}
        listed = await self.performer.ask(principal, records.LIST, **filters)
        places = listed.older, listed.newer
        return page(ListName.CONVERSATIONS, listed.conversations, conversation_answer, places)

    async def get(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read_one(request, GetConversationBody)
        filters = {"limit": LIMIT_USUAL, **arguments}
        return PlainAnswer(
            json_bytes(thread_answer(await self.performer.ask(principal, records.GET, **filters)))
        )

    async def reply(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read_one(request, ReplyBody)
        sent = await self.performer.ask(principal, records.REPLY, **arguments)
        answer = dict(sent.response)
        if principal.without_id:
            answer.pop("messageId", None)
        return PlainAnswer(json_bytes(answer))

    async def mark(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read_one(request, MarkBody)
        marked = await self.performer.ask(principal, records.MARK, **arguments)
        return PlainAnswer(json_bytes(answers.CONVERSATION.wire(marked)))


def conversation_answer(one: ConversationSummary) -> dict[str, Any]:
    """A conversation of a list."""
    last = None if one.last is None else answers.THREAD_MESSAGE.wire(one.last)
    return answers.LISTED_CONVERSATION.wire(one, lastMessage=last)


def thread_answer(thread: Thread) -> dict[str, Any]:
    """A conversation with a page of its messages."""
    return {
        "conversation": conversation_answer(thread.conversation),
        "items": [answers.THREAD_MESSAGE.wire(each) for each in thread.messages],
        "next": written(ListName.THREAD, thread.older),
        "previous": written(ListName.THREAD, thread.newer),
        "answerable": thread.answerable,
        "whyNot": thread.why_not,
        "answersFrom": thread.answers_from,
        "answersBy": thread.answers_by,
    }
