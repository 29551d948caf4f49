"""The reference of conversations, for secret keys."""

from __future__ import annotations

from typing import Any, Final

from risala.http.api import answers
from risala.http.api.management import conversations as bodies
from risala.http.api.management.cursors import ListName, written
from risala.http.api.openapi.answers import SendAnswer
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation
from risala.sms.numbering.plan import EXAMPLE

ID: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_OWN: Final = " Needs a secret live key: texts come from carriers, so test keys have none."
_AT: Final = "2026-11-21T08:30:00.123Z"
_TEXT: Final[dict[str, Any]] = {
    "messageId": f"mo_{ID}",
    "by": "number",
    "at": _AT,
    "body": "Are you open today?",
    "status": "received",
    "from": EXAMPLE,
    "to": "1234",
    "carrier": "mattel",
    "segments": None,
    "price": None,
    "errorCode": None,
    "keyId": None,
    "mailingId": None,
    "answerKind": None,
    "answerName": None,
    "answerRefused": None,
    "forwards": [],
}
_STORED: Final[dict[str, Any]] = {
    "conversationId": f"cnv_{ID}",
    "number": EXAMPLE,
    "state": "open",
    "unread": True,
    "assignedTo": None,
    "receivedAt": _AT,
}
_LISTED: Final[dict[str, Any]] = {**_STORED, "name": "Aïcha", "lastMessage": _TEXT}
_THREAD: Final[dict[str, Any]] = {
    "conversation": _LISTED,
    "items": [_TEXT],
    "next": None,
    "previous": None,
    "answerable": True,
    "whyNot": None,
    "answersFrom": "1234",
    "answersBy": "mattel",
}
_ACCEPTED: Final[dict[str, Any]] = {
    "accepted": True,
    "messageId": f"sms_{ID}",
    "idempotencyKey": "answer-7",
    "organizationId": f"org_{ID}",
    "from": "1234",
}
_ONE: Final = {"conversationId": f"cnv_{ID}"}


def _examples(summary: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"one": {"summary": summary, "value": value}}


OPERATIONS: Final = (
    ApiOperation(
        path="/api/conversations/list",
        name="listConversations",
        tag="Conversations",
        summary="Conversations",
        description="The numbers that wrote to the organization, those with the newest texts"
        " first, in pages as of every list. A conversation that gets a text moves to the front."
        + _OWN,
        body=bodies.ListConversationsBody,
        answer=answers.CONVERSATIONS,
        errors=WITH_BODY,
        body_examples={
            "all": {"summary": "All", "value": {}},
            "unread": {"summary": "Who waits", "value": {"state": "open", "unread": True}},
        },
        answer_examples=_examples(
            "The first page",
            {
                "items": [_LISTED],
                "next": written(ListName.CONVERSATIONS, f"mo_{ID}"),
                "previous": None,
            },
        ),
    ),
    ApiOperation(
        path="/api/conversations/get",
        name="getConversation",
        tag="Conversations",
        summary="Messages of both ways",
        description="A conversation with the newest of its messages, the oldest of them first;"
        " `before` and `after` lead to the others. Codes have no text. `answerable` says whether"
        f" `reply` can send something, and `whyNot` why not.{_OWN}",
        body=bodies.GetConversationBody,
        answer=answers.THREAD,
        errors=(*WITH_BODY, 404),
        body_examples=_examples("By its id", _ONE),
        answer_examples=_examples("The newest messages", _THREAD),
    ),
    ApiOperation(
        path="/api/conversations/reply",
        name="replyInConversation",
        tag="Conversations",
        summary="Answer",
        description="Sends a message to the number: by the carrier that brought the last text, from"
        " the number of yours that it came to. It is charged, limited and answered as"
        " `POST /api/sms`; opt-outs and countries are respected. 400 with `data.code`"
        f" `NOT_ANSWERABLE`: nothing can be sent there.{_OWN}",
        body=bodies.ReplyBody,
        answer=SendAnswer,
        errors=(*WITH_BODY, 402, 404, 429),
        body_examples=_examples("An answer", {**_ONE, "body": "Until 19 h."}),
        answer_examples=_examples("Accepted", _ACCEPTED),
    ),
    ApiOperation(
        path="/api/conversations/mark",
        name="markConversation",
        tag="Conversations",
        summary="Done, read, or somebody's",
        description="Changes what is stored of a conversation. A text that comes in opens it"
        f" again, and is unread.{_OWN}",
        body=bodies.MarkBody,
        answer=answers.CONVERSATION,
        errors=(*WITH_BODY, 404),
        body_examples=_examples("Done", {**_ONE, "state": "done", "read": True}),
        answer_examples=_examples("As it is now", {**_STORED, "state": "done", "unread": False}),
    ),
)
