"""API keys: the answers of their operations, and the asks for faces."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    NAME_MAX,
    UNAUDITED,
    Hint,
    Label,
    Maximum,
    Moment,
    Typed,
)
from risala.engine.model.states import Mode

CONTACT_MAX: Final = 80
"""Characters of a key's contact at most: a name with an address or a number."""


class KeyType(StrEnum):
    """The kinds of API keys: ``secret`` for servers, ``publishable`` for browsers and apps."""

    SECRET = "secret"  # noqa: S105 -- the word, not a secret
    PUBLISHABLE = "publishable"


class KeyChallenge(StrEnum):
    """When a code that a publishable key asks for wants work of the visitor's browser first."""

    NEVER = "never"
    WHEN_SUSPICIOUS = "when_suspicious"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed, without its value."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    type: Annotated[KeyType, AUDITED]
    mode: Annotated[Mode, AUDITED]
    name: Annotated[
        str | None,
        AUDITED,
        Label(N_("Name")),
        Hint(N_("Which program it is for: “Shop server”.")),
        Maximum(NAME_MAX),
    ]
    last4: Annotated[str, AUDITED]
    enabled: Annotated[bool, AUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    last_used_at: Annotated[Moment | None, UNAUDITED]
    allowed_origins: Annotated[
        tuple[str, ...] | None,
        AUDITED,
        Label(N_("Allowed origins")),
        Hint(N_("For a publishable key, one a line. Empty: from anywhere.")),
        Typed("https://shop.example", left_to_right=True),
    ] = None
    """Origins that a publishable key may be used from; None: any."""
    allowed_addresses: Annotated[
        tuple[str, ...] | None,
        AUDITED,
        Label(N_("Allowed addresses")),
        Hint(N_("Addresses and networks of your servers, one a line. Empty: from anywhere.")),
        Typed("203.0.113.7", left_to_right=True),
    ] = None
    """Addresses and networks that it may be used from; None: any."""
    old_last4: Annotated[str | None, UNAUDITED] = None
    """The end of its former value, which still works; None: no other value does."""
    old_until: Annotated[Moment | None, AUDITED] = None
    """Until when that value works."""
    without_id: Annotated[
        bool,
        AUDITED,
        Label(N_("Answer sends without messageId")),
        Hint(
            N_(
                "Only for a program that fails on an answer with this field, as some old Java"
                " clients do. The message is sent and charged the same."
            )
        ),
    ] = False
    """The answer of a send with it has no ``messageId``, for clients that refuse it."""
    contact: Annotated[
        str | None,
        AUDITED,
        Label(N_("Contact")),
        Hint(N_("Who to contact about this key: a name, an address, a number.")),
        Maximum(CONTACT_MAX),
    ] = None
    expires_at: Annotated[Moment | None, AUDITED] = None
    """From when on it is refused; None: never."""
    last_used_address: Annotated[str | None, UNAUDITED] = None
    """The address that it was last used from; None if that is unknown, and for publishable keys,
    which visitors use from their own."""
    value_at: Annotated[Moment | None, UNAUDITED] = None
    """When its present value was made; null: with the key."""
    challenge: Annotated[KeyChallenge, AUDITED] = KeyChallenge.NEVER
    """When a publishable key's codes want work of the browser first."""

    @property
    def made_at(self) -> int:
        """When its present value was made."""
        return self.created_at if self.value_at is None else self.value_at


DESCRIBED: Final = ("name", "contact", "without_id")
"""The fields of every new key, in the order of its form."""
SETTINGS: Final = ("contact", "allowed_addresses", "allowed_origins", "without_id")
"""The settings of a key, in the order of its form."""


@dataclass(frozen=True, slots=True)
class NewValue:
    """What is stored of a key's other value."""

    digest: bytes
    last4: str
    made_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key with its value, which is not stored: its owner sees it here and never again."""

    key: ApiKey
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of an organization, without their values."""

    keys: tuple[ApiKey, ...]
    age_days: int | None = None
    """The most days that a key works, by the rule of the organization or of the service."""


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """A network that a key was used from."""

    network: Annotated[str, UNAUDITED]
    first_at: Annotated[Moment, UNAUDITED]
    last_at: Annotated[Moment, UNAUDITED]
    is_new: Annotated[bool, UNAUDITED]
    """The key was in use elsewhere for a day or longer before."""


@dataclass(frozen=True, slots=True)
class KeyPlaces:
    """The networks where a key was used, the last one first: of a secret one, for ninety days."""

    places: tuple[KeyPlace, ...]


CREATE: Final = Ask("key.create", CreatedKey)
LIST: Final = Ask("key.list", Keys)
SHOW: Final = Ask("key.show", ApiKey)
PLACES: Final = Ask("key.places", KeyPlaces)
SET: Final = Ask("key.set", ApiKey)
ROTATE: Final = Ask("key.rotate", CreatedKey)
END_OLD: Final = Ask("key.end_old", ApiKey)
ENABLE: Final = Ask("key.enable", ApiKey)
DISABLE: Final = Ask("key.disable", ApiKey)
DELETE: Final = Ask("key.delete", ApiKey)
