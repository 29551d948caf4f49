"""Sign-in codes and links, stored sessions, and failed sign-ins."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypedDict

from risala.dataclass import dataclass
from risala.engine.model.errors import Refusal
from risala.engine.model.people import Denied, Device, Language, SessionKind, User

SITES: Final = {SessionKind.CUSTOMER: "dashboard", SessionKind.OPERATOR: "console"}
"""Operators' names for the pages of each kind of session."""


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A browser that waits for a code; at most one for each browser."""

    id: str
    browser: bytes
    """The hash of its pre-session token."""
    kind: SessionKind
    email: str
    language: Language
    attempts: int
    mailed_at: int
    expires_at: int
    created_at: int
    user_id: str | None = None
    """The code was right, and this user's second factor is awaited; None: the code is."""


@dataclass(frozen=True, slots=True)
class SignInLink:
    """A link that signs a user in, once."""

    user_id: str
    kind: SessionKind
    expires_at: int


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A web session, found by a token."""

    device: Device
    stale: bool
    is_previous: bool
    """The session was found by the token from before its rotation."""


class FailureReason(StrEnum):
    WRONG_CODE = "wrong_code"
    WRONG_FACTOR = "wrong_factor"
    """The code by e-mail was right, or there was a session; the second factor was not."""
    NOT_ALLOWED = "not_allowed"
    """The code was right, but its owner may not sign in."""
    EXPIRED = "expired"
    """The code was too old."""
    HELD_UP = "held_up"
    """The code was not judged: strangers tried too many wrong ones at this operator's address."""
    IDENTITY = "identity"
    """An identity provider's answer was refused; without a valid state noted once a minute."""
    LINK = "link"
    """A link was already used, too old or never made; noted once a minute for each site."""
    LIMITED = "limited"
    """A limit that strangers share was reached; noted once a minute for each."""
    SLOWED = "slowed"
    """A limit of this client alone was reached; noted once a minute for each."""


@dataclass(frozen=True, slots=True)
class SignInFailure:
    at: int
    """UTC epoch milliseconds."""
    kind: SessionKind
    email: str
    """A user's address, else the hash of the typed one. Empty: not about one address."""
    address: str
    """The client's address."""
    reason: FailureReason
    known_browser: bool = False
    """The browser has an earlier sign-in with this address."""
    is_slow: bool = False
    """The failure counts in an operator's slow windows."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """What a right code or link gives, decided before the unit that writes it."""

    user: User
    """The new user, if no user has the address."""
    device: Device
    hashed: bytes
    """The hash of the session's token."""
    now_ms: int
    known_browser: bool = False
    browser: bytes = b""
    """The hash of the browser's pre-session token: it goes on with its second factor."""


@dataclass(frozen=True, slots=True)
class LetIn:
    """A person is signed in."""

    device: Device
    is_new: bool
    """The user was made by this sign-in."""


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """The answer to a code that gives no sign-in, and what was written about it."""

    answer: Denied | Refusal
    failure: SignInFailure


# Lists of users, and what changes of one.


class UserFields(TypedDict, total=False):
    """Changed fields of a user, as they are stored; missing ones stay."""

    email: str
    name: str
    language: str
    operator: bool
    operator_role: str | None


@dataclass(frozen=True, slots=True)
class UserFilter:
    """Which users are in a list; None: any."""

    search: str | None = None
    """Part of the address or of the name."""
    operators: bool | None = None


@dataclass(frozen=True, slots=True)
class UsersFound:
    users: tuple[User, ...]
    next: str | None
    """The address to continue after; None: this is the last page."""
    previous: str | None
    """The address to go back before; None: this is the first page."""


# Mails that are owed: which, to whom, in which language, and their result.


class MailKind(StrEnum):
    SIGN_IN_CODE = "sign_in_code"
    INVITATION = "invitation"
    OLD_ADDRESS_CODE = "old_address_code"
    NEW_ADDRESS_CODE = "new_address_code"
    ADDRESS_CHANGED = "address_changed"
    FACTOR_ADDED = "factor_added"
    FACTOR_REMOVED = "factor_removed"
    FACTORS_RESET = "factors_reset"
    RECOVERY_CODES_MADE = "recovery_codes_made"
    RECOVERY_CODE_USED = "recovery_code_used"
    PROVIDER_CHANGED = "provider_changed"
    WEBHOOK_DISABLED = "webhook_disabled"
    LOW_BALANCE = "low_balance"
    PAYMENT_CONFIRMED = "payment_confirmed"
    PAYMENT_REFUSED = "payment_refused"
    KEY_EXPIRES = "key_expires"
    FIXED_NUMBER_ENDS = "fixed_number_ends"
    ALERT_RAISED = "alert_raised"
    ALERT_OVER = "alert_over"
    AUDIT_HEAD = "audit_head"
    APPROVAL_ASKED = "approval_asked"
    TEXT_FORWARDED = "text_forwarded"


class MailOutcome(StrEnum):
    """The result of a mail."""

    SENT = "sent"
    WITHHELD = "withheld"
    """The mail was never to be sent: its row exists so that both cases take the same time."""
    OVER = "over"
    """The mail was no longer useful."""
    GIVEN_UP = "given up"
    NO_MAILER = "no mailer"


@dataclass(frozen=True, slots=True)
class OwedMail:
    seq: int
    kind: MailKind
    recipient: str
    language: Language
    details: Mapping[str, Any]
    due_at: int
    tries: int
    useless_at: int
    created_at: int

    @property
    def whose(self) -> str:
        """The organization or reader whose turn it is when the mail is sent: the organization that
        it is about, else its reader."""
        return str(self.details.get("organization") or self.recipient)


@dataclass(frozen=True, slots=True)
class NewMail:
    kind: MailKind
    recipient: str
    language: Language
    details: Mapping[str, Any]
    useless_at: int | None = None


@dataclass(frozen=True, slots=True)
class MailQueueStatus:
    """The state of the queue."""

    failing: int
    """Owed, and refused by the mailer at least once."""
    given_up: int
    """Mails that were given up in the last week."""
    no_mailer: int
    """Mails of the last week that were dropped because there is no mailer."""
