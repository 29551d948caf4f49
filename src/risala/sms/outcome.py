"""What a submit came to.

::

    Outcome
    ├── Accepted    the carrier has it, and gave its id
    ├── Throttled   "slow down": sending slows, the message keeps its place
    ├── Refused     the carrier said no; ``scope`` tells for whom and for how long
    ├── Uncertain   the bytes left and no answer came: it may or may not have been taken
    └── Unsent      nothing left this machine (no link): the message keeps its place

``cause`` is a word of the closed list of :class:`~risala.sms.cause.Cause`, with a sentence of its
own in every language. ``raw`` is the carrier's own word (``ESME_RTHROTTLED``, ``+CMS ERROR: 38``).
``text`` is left empty, or is a plain English sentence that says more than the cause's sentence and
is shown instead of it. Neither ``raw`` nor ``text`` ever carries message text or credentials.
"""

from __future__ import annotations

from enum import StrEnum

from risala.dataclass import dataclass
from risala.sms.cause import Cause


class Scope(StrEnum):
    """How far a refusal reaches."""

    FINAL = "final"
    """No carrier would take it (the address is barred or wrong): the message has failed."""
    CARRIER = "carrier"
    """The refusal holds for this carrier; another one may take the message."""
    NOW = "now"
    """Not at this moment: try again later."""
    RECIPIENT = "recipient"
    """Not to this number at this moment: try again later. Says nothing against the carrier."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The carrier has taken the segment, and gave its id for it."""

    carrier_id: str
    """Empty where the carrier gives none: receipts find it by recipient and reference alone."""
    raw: str = "OK"
    """The carrier's own word, for the timeline."""
    load_percent: int | None = None
    """How busy the carrier says it is, where it says so: from 90 on sending slows down, 80 to 89
    is its best (SMPP 5.0 §4.8.4.18)."""
    is_delivered: bool = False
    """True where the answer is the phone's own, so that no receipt follows: the segment is
    delivered."""


@dataclass(frozen=True, slots=True)
class Throttled:
    """The carrier asks to slow down; the message keeps its place."""

    raw: str
    """The carrier's own word, for the timeline."""
    text: str = ""
    """More than the cause's sentence says, for a reader; else empty."""
    retry_after_s: float | None = None
    """How long the carrier asks to be left alone; None: it does not say."""
    cause: Cause = Cause.THROTTLED
    """Why, as a word of the closed list."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The carrier refused the segment; ``scope`` says for whom and for how long."""

    scope: Scope
    """For whom, and for how long."""
    raw: str
    """The carrier's own word, for the timeline."""
    text: str = ""
    """More than the cause's sentence says, for a reader; else empty."""
    cause: Cause = Cause.REJECTED
    """Why, as a word of the closed list."""


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The segment left and no answer came: the carrier may or may not have it."""

    raw: str
    """The carrier's own word, for the timeline."""
    text: str = ""
    """More than the cause's sentence says, for a reader; else empty."""
    carrier_id: str | None = None
    """The message's id at the carrier, where it is known without an answer because the driver chose
    it: with this id the carrier can be asked what became of the message."""
    cause: Cause = Cause.NO_ANSWER
    """Why, as a word of the closed list."""
    is_final: bool = False
    """True where the carrier can never say, such as a phone that is no longer there: it is neither
    asked nor submitted again, and the message fails when the policy's wait is over."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """Nothing left this machine; the message keeps its place."""

    raw: str
    """The carrier's own word, for the timeline."""
    text: str = ""
    """More than the cause's sentence says, for a reader; else empty."""
    cause: Cause = Cause.LINK_DOWN
    """Why, as a word of the closed list."""


Outcome = Accepted | Throttled | Refused | Uncertain | Unsent
