"""Automatic answers to texts: their kinds, and why one does not leave."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.conversations import ANSWER_KEY

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
WAITING_MAX: Final = 1000
"""Answers of an organization that wait to leave: more come to be refused within the hour anyway."""
LATE_MS: Final = HOUR_MS
"""An answer that could not leave for so long is of no use."""
CODE_MS: Final = HOUR_MS
"""A text that comes within this time after a code answers the code: no session is longer."""
IN_A_ROW: Final = 2
"""Automatic answers to a number within an hour after which no more leave for a day: the number may
be a machine that answers too."""


class AnswerKind(StrEnum):
    """What answers a text by itself."""

    OPT_OUT = "opt_out"
    """The confirmation that somebody wants no messages any more, or wants them again."""
    HELP = "help"
    RULE = "rule"
    WEBHOOK = "webhook"
    """A program, in what it answers to an event."""


class AnswerFault(StrEnum):
    """Why an automatic answer does not leave."""

    NO_PHONE = "no_phone"
    """The sender is a name or a short number."""
    CODE = "code"
    """The text answers the message with a code."""
    PAUSED = "paused"
    """Two automatic answers to the number left within an hour."""
    PER_DAY = "per_day"
    """The number got as many automatic answers within a day as there may be."""
    PER_HOUR = "per_hour"
    """The organization sent as many automatic answers within an hour as it may."""
    FULL = "full"
    """Too many answers of the organization wait."""
    LATE = "late"
    """The answer could not leave for an hour."""
    NO_CARRIER = "no_carrier"
    """The carrier that brought the text sends nothing now."""
    REFUSED = "refused"
    """The answer was refused as any message may be: by balance, country, opt-out, policy."""


@dataclass(frozen=True, slots=True)
class WaitingAnswer:
    """An answer whose turn comes."""

    text_id: str
    organization_id: str
    number: str
    kind: AnswerKind
    body: str
    at: int
    """When the text came."""
    due_at: int


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How many automatic answers may leave, of all kinds together."""

    per_number_and_day: int
    per_organization_and_hour: int


def key_of_answer(text_id: str) -> str:
    """The idempotency key of the answer to a text."""
    return ANSWER_KEY + text_id


FAULT_SENTENCES: Final = {
    AnswerFault.NO_PHONE: "It was not answered by itself: the sender is a name or a short number.",
    AnswerFault.CODE: "It was not answered by itself: it answers a one-time code.",
    AnswerFault.PAUSED: "It was not answered by itself: two automatic answers to this number left"
    " within an hour, and it may be a machine. No more leave for a day.",
    AnswerFault.PER_DAY: "It was not answered by itself: this number has got all automatic answers"
    " that it may get within a day.",
    AnswerFault.PER_HOUR: "It was not answered by itself: the organization has sent all automatic"
    " answers that it may send within an hour.",
    AnswerFault.FULL: "It was not answered by itself: too many automatic answers waited.",
    AnswerFault.LATE: "It was not answered by itself: the answer could not leave for an hour.",
    AnswerFault.NO_CARRIER: "It was not answered by itself: the carrier that brought it sends"
    " nothing now.",
}
