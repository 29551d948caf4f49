"""Attempts to come in: failed sign-ins, keys' places, missing factors, the console's lock."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment


@dataclass(frozen=True, slots=True)
class FailedDay:
    """The failed sign-ins of a day (UTC)."""

    day: Moment
    dashboard: int
    console: int


@dataclass(frozen=True, slots=True)
class TryingAddress:
    """A client's address from which sign-ins failed in the last week."""

    address: str
    failed: int
    accounts: int
    """The number of e-mail addresses that were tried: many of them is spraying."""
    last_at: Moment


@dataclass(frozen=True, slots=True)
class UsedKey:
    """A key, and where it was used last."""

    id: str
    organization_id: str
    organization_name: str
    name: str | None
    last4: str
    last_used_at: Moment
    last_used_address: str


@dataclass(frozen=True, slots=True)
class NewPlace:
    """A network that a key was used from, after a day or longer in use elsewhere."""

    key_id: str
    organization_id: str
    organization_name: str
    name: str | None
    last4: str
    network: str
    first_at: Moment
    last_at: Moment


@dataclass(frozen=True, slots=True)
class ConsoleLock:
    """The one address, or network, that the console answers."""

    address: Annotated[str | None, AUDITED]
    """Null: the console is not locked."""
    by: Annotated[str | None, AUDITED]
    at: Annotated[Moment | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Security:
    """What an administrator looks at when somebody seems to try."""

    days: tuple[FailedDay, ...]
    """Failed sign-ins of the last 30 days, the oldest first."""
    addresses: tuple[TryingAddress, ...]
    """The most failures first."""
    keys: tuple[UsedKey, ...]
    """The last used ones whose address is known."""
    new_places: tuple[NewPlace, ...]
    """New places of keys in the last 30 days, the newest first."""
    without_factor: tuple[str, ...]
    """Operators without a second factor."""
    lock: ConsoleLock


@dataclass(frozen=True, slots=True)
class RotatedServerKey:
    since: Annotated[Moment, UNAUDITED]
    """From when on things are made by it."""
    old_until: Annotated[Moment | None, UNAUDITED]
    """Until when the one before is valid; None: no longer."""


UNLOCKED: Final = ConsoleLock(None, None, None)
SHOW: Final = Ask("security.show", Security)
LOCK: Final = Ask("console.lock", ConsoleLock)
UNLOCK: Final = Ask("console.unlock", ConsoleLock)
ROTATE_SERVER_KEY: Final = Ask("server_key.rotate", RotatedServerKey)
