"""The contract for plugins that speak another gateway's HTTP: a face besides the API.

A face is registered by the hook ``risala_register_compat`` (see :mod:`risala.plugins.hookspecs`),
and served if the configuration has its table, ``[compat.NAME]``. It names its paths, turns requests
into calls of a :class:`FaceService`, and turns their results or exceptions into an answer in the
other gateway's words. The service owns accounts, prices, limits, durability, the timeline and the
audit: a face keeps no state.

**Callers** sign in by a credential of the face (``risala credential create NAME``), never by an API
key. Every other call of the service takes the result of :meth:`FaceService.admit`.

**When and where.** :meth:`GatewayFace.answer` runs on the task of the request and is cancelled
when the client disconnects; :meth:`CallsBack.call` runs on a task of the engine, and must not wait.
A request's query, headers and body may hold a password: a face logs nothing of them and raises no
exception with them. Exceptions other than :class:`FaceRefusedError` are answered with 500.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable
from urllib.parse import parse_qsl

from pydantic import BaseModel

from risala.sms.message import Concatenation

FIELDS_MAX: Final = 100
"""The most fields of a query or a form; a request with more is refused."""

Fields = Mapping[str, tuple[bytes, ...]]
"""Fields of a query or form by name, each with all its values as octets: the face decodes them."""


class FaceRefusal(StrEnum):
    """Why the service refuses a face's call."""

    UNAUTHORIZED = "unauthorized"
    """The credential is unknown or revoked, or the password is wrong."""
    SUSPENDED = "suspended"
    """The credential's organization is not active."""
    ADDRESS = "address"
    """The credential may not be used from the request's address."""
    INVALID = "invalid"
    """A value is wrong: :attr:`FaceRefusedError.field` says which."""
    COUNTRY = "country"
    """The number's country is not open to the organization."""
    SENDER = "sender"
    """The organization has no such sender."""
    OPTED_OUT = "opted_out"
    """The recipient wants no messages of this organization."""
    NO_BALANCE = "no_balance"
    """The balance does not cover the price, or the day's spend cap is reached."""
    LIMITED = "limited"
    """Too many, too fast: :attr:`FaceRefusedError.retry_after_s`."""
    NOT_FOUND = "not_found"
    """The thing does not exist for this caller."""
    CONFLICT = "conflict"
    """The thing is not in a state that allows this."""
    BAD_REQUEST = "bad_request"
    """The request cannot be read: too large, too slow, too many fields."""
    UNAVAILABLE = "unavailable"
    """Not now, and not the caller's fault; nothing was stored."""
    UNKNOWN = "unknown"
    """The disk failed: it may be stored. A repeat with the same idempotency key shows it."""
    REFUSED = "refused"
    """A reason without a word of its own; the sentence says it."""


class FaceRefusedError(Exception):
    """The service refuses; ``str()`` is a sentence that may be shown to the caller."""

    def __init__(
        self,
        refusal: FaceRefusal,
        text: str,
        *,
        field: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(text)
        self.refusal = refusal
        self.field = field
        """The invalid value: ``to``, ``text``, ``sender``, ``validity_s``, ``send_at_ms``,
        ``callback``, ``code``, ``locale``, ``idempotency_key``."""
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class FacePath:
    """A path that a face answers, such as ``/2010-04-01/Accounts/{account}/Messages.json``."""

    path: str
    """A ``{name}`` matches the text between two slashes, or before a suffix of the last part; it is
    in :attr:`FaceRequest.arguments`. A ``{+name}`` may be a phone number too: its ``+`` may be
    written as ``%2B``, and arrives as ``+``."""
    methods: tuple[str, ...] = ("GET", "POST")
    get_changes: bool = False
    """A ``GET`` of this path changes something, such as sending a message: ``HEAD``, which proxies
    and link checkers send by themselves, is answered with 405 and does nothing."""


@dataclass(frozen=True, slots=True)
class FaceRequest:
    """A request to one of a face's paths."""

    request_id: str
    """The request's id, for the answer."""
    method: str
    path: str
    """The :attr:`FacePath.path` that it matched."""
    arguments: Mapping[str, str]
    """The values of the path's names."""
    query: Fields = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name; the first of several."""
    base_url: str
    """The service's public address, without a slash at its end."""
    received_at_ms: int
    """UTC epoch milliseconds."""
    read: Callable[[], Awaitable[bytes]] = field(repr=False)
    """Reads the body, with limits of size and time; raises :class:`FaceRefusedError`. If the
    credential is not in it, read it after the caller was admitted."""

    async def form(self) -> Fields:
        """The body's fields, if it is ``application/x-www-form-urlencoded``.

        Raises:
            FaceRefusedError: it is too large or too slow, not a form, or has too many fields.
        """
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await self.read()
        if body and kind not in ("application/x-www-form-urlencoded", ""):
            raise FaceRefusedError(FaceRefusal.BAD_REQUEST, "The body must be a form.")
        return fields_of(body)


def fields_of(text: bytes) -> Fields:
    """The fields of a query or of a form's body.

    Raises:
        FaceRefusedError: there are too many.
    """
    try:
        pairs = parse_qsl(
            text.decode("latin-1"),
            keep_blank_values=True,
            encoding="latin-1",
            max_num_fields=FIELDS_MAX,
        )
    except ValueError:
        raise FaceRefusedError(
            FaceRefusal.BAD_REQUEST, f"There are more than {FIELDS_MAX} fields."
        ) from None
    fields: dict[str, tuple[bytes, ...]] = {}
    for name, value in pairs:
        fields[name] = (*fields.get(name, ()), value.encode("latin-1"))
    return fields


@dataclass(frozen=True, slots=True)
class FaceAnswer:
    """A face's answer."""

    body: bytes = field(repr=False)
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """Header fields beside the content's type."""


@dataclass(frozen=True, slots=True)
class FaceCaller:
    """The caller: an organization, with a credential of the face."""

    credential_id: str
    username: str
    organization_id: str
    sender: str | None
    """The sender of messages that name none; None: the service's own sender."""
    is_test: bool
    """The credential is a test's: its messages reach no carrier and cost nothing."""


@dataclass(frozen=True, slots=True)
class FaceCallback:
    """The address to call when a message's state changes."""

    url: str = field(repr=False)
    """Checked like webhooks' addresses, now and at each call."""
    told: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """JSON values, of a kilobyte or two, that :meth:`CallsBack.call` gets again."""


@dataclass(frozen=True, slots=True)
class FaceMessage:
    """A message to send."""

    to: str
    """``+`` and digits (E.164); :meth:`FaceService.number` makes it from other forms."""
    text: str = field(repr=False)
    """If a part was cut inside a character, it may begin with a low surrogate, and end with a high
    one or with ESC (U+001B): the octets are sent as they were cut."""
    sender: str | None = None
    idempotency_key: str | None = None
    """8 to 128 characters: the same key again is the same message."""
    validity_s: int | None = None
    """How long it is tried, 60 s to three days."""
    send_at_ms: int | None = None
    """UTC epoch milliseconds; None or past: now."""
    callback: FaceCallback | None = None
    part: Concatenation | None = None
    """The message's place in a longer one that the customer cut; None: it is not a part."""
    part_in_ucs2: bool = False
    """True: all parts of that message are in UCS-2; False: in GSM 03.38."""
    message_class: int | None = None
    """0: a flash message; None: an ordinary one."""


@dataclass(frozen=True, slots=True)
class FaceMessageState:
    """A message's present state. Times are UTC epoch milliseconds."""

    message_id: str
    number: int
    """A unique number of 63 bits, greater than those of messages accepted before: for clients that
    keep ids as numbers."""
    to: str
    sender: str
    text: str | None = field(repr=False)
    """None: it is no longer kept."""
    status: str
    """``pending``, ``processing``, ``sent``, ``delivered``, ``undelivered``, ``failed`` or
    ``canceled``."""
    segments: int
    price: str
    """A decimal number, of ``currency``."""
    currency: str
    error_code: str | None
    """A word of :class:`risala.sms.cause.Cause`."""
    error_text: str | None
    carrier_code: str | None
    created_at_ms: int
    updated_at_ms: int
    sent_at_ms: int | None
    """When it was sent, or None."""


@dataclass(frozen=True, slots=True)
class FaceMessages:
    """Some messages, the newest first."""

    items: tuple[FaceMessageState, ...]
    older: str | None
    """The cursor of the next page; None: this is the last one."""


@dataclass(frozen=True, slots=True)
class CallerOrganization:
    """The caller's organization, as it is now."""

    balance: str
    """A decimal number, of ``currency``."""
    currency: str
    time_zone: str
    """The organization's time zone, such as ``Africa/Nouakchott``."""


@dataclass(frozen=True, slots=True)
class CompatPayment:
    """The payment that a code is for."""

    amount: str
    """A decimal number."""
    currency: str
    """ISO 4217."""
    payee: str


@dataclass(frozen=True, slots=True)
class CompatCodeDetails:
    """What a program says of a code that it asks for, beside the number."""

    locale: str | None = None
    """The language of its text; None: as ``language_tag`` says."""
    language_tag: str | None = None
    """A language as programs name it, such as ``pt-BR``. Where there are no texts in it, the
    organization's own language is taken, and nothing is refused; so it is for None."""
    client_ip: str | None = field(default=None, repr=False)
    """The address of the user who is verified."""
    tags: Sequence[str] = ()
    """At most ten words of the program's own, each of 1 to 64 characters."""
    code: str | None = field(default=None, repr=False)
    """A code of the program's own, 4 to 8 digits; None: one is made."""
    template: str | None = None
    """The name of one of the organization's texts; None: its usual one."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What is written into that text, by its placeholders."""
    payment: CompatPayment | None = None
    """The text names it, and a check has to."""


@dataclass(frozen=True, slots=True)
class FaceVerification:
    """A verification session's present state."""

    verification_id: str
    to: str
    status: str
    """``pending``, ``approved``, ``expired`` or ``canceled``."""
    attempts: int
    """The number of wrong codes."""
    attempts_max: int
    created_at_ms: int
    updated_at_ms: int


class FaceService(Protocol):
    """The calls of a face; each raises :class:`FaceRefusedError` if it is refused."""

    async def admit(self, username: str, password: str) -> FaceCaller:
        """The caller with this name and password at this face. Wrong ones count by the client's
        address, like wrong API keys."""

    def organization(self, caller: FaceCaller) -> CallerOrganization:
        """The caller's organization."""

    def number(self, text: str) -> str:
        """A recipient as people write it, in the form of :attr:`FaceMessage.to`; refused if it is
        no number of a served country."""

    async def send(self, caller: FaceCaller, message: FaceMessage) -> FaceMessageState:
        """Accept a message: stored, charged and on disk when this returns."""

    def message(self, caller: FaceCaller, start: str) -> FaceMessageState:
        """A message of the caller's organization and mode.

        Args:
            start: its id, the first 29 characters of that or more, or its number in digits.
        """

    def sent_with(
        self, caller: FaceCaller, idempotency_keys: Sequence[str]
    ) -> Sequence[FaceMessageState]:
        """The messages of the caller's organization and mode that were accepted with these keys, in
        the keys' order; a key that no message has is passed over. At most a hundred are looked up.
        """

    async def messages(
        self,
        caller: FaceCaller,
        *,
        limit: int,
        before: str | None = None,
        to: str | None = None,
        sender: str | None = None,
        since_ms: int | None = None,
        until_ms: int | None = None,
    ) -> FaceMessages:
        """The messages of the caller's organization and mode, without their texts."""

    async def cancel(self, caller: FaceCaller, message_id: str) -> FaceMessageState:
        """Withdraw a pending message of which no part has left; its price is refunded. Refused with
        :attr:`FaceRefusal.CONFLICT` in any other state."""

    async def redact(self, caller: FaceCaller, message_id: str) -> FaceMessageState:
        """Delete the text of a message that was sent or has ended. Otherwise refused with
        :attr:`FaceRefusal.CONFLICT`."""

    async def delete(self, caller: FaceCaller, message_id: str) -> None:
        """Delete the text, number and metadata of a message that was sent or has ended; it is no
        longer found. The data that proves accounts stays. Otherwise refused with
        :attr:`FaceRefusal.CONFLICT`."""

    async def cancel_code(self, caller: FaceCaller, verification_id: str) -> FaceVerification:
        """End a pending session; its code no longer works."""

    async def send_code(
        self,
        caller: FaceCaller,
        to: str,
        locale: str | None = None,
        details: CompatCodeDetails | None = None,
    ) -> FaceVerification:
        """Send a one-time code, and open its session.

        Args:
            locale: as in ``details``, which comes before it.
        """

    async def check_code(
        self,
        caller: FaceCaller,
        verification_id: str,
        code: str,
        payment: CompatPayment | None = None,
    ) -> bool:
        """Whether the code is right; the check is counted on disk before this returns."""

    async def report_code(
        self, caller: FaceCaller, verification_id: str, *, is_approved: bool
    ) -> None:
        """Take over what the program found out about a code of its own."""

    def verification(self, caller: FaceCaller, start: str) -> FaceVerification:
        """A session of the caller's organization and mode, by its id or the id's beginning."""

    def verification_to(self, caller: FaceCaller, to: str) -> FaceVerification:
        """The latest session of a number."""


@runtime_checkable
class GatewayFace(Protocol):
    """The HTTP of another gateway."""

    @property
    def paths(self) -> Sequence[FacePath]:
        """The paths that it answers; read once. The service's own paths are not allowed."""

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        """Answer a request to one of them."""


@runtime_checkable
class WordsFaults(Protocol):
    """A face with its own answers to requests that fail before it is called, and to its bugs."""

    @property
    def beneath(self) -> Sequence[str]:
        """The beginning of all its targets, such as ``/2010-04-01/``; read once. Targets under it
        without a path are the face's unknown paths."""

    def fault(self, status: int, text: str) -> FaceAnswer:
        """The answer to a request to an unknown path (404), by another method (405), or to one that
        the face failed to answer (500). Does not wait.

        Args:
            text: a sentence that may be shown to the caller.
        """


@dataclass(frozen=True, slots=True)
class FaceEvent:
    """An event of a message whose sender is called back."""

    event_id: str
    at_ms: int
    message_id: str
    to: str
    sender: str
    status: str
    """``sent``, ``delivered``, ``undelivered``, ``failed`` or ``canceled``."""
    error_code: str | None
    carrier_code: str | None
    provider_message_id: str | None
    username: str
    """The name of the credential that it was sent with."""


@dataclass(frozen=True, slots=True)
class FaceCall:
    """One call of a customer's server."""

    url: str = field(repr=False)
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


Sign = Callable[[bytes], bytes]
"""The HMAC-SHA1 of octets with the credential's password; empty octets if the face's passwords do
not sign."""


@runtime_checkable
class CallsBack(Protocol):
    """A face that calls its customers back."""

    def call(
        self, event: FaceEvent, url: str, told: Mapping[str, Any], sign: Sign
    ) -> FaceCall | None:
        """The call for an event; None: the customer does not want this one.

        Called on one of the engine's tasks, once to see whether there is a call and again for each
        attempt, so it must return the same for the same arguments. It does not wait.

        Args:
            url: :attr:`FaceCallback.url`.
            told: :attr:`FaceCallback.told`.
        """


@dataclass(frozen=True, slots=True)
class FaceFactory:
    """How a face is built from its table in the configuration."""

    name: str
    """The word in ``[compat.NAME]`` and ``risala credential create NAME``."""
    settings: type[BaseModel]
    """Validates ``[compat.NAME]``, without ``enabled``; unknown keys forbidden."""
    build: Callable[[Any], GatewayFace]
    """Takes the validated settings. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""
