"""The gateway's requests and answers: frozen values, imperative names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from risala.dataclass import dataclass
from risala.engine.model.lines import Line
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.records.keys import KeyChallenge, KeyType
from risala.engine.model.records.verify.sessions import Method, StartedReverse
from risala.engine.model.states import PRIORITY_MESSAGE, Mode
from risala.sms.alphabet import code_unit_count, fits_gsm7, septet_count
from risala.sms.message import Alphabet, Concatenation
from risala.sms.segment import part_capacity

AddressRange = IPv4Network | IPv6Network

AHEAD_MAX_S: Final = 30 * 86_400
"""How far ahead a message may be scheduled, in seconds (contract §3)."""


class AddressUse(StrEnum):
    """The kinds of calls that are limited by a client's address, each with its own limits."""

    CODE_SEND = "code_send"
    CODE_CHECK = "code_check"


class PeopleUse(StrEnum):
    """What the limits on people count, each separately, within an hour or a minute."""

    CODE_IP = "code_ip"
    CODE_NETWORK = "code_network"
    CODE_PROVIDER = "code_provider"
    CODE_ADDRESS = "code_address"
    CODE_DAYS = "code_days"
    CODE_ALL = "code_all"
    CODE_KNOWN = "code_known"
    CODE_UNKNOWN = "code_unknown"
    GUESS_IP = "guess_ip"
    GUESS_NETWORK = "guess_network"
    GUESS_PROVIDER = "guess_provider"
    GUESS_KNOWN = "guess_known"
    SIGN_UP_IP = "sign_up_ip"
    SIGN_UP_NETWORK = "sign_up_network"
    SIGN_UP_DOMAIN = "sign_up_domain"
    SIGN_UP_ALL = "sign_up_all"
    INVITATION = "invitation"
    INVITER = "inviter"
    INVITATION_ALL = "invitation_all"
    INVITED = "invited"
    ORGANIZATION = "organization"


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: an organization with one of its keys."""

    organization_id: str
    key_id: str
    type: KeyType
    mode: Mode
    allowed_origins: tuple[str, ...] | None = None
    """Sites that a browser may use the key from; None: any."""
    allowed_addresses: tuple[AddressRange, ...] | None = None
    """Addresses that the key may be used from; None: any."""
    face: str | None = None
    """The face it came in by, if not the API: the key is then one of its credentials."""
    without_id: bool = False
    """The answer of a send by the key has no ``messageId``, for clients that refuse it."""
    challenge: KeyChallenge = KeyChallenge.NEVER
    """When a code that the key asks for wants work of the visitor's browser first."""


class CutPart(NamedTuple):
    """A part's place in its message, and the alphabet that all parts of that message share (TS
    23.040 §9.2.3.24.1)."""

    place: Concatenation
    alphabet: Alphabet
    halves: tuple[str, str] = ("", "")
    """The halves of characters at its beginning and end, if it is cut inside one: a low surrogate,
    and a high one or ESC. Its text does not contain them."""

    @property
    def room(self) -> int:
        """Septets or code units that fit in a part beside its header."""
        return part_capacity(self.alphabet, reference_bits=self.place.bits)

    def takes(self, text: str) -> bool:
        """Whether a text, without the halves, is in its alphabet and fits in it."""
        room = self.room - sum(map(len, self.halves))
        if self.alphabet is Alphabet.UCS2:
            return code_unit_count(text) <= room
        return fits_gsm7(text) and septet_count(text) <= room


class AnswerWay(NamedTuple):
    """How an answer to a text leaves: as the text came."""

    carrier: str
    sender: str | None
    """Our number that received it; None: the carrier does not tell it."""
    is_asked_for: bool = False
    """The text asks for this very answer: it leaves though the person wants no messages."""


_NO_METADATA: Final[Mapping[str, str]] = MappingProxyType({})


class SendMessage(NamedTuple):
    """A validated body of ``POST /api/sms``.

    A tuple, because one is made for each message, and this takes a third of the time.
    """

    to: str
    body: str
    sender: str | None = None
    idempotency_key: str | None = None
    priority: int = PRIORITY_MESSAGE
    """Whom it goes before; no body of ``/api/sms`` can set it."""
    metadata: Mapping[str, str] = _NO_METADATA
    send_at: int | None = None
    """UTC epoch milliseconds; None or past: now."""
    validity_s: int | None = None
    """Seconds from ``send_at`` (or from now) after which it is no longer sent; None: the service's
    default."""
    part: CutPart | None = None
    """The message's place in a longer one that the customer cut; None: it is no part. A part has
    one segment, and its text stays as it is."""
    way: AnswerWay | None = None
    """None: by any carrier that serves the number."""
    message_class: int | None = None
    """0: a flash message, which phones show at once (3GPP TS 23.038 §4); None: an ordinary one."""

    def __repr__(self) -> str:
        return "<SendMessage>"  # its text must not be logged


Beside = Mapping[str, Any]
"""Members of a request about a code that features read, by their names in the API, checked and not
null."""
NOTHING_BESIDE: Final[Beside] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SendCode:
    """A validated body of ``POST /api/verify/send``."""

    to: str
    locale: str | None = None
    """``fr``, ``ar`` or ``en``; None: the organization's own template."""
    app_hash: str | None = None
    origin: str | None = None
    beside: Beside = field(default_factory=dict, repr=False)
    client: str | None = field(default=None, repr=False)
    """What the limits by address know the visitor by, of a publishable key."""


class TimelineEntry(NamedTuple):
    """One step in a message's life."""

    at: int
    status: str
    line: Line
    """What happened; :func:`risala.engine.model.sentences.sentence` turns it into words."""
    carrier: str | None = None
    attempt: int | None = None
    segment: int | None = None
    raw: str | None = None
    """The carrier's own code."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the service accepts messages and can deliver them; if not, the reasons."""

    ready: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LifeEvent:
    """A change of a message, published after its commit: for people who watch."""

    at: int
    message_id: str
    organization_id: str
    to: str
    status: str
    line: Line
    carrier: str | None = None
    attempt: int | None = None
    segment: int | None = None
    raw: str | None = None


class CodeResending(Protocol):
    """Brings a session's code once more."""

    async def resend(self, principal: Principal, verification_id: str, channel: str | None) -> None:
        """Begin another delivery of a session's code.

        Args:
            channel: None: the next one that was not tried.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
            NoChannelLeft: each channel was tried, or the session is over.
            Invalid: the channel is not open to this kind of key.
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not now.
        """


RESENDING: Final[FeatureAccess[CodeResending]] = FeatureAccess("channels")


# -- the log of requests


NOTED_BYTES_MAX: Final = 8192
"""A longer body is not noted: no single message comes near it, and the largest batches would fill
the memory while they wait to be written."""


class NotedRequest(NamedTuple):
    """A request that was answered. Made for each request, under load too, and so a tuple."""

    principal: Principal
    """The owner of its key."""
    request_id: str
    """When it came, with milliseconds."""
    method: str
    path: str
    status: int
    took_s: float
    address: str | None
    """The client's, for a secret key: that of a server. A page's visitors are not logged."""
    asked: bytes | int | None
    """The body as it came; its length if it is too long; None: it was not read."""
    answered: bytes | int
    """The body of the answer, or its length."""
    unknown: tuple[str, ...] = ()
    """Names of the body's members that the endpoint does not read."""


def noted(body: bytes) -> bytes | int:
    """A body that may be noted; its length if it is too long."""
    return body if len(body) <= NOTED_BYTES_MAX else len(body)


class RequestNotes(Protocol):
    """The log of the requests of each key."""

    def has_room(self, principal: Principal, /) -> bool:
        """Whether a request can be noted."""

    def note(self, request: NotedRequest, /) -> None:
        """Note a request; it is written soon."""


NOTES: Final[FeatureAccess[RequestNotes]] = FeatureAccess("request_log")


class Starts(Protocol):
    """Starts verifications without a code."""

    async def start(
        self, principal: Principal, method: Method, to: str | None, locale: str | None
    ) -> StartedReverse:
        """Open a session in which the user sends a text, or calls.

        Raises:
            Invalid: a number is missing, or the language is not known.
            VerifyRefused: no number of ours can be texted, or called.
            RateLimited, Forbidden: refused; nothing was stored.
            Unavailable: not now.
        """


STARTING: Final[FeatureAccess[Starts]] = FeatureAccess("reverse")
