"""Texts that rules forward: where to, in which words, and why one is not forwarded. Pure."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from risala.dataclass import dataclass
from risala.engine.features.answers.records import DAY_MS
from risala.engine.features.answers.rule_records import AnswerRule
from risala.engine.model.people import Language
from risala.engine.model.records.conversations import FORWARD_KEY
from risala.engine.model.times import iso
from risala.sms.limits import TEXT_CHARACTERS_MAX

GIVEN_UP_MS: Final = DAY_MS
"""A text that no receiver took for so long is not forwarded any more."""
FORWARDS_MAX: Final = 1000
"""Forwards of an organization that wait: more come while a receiver is down for long."""
CALLS_PER_HOUR: Final = 600
"""Calls of an organization's chats and webhooks within an hour."""
MAILS_PER_HOUR: Final = 60
"""Mails of an organization within an hour: a person reads them, and all share the mail server."""
WAIT_FIRST_MS: Final = 15_000
WAIT_MAX_MS: Final = 3_600_000
"""Each wait for another try is twice the one before."""
TELEGRAM: Final = "https://api.telegram.org"


class ForwardKind(StrEnum):
    """How a text goes on."""

    SMS = "sms"
    MAIL = "mail"
    TELEGRAM = "telegram"
    """By the organization's own bot, into a chat."""
    WEBHOOK = "webhook"


class ForwardFault(StrEnum):
    """Why a text is not forwarded."""

    CODE = "code"
    LOOP = "loop"
    """By SMS: the number wrote itself, or texts are forwarded to it."""
    PER_DAY = "per_day"
    PER_HOUR = "per_hour"
    FULL = "full"
    LATE = "late"
    CHANGED = "changed"
    """The rule forwards no longer there, or is deleted."""
    GONE = "gone"
    """The text is no longer kept."""
    NO_MEMBER = "no_member"
    NO_MAILER = "no_mailer"
    NO_CALLS = "no_calls"
    NO_SECRET = "no_secret"  # noqa: S105 -- the word of a fault
    """The token or secret cannot be opened: its key is lost."""
    BAD_TOKEN = "bad_token"  # noqa: S105 -- as above
    BAD_CHAT = "bad_chat"
    ENDED = "ended"
    """The webhook's receiver answered 410."""
    REFUSED = "refused"
    """Refused as any message may be."""


FORWARD_SENTENCES: Final = {
    ForwardFault.CODE: "It was not forwarded: it answers a one-time code.",
    ForwardFault.LOOP: "It was not forwarded: texts of this number are forwarded to it, or come"
    " back from it.",
    ForwardFault.PER_DAY: "It was not forwarded: as many texts of this number were forwarded by"
    " SMS within a day as may be.",
    ForwardFault.PER_HOUR: "It was not forwarded: the organization has forwarded as many texts as"
    " it may within an hour.",
    ForwardFault.FULL: "It was not forwarded: too many texts waited to be forwarded.",
    ForwardFault.LATE: "It was not forwarded: its receiver did not take it for a day.",
    ForwardFault.CHANGED: "It was not forwarded: the rule was changed or deleted meanwhile.",
    ForwardFault.GONE: "It was not forwarded: the text is no longer kept.",
    ForwardFault.NO_MEMBER: "It was not forwarded: the address is no member’s any more.",
    ForwardFault.NO_MAILER: "It was not forwarded: this service sends no mails.",
    ForwardFault.NO_CALLS: "It was not forwarded: this service makes no calls.",
    ForwardFault.NO_SECRET: "It was not forwarded: the token or the secret of the rule is lost."
    " Enter it again.",
    ForwardFault.BAD_TOKEN: "It was not forwarded: Telegram does not know the token of the bot.",
    ForwardFault.BAD_CHAT: "It was not forwarded: Telegram refuses the chat. Its id is wrong, or"
    " the bot is not in it.",
    ForwardFault.ENDED: "It was not forwarded: the receiver says that its address has ended (410).",
}


@dataclass(frozen=True, slots=True)
class WaitingForward:
    """A text that is to be forwarded, whose turn comes."""

    text_id: str
    kind: ForwardKind
    organization_id: str
    rule_id: str
    name: str
    """The rule's."""
    number: str
    """The number that wrote."""
    target: str
    at: int
    """When the text came."""
    tries: int

    @property
    def id(self) -> str:
        """Names the forward: each try has it, so that a repeat can be told."""
        return f"forward_{self.text_id}_{self.kind.value}"


@dataclass(frozen=True, slots=True)
class CameIn:
    """A text that is forwarded."""

    sender: str
    recipient: str | None
    body: str
    received_at: int


def targets_of(rule: AnswerRule) -> list[tuple[ForwardKind, str]]:
    """Where a rule forwards to."""
    every = (
        (ForwardKind.SMS, rule.forward_number),
        (ForwardKind.MAIL, rule.forward_email),
        (ForwardKind.TELEGRAM, rule.forward_chat),
        (ForwardKind.WEBHOOK, rule.forward_url),
    )
    return [(kind, target) for kind, target in every if target]


def shown_target(kind: str, target: str) -> str:
    """A target for people: of a URL its host alone, because the rest may be a secret."""
    return urlsplit(target).hostname or "" if kind == ForwardKind.WEBHOOK else target


def key_of_forward(text_id: str) -> str:
    """The idempotency key of the message that forwards a text."""
    return FORWARD_KEY + text_id


_FROM: Final = {
    Language.FRENCH: "De {number} : ",
    Language.ARABIC: "من {number}: ",
    Language.ENGLISH: "From {number}: ",
}


def sms_of(language: str, number: str, body: str) -> str:
    """The message that forwards a text: who wrote, and the text, cut where it is too long."""
    written = _FROM[Language(language)].format(number=number) + body
    if len(written) <= TEXT_CHARACTERS_MAX:
        return written
    return written[: TEXT_CHARACTERS_MAX - 3] + "..."


def telegram_body(forward: WaitingForward, came: CameIn) -> str:
    """The body of a call of ``sendMessage``; its last line tells repeats."""
    to = f" → {came.recipient}" if came.recipient else ""
    text = f"{came.sender}{to}\n{came.body}\n\n{forward.name} · {forward.text_id}"
    body = {"chat_id": forward.target, "text": text, "link_preview_options": {"is_disabled": True}}
    return json.dumps(body, ensure_ascii=False)


def webhook_body(forward: WaitingForward, came: CameIn) -> str:
    """The body of a webhook's call."""
    body = {
        "id": forward.text_id,
        "from": came.sender,
        "to": came.recipient,
        "text": came.body,
        "at": iso(came.received_at),
        "rule": forward.name,
    }
    return json.dumps(body, ensure_ascii=False)


def wait_ms(tries: int) -> int:
    """Milliseconds until another try, after so many."""
    return min(WAIT_FIRST_MS << min(tries, 16), WAIT_MAX_MS)


def fault_of(kind: ForwardKind, status: int) -> ForwardFault | None:
    """What an answer's status says for good; None: it is taken, or tried again."""
    if kind is ForwardKind.WEBHOOK:
        return ForwardFault.ENDED if status == 410 else None
    if status in (401, 404):
        return ForwardFault.BAD_TOKEN
    return ForwardFault.BAD_CHAT if status in (400, 403) else None
