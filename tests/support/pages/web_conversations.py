"""What a gateway tells of conversations, for pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from risala.engine.model.errors import NotFound
from risala.engine.model.records.conversations import Conversations, Known, OnList, Thread
from risala.engine.model.times import iso

AT_MS: Final = 1_795_250_476_123
HOUR_MS: Final = 3_600_000
ASKED: Final = "السلام عليكم، هل وصلت الطلبية رقم 1204؟"
NO_PHONE: Final = (
    "The sender is a name or a short number, and no phone: nobody gets an answer. Write to the"
    " person's own number."
)


def message(number: int, by: str, body: str | None, hours: int, **changes: Any) -> dict[str, Any]:
    is_in = by == "number"
    phone, ours = "+22226554433", "+22226000000"
    return {
        "messageId": f"{'mo' if is_in else 'sms'}_{number}",
        "by": by,
        "at": iso(AT_MS - hours * HOUR_MS),
        "body": body,
        "status": "received" if is_in else "delivered",
        "from": phone if is_in else ours,
        "to": ours if is_in else phone,
        "carrier": "mattel",
        "segments": None if is_in else 1,
        "price": None if is_in else "0.50",
        "errorCode": None,
        "keyId": "key_1" if by == "program" else None,
        "mailingId": "mlg_1" if by == "mailing" else None,
        **changes,
    }


def forwarded(kind: str, to: str, status: str, reason: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "to": to, "rule": "Duty", "status": status, "reason": reason}


FORWARDS: Final = (
    forwarded("sms", "+22236120009", "forwarded"),
    forwarded("webhook", "duty.example.com", "waiting"),
    forwarded(
        "telegram",
        "@duty_room",
        "refused",
        "It was not forwarded: Telegram does not know the token of the bot.",
    ),
)
MESSAGES: Final = (
    message(1, "mailing", "Soldes jusqu'à vendredi <3", 60),
    message(2, "program", "متجر البركة: طلبك رقم 1204 جاهز للاستلام، مرحبا بك.", 26),
    message(3, "code", None, 25),
    message(4, "person", None, 25, status="failed", errorCode="expired"),
    message(5, "number", ASKED, 1, forwards=[*FORWARDS]),
)


def summary(which: str, **changes: Any) -> dict[str, Any]:
    return {
        "conversationId": which,
        "organizationId": "org_1",
        "number": "+22226554433",
        "state": "open",
        "unread": False,
        "assignedTo": None,
        "receivedAt": iso(AT_MS - HOUR_MS),
        "name": None,
        "last": MESSAGES[-1],
        **changes,
    }


PEOPLE: Final = {
    "cnv_1": summary("cnv_1", name="آمنة بنت محمد", unread=True),
    "cnv_2": summary(
        "cnv_2",
        name="Oumar <Ba>",
        number="+22236120002",
        assignedTo="usr_1",
        last=message(6, "person", "Oui, jusqu'à 19 h.", 2),
    ),
    "cnv_name": summary(
        "cnv_name", number="Mattel", last=message(7, "number", "Promo: 2 Go", 30), state="done"
    ),
    "cnv_stop": summary(
        "cnv_stop", number="+22236120001", state="done", last=message(8, "number", "STOP", 40)
    ),
}


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on conversations; None for any other."""
    if name == "conversation.list":
        people = [*PEOPLE.values()]
        if arguments.get("contains") == "none":
            people = []
        return {"conversations": people, "newer": None, "older": None, "lookedTo": None}
    if not name.startswith("conversation."):
        return None
    one = PEOPLE.get(arguments["conversation_id"])
    if one is None:
        raise NotFound("There is no such conversation.")
    if name == "conversation.get":
        is_phone = one["number"].startswith("+")
        return {
            "conversation": one,
            "messages": [*MESSAGES] if one["name"] else [one["last"]],
            "newer": None,
            "older": None if arguments.get("before") else "77",
            "answerable": is_phone,
            "whyNot": None if is_phone else NO_PHONE,
            "answersFrom": "+22226000000" if is_phone else None,
            "answersBy": "mattel" if is_phone else None,
        }
    if name == "conversation.mark":
        return one
    return {"messageId": "sms_9", "from": "+22226000000", "notice": None, "warning": None}


def with_untold(told: object) -> object:
    """An answer with what pages see and programs do not."""
    if isinstance(told, Conversations):
        return replace(told, waiting=3)
    if isinstance(told, Thread):
        lists = (OnList("lst_1", "Parents <6e>"), OnList("lst_2", "زبائن"))
        stopped = told.conversation.id == "cnv_stop"
        return replace(told, known=Known(lists, 650, stopped))
    return told
