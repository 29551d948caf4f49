"""The guard against pumped codes: the answers of its operation, and the ask for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment
from risala.engine.model.records.keys import KeyType

NAME: Final = "pumping"
"""The feature's name."""
SHARE_MAX: Final = 90
"""Per cent of an organization's codes that may be reserved: a page needs some."""
PASS_DAYS: Final = 7
"""For so long a group passes once somebody let it: as long as its record needs to fade by half."""
AT_ONCE: Final = 500
"""Rows that one unit writes or deletes: some milliseconds of the writer."""
HELD_MAX: Final = 200
"""Cells of an organization of which it is known that their codes were suspicious; the one that was
not for longest is forgotten."""
KEPT_MS: Final = 30 * 86_400_000
"""For so long there are counts, and what was suspicious (contract §16)."""


FACES: Final = "faces"
"""In place of a key's id: all credentials of other software, such as Twilio's clients."""


class GuardReaction(StrEnum):
    """What becomes of a suspicious code."""

    WATCH = "watch"
    """The code is sent, and counted here."""
    CHALLENGE = "challenge"
    """The visitor's browser proves that it works for it."""
    REFUSE = "refuse"
    """The code is refused: 429, ``data.limit`` is ``pumping``."""


@dataclass(frozen=True, slots=True)
class GuardedKey:
    """A live key, and what becomes of its suspicious codes."""

    id: str
    """The key's id; of all credentials of other software together :data:`FACES`."""
    name: str | None
    type: KeyType
    last4: str
    reaction: GuardReaction


@dataclass(frozen=True, slots=True)
class SuspiciousCodes:
    """Codes of one group that were suspicious, with the figures of the last one."""

    kind: str
    """What they have in common: ``block``, ``address``, ``tag``, ``key``, ``network`` or
    ``organization``."""
    name: str
    first_at: Moment
    last_at: Moment
    missed: float
    """Codes before it that were not entered, as they count."""
    entered: float
    half_life_s: int
    """After so long a code counts half."""
    usual_missed: float
    """The share that is usual in the organization, as the test expects it."""
    usual_entered: float
    factor: float
    """How many times more likely it is that they are pumped."""
    watched: int
    """Codes that were sent though they were suspicious."""
    challenged: int
    refused: int
    cost: int
    """What all of these cost, or would have cost, in minor units, at the price of one SMS today."""
    is_held: bool
    """Whether the group is suspicious now."""
    passes_until: Moment | None
    """Until when its codes pass, because somebody let them; None: nobody did."""


@dataclass(frozen=True, slots=True)
class ShownGuard:
    """The guard of an organization."""

    organization_id: Annotated[str, UNAUDITED]
    secret_share: Annotated[int, AUDITED]
    """Per cent of the codes an hour that only secret keys may use."""
    reserved: Annotated[int, UNAUDITED]
    """How many codes an hour these are."""
    keys: Annotated[tuple[GuardedKey, ...], UNAUDITED]
    suspicious: Annotated[tuple[SuspiciousCodes, ...], UNAUDITED]
    """The last one first."""


GUARD: Final = Ask("verify.guard", ShownGuard)
