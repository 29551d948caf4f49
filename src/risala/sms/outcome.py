"""What a submit came to.

::

    Outcome
    ├── Accepted    the carrier has it, and gave its id
    ├── Throttled   "slow down": the lane slows, the message keeps its place
    ├── Refused     the carrier said no; ``scope`` tells for whom and for how long
    ├── Uncertain   the bytes left and no answer came: it may or may not have been taken
    └── Unsent      nothing left this machine (no link): the message keeps its place

``raw`` is always the carrier's own word (``ESME_RTHROTTLED``, ``+CMS ERROR: 38``), ``text`` a
plain sentence for people. Neither ever carries message text or credentials.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """How far a refusal reaches."""

    FINAL = "final"
    """No carrier would take it (the address is barred or wrong): the message has failed."""
    CARRIER = "carrier"
    """This carrier will not take it; another one may."""
    NOW = "now"
    """Not at this moment: try again later."""
    RECIPIENT = "recipient"
    """Not to this number at this moment: try again later. Says nothing against the carrier."""


@dataclass(frozen=True, slots=True)
class Accepted:
    carrier_id: str
    raw: str = "OK"


@dataclass(frozen=True, slots=True)
class Throttled:
    raw: str
    text: str = "The carrier asks us to slow down."
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    scope: Scope
    raw: str
    text: str


@dataclass(frozen=True, slots=True)
class Uncertain:
    raw: str
    text: str = "The message left, but no answer came back."
    carrier_id: str | None = None
    """Where the id is known all the same, because the driver chose it: the carrier can be asked."""


@dataclass(frozen=True, slots=True)
class Unsent:
    raw: str
    text: str = "The carrier's link is down; nothing was sent."


Outcome = Accepted | Throttled | Refused | Uncertain | Unsent
