"""Rules that answer texts: the answers of their operations, and the asks for them."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.people import Language
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.conversations import FORWARD_KINDS
from risala.engine.model.records.fields import (
    AUDITED,
    UNAUDITED,
    JsonName,
    Maximum,
    Moment,
    OneOf,
)
from risala.engine.model.records.webhooks import URL_MAX

RULES_MAX: Final = 50
"""Rules of an organization (contract §16): each text is held against all of them."""
KEYWORDS_MAX: Final = 10
KEYWORD_MAX: Final = 30
"""Characters of a keyword."""
RULE_NAME_MAX: Final = 40
"""Characters of a rule's name, which stands beside each of its answers."""
RULE_TEXT_MAX: Final = 1000
"""Characters of a rule's text. With its variables it stays below a message's most."""
EMAIL_MAX: Final = 254
"""Characters of a mail address (RFC 5321 §4.5.3.1)."""
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """Answers texts that come in. The first rule, by place, that a text meets answers it alone."""

    id: Annotated[str, UNAUDITED, JsonName("ruleId")]
    organization_id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED, Maximum(RULE_NAME_MAX)]
    place: Annotated[int, AUDITED]
    """From 1 on: the rules before it come first."""
    enabled: Annotated[bool, AUDITED]
    keywords: Annotated[tuple[str, ...], AUDITED]
    """Words of which the text has one; none: any text. Case, accents and signs do not matter."""
    anywhere: Annotated[bool, AUDITED]
    """Whether the word may stand anywhere; else it is the first."""
    first_contact: Annotated[bool, AUDITED]
    """Only the first text of a number."""
    days: Annotated[tuple[str, ...], AUDITED]
    """Days on which its hours begin, `mon` to `sun`; none: every day."""
    from_time: Annotated[str | None, AUDITED]
    """From this time of day on, such as `18:00`, in the organization's time zone; null: from
    midnight."""
    to_time: Annotated[str | None, AUDITED]
    """Until before this time of day, perhaps on the next day; null: until midnight."""
    language: Annotated[str, AUDITED, OneOf(Language)]
    """The language of the answer if there is none in that of the text."""
    text_fr: Annotated[str, UNAUDITED, Maximum(RULE_TEXT_MAX)]
    """The answer in French, with `{{number}}`, `{{name}}`, `{{keyword}}`, `{{date}}` or `{{time}}`;
    all three empty: nothing is answered."""
    text_ar: Annotated[str, UNAUDITED, Maximum(RULE_TEXT_MAX)]
    """The answer in Arabic."""
    text_en: Annotated[str, UNAUDITED, Maximum(RULE_TEXT_MAX)]
    """The answer in English."""
    created_at: Annotated[Moment, UNAUDITED]
    forward_number: Annotated[str, AUDITED] = ""
    """The number that gets the text as an SMS; empty: none, as of the next three."""
    forward_email: Annotated[str, AUDITED, Maximum(EMAIL_MAX)] = ""
    """The address of a member who gets the text as a mail."""
    forward_chat: Annotated[str, AUDITED] = ""
    """The Telegram chat that gets the text from your own bot: an id such as `-1001234567890`, or
    `@name`."""
    forward_url: Annotated[str, AUDITED, Maximum(URL_MAX)] = ""
    """The webhook that gets the text as JSON."""


@dataclass(frozen=True, slots=True)
class PausedNumber:
    """A number that gets no automatic answer for a day."""

    number: Annotated[str, UNAUDITED]
    until: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """The rules of an organization, in their order."""

    rules: tuple[AnswerRule, ...]
    paused: tuple[PausedNumber, ...] = ()
    """Numbers that got two automatic answers within an hour, and get no more for a day; at most
    50, those that wait longest first."""


PAUSED_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class TriedForward:
    """Where a text would be forwarded."""

    kind: Annotated[str, OneOf(FORWARD_KINDS)]
    target: Annotated[str, JsonName("to")]
    """The number, the address, the chat, or the webhook's host."""
    text: str | None
    """The message by SMS; null of the other ways."""
    segments: int | None
    """The message's parts."""
    reason: str | None
    """Why it would not be forwarded, as a sentence."""


@dataclass(frozen=True, slots=True)
class TriedText:
    """What a text would be answered, and where it would be forwarded."""

    rule: AnswerRule | None
    """The rule that it meets; null: none."""
    answer: str | None
    """Null: nothing is answered."""
    forwards: tuple[TriedForward, ...] = ()


@dataclass(frozen=True, slots=True)
class SentByRule:
    """The rule by which a message was sent."""

    message_id: str
    forwards: bool = False
    """Whether the message forwards a text, and does not answer one."""
    rule_id: str | None = None
    """Null: the rule is deleted, or has another name now."""
    rule_name: str | None = None
    """The rule's name of then. Null: no rule sent the message."""


CREATE: Final = Ask("answer.create", AnswerRule)
LIST: Final = Ask("answer.list", AnswerRules)
SHOW: Final = Ask("answer.show", AnswerRule)
SET: Final = Ask("answer.set", AnswerRule)
DELETE: Final = Ask("answer.delete", AnswerRule)
TRY: Final = Ask("answer.try", TriedText)
SENT: Final = Ask("answer.sent", SentByRule)
RESUME: Final = Ask("answer.resume", PausedNumber)
