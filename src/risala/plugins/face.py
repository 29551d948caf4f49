"""The contract for plugins that speak another gateway's HTTP: a face beside the API.

A face is registered by the hook ``risala_register_faces`` (see :mod:`risala.plugins.hookspecs`),
and served where the configuration has its table, ``[faces.NAME]``. It says which paths are its own,
turns a request into calls of the :class:`FaceService` that it is handed with it, and what they
return or raise into an answer in the other gateway's words. Whom a call is for, what it costs,
limits, durability, the timeline and the audit are the service's: a face keeps no state.

**Who asks** signs in by a credential of the face (``risala credential create NAME``), never by an
API key. Every other call of the service takes what :meth:`FaceService.admit` returned.

**When and where.** :meth:`GatewayFace.answer` runs on the task of the request and is cancelled
when the client goes away; :meth:`CallsBack.call` on a task of the engine's, and must not wait. A
request's query, headers and body may hold a password: a face logs nothing of them and raises no
exception with them. What it raises other than :class:`FaceRefusedError` is answered with 500.
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
"""Fields of a query or a form at most; who sends more is refused."""

Fields = Mapping[str, tuple[bytes, ...]]
"""Fields of a query or a form by name, each with all its values as octets: which characters those
are is the face's to say."""


class FaceRefusal(StrEnum):
    """Why the service does not do what a face asks."""

    UNAUTHORIZED = "unauthorized"
    """There is no such credential, it is revoked, or the password is another."""
    SUSPENDED = "suspended"
    """The credential's organization is not active."""
    ADDRESS = "address"
    """The credential may not be used from where the request comes."""
    INVALID = "invalid"
    """A value is wrong: :attr:`FaceRefusedError.field` says which."""
    SENDER = "sender"
    """The organization has no such sender."""
    OPTED_OUT = "opted_out"
    """The recipient wants no messages of this organization."""
    NO_BALANCE = "no_balance"
    """The balance does not cover the price, or the most that may be spent in a day is spent."""
    LIMITED = "limited"
    """Too many, too fast: :attr:`FaceRefusedError.retry_after_s`."""
    NOT_FOUND = "not_found"
    """There is no such thing, or not for this caller."""
    CONFLICT = "conflict"
    """The thing is not in a state that allows this."""
    BAD_REQUEST = "bad_request"
    """The request cannot be read: too large, too slow, too many fields."""
    UNAVAILABLE = "unavailable"
    """Not now, by no fault of the caller; nothing was stored."""
    UNKNOWN = "unknown"
    """The disk failed while it was stored: it may have been. The same idempotency key tells."""
    REFUSED = "refused"
    """Another reason: its sentence tells."""


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
        """Of an invalid value: ``to``, ``text``, ``sender``, ``validity_s``, ``send_at_ms``,
        ``callback``, ``code``, ``locale``, ``idempotency_key``."""
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class FacePath:
    """A path that a face answers, such as ``/2010-04-01/Accounts/{account}/Messages.json``."""

    path: str
    """A ``{name}`` stands for what is between two slashes, or before a suffix of the last part; it
    comes as :attr:`FaceRequest.arguments`. A ``{+name}`` may be a phone number too: its ``+``
    may be written as ``%2B``, and comes as ``+``."""
    methods: tuple[str, ...] = ("GET", "POST")
    get_changes: bool = False
    """A ``GET`` of this path does something, as sending a message: ``HEAD``, which proxies and link
    checkers ask of their own accord, is answered with 405 and does nothing."""


@dataclass(frozen=True, slots=True)
class FaceRequest:
    """A request to one of a face's paths."""

    request_id: str
    """Ours, for the answer."""
    method: str
    path: str
    """The :attr:`FacePath.path` that it came to."""
    arguments: Mapping[str, str]
    """What stood in the path's places."""
    query: Fields = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name; the first where there are several."""
    base_url: str
    """The service's public address, without a slash at its end."""
    received_at_ms: int
    """UTC epoch milliseconds."""
    read: Callable[[], Awaitable[bytes]] = field(repr=False)
    """Reads the body, within bounds of size and time; raises :class:`FaceRefusedError`. Read it
    after the caller was admitted, where its credential is not in it."""

    async def form(self) -> Fields:
        """The body's fields, where it is ``application/x-www-form-urlencoded``.

        Raises:
            FaceRefusedError: it is too large, too slow, no form, or has too many fields.
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
    found: dict[str, tuple[bytes, ...]] = {}
    for name, value in pairs:
        found[name] = (*found.get(name, ()), value.encode("latin-1"))
    return found


@dataclass(frozen=True, slots=True)
class FaceAnswer:
    """What a face answers."""

    body: bytes = field(repr=False)
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """Further header fields."""


@dataclass(frozen=True, slots=True)
class FaceCaller:
    """Who asks: an organization, by a credential of the face."""

    credential_id: str
    username: str
    organization_id: str
    sender: str | None
    """Whom a message is from that names nobody; None: the service's own sender."""
    is_test: bool
    """What it sends reaches no carrier and costs nothing."""


@dataclass(frozen=True, slots=True)
class FaceCallback:
    """Who is called as a message goes on."""

    url: str = field(repr=False)
    """Checked as webhooks' addresses are, now and at each call."""
    told: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What :meth:`CallsBack.call` is handed again: JSON values, of a kilobyte or two."""


@dataclass(frozen=True, slots=True)
class FaceMessage:
    """A message to send."""

    to: str
    """``+222XXXXXXXX``; :func:`risala.sms.address.normalise_number` makes that of what people
    write."""
    text: str = field(repr=False)
    """Of a part whose cut falls inside a character it may begin with a low surrogate, and end with
    a high one or with ESC (U+001B): the octets go out as they were cut."""
    sender: str | None = None
    idempotency_key: str | None = None
    """8 to 128 characters: the same key again is the same message."""
    validity_s: int | None = None
    """How long it is tried, 60 s to three days."""
    send_at_ms: int | None = None
    """UTC epoch milliseconds; None or past: now."""
    callback: FaceCallback | None = None
    part: Concatenation | None = None
    """Which part it is of a longer message that the customer cut by themselves; None: none."""
    part_in_ucs2: bool = False
    """That all parts of that message are in UCS-2; else they are in GSM 03.38."""


@dataclass(frozen=True, slots=True)
class FaceMessageState:
    """A message as it stands. Times are UTC epoch milliseconds."""

    message_id: str
    to: str
    sender: str
    text: str | None = field(repr=False)
    """None where it is no longer kept."""
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
    """Where the next ones begin; None: there are none."""


@dataclass(frozen=True, slots=True)
class FaceVerification:
    """A verification session as it stands."""

    verification_id: str
    to: str
    status: str
    """``pending``, ``approved``, ``expired`` or ``canceled``."""
    attempts: int
    """Wrong codes that were said."""
    attempts_max: int
    created_at_ms: int
    updated_at_ms: int


class FaceService(Protocol):
    """What a face may ask for; everything raises :class:`FaceRefusedError` where it is refused."""

    async def admit(self, username: str, password: str) -> FaceCaller:
        """Who has this name and password at this face. Wrong ones are counted by the client's
        address, as wrong API keys are."""

    async def send(self, caller: FaceCaller, message: FaceMessage) -> FaceMessageState:
        """Accept a message: stored, charged and on disk when this returns."""

    def message(self, caller: FaceCaller, start: str) -> FaceMessageState:
        """A message of the caller's organization and mode.

        Args:
            start: its id, or the first 29 characters of that or more.
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
        """Take the text out of a message that has left or ended. Refused with
        :attr:`FaceRefusal.CONFLICT` while it has not."""

    async def delete(self, caller: FaceCaller, message_id: str) -> None:
        """Take text, number and metadata out of a message that has left or ended; it is found no
        more. What accounts are proved by stays. Refused with :attr:`FaceRefusal.CONFLICT` while it
        has not."""

    async def cancel_code(self, caller: FaceCaller, verification_id: str) -> FaceVerification:
        """End a pending session; its code is approved no more."""

    async def send_code(
        self, caller: FaceCaller, to: str, locale: str | None = None
    ) -> FaceVerification:
        """Send a one-time code, and open its session."""

    async def check_code(self, caller: FaceCaller, verification_id: str, code: str) -> bool:
        """Whether a code is the session's; counted on disk before this returns."""

    def verification(self, caller: FaceCaller, start: str) -> FaceVerification:
        """A session of the caller's organization and mode, by its id or the start of that."""

    def verification_to(self, caller: FaceCaller, to: str) -> FaceVerification:
        """The latest session of a number."""


@runtime_checkable
class GatewayFace(Protocol):
    """Another gateway's HTTP."""

    @property
    def paths(self) -> Sequence[FacePath]:
        """Which paths it answers; read once. None may be one of the service's own."""

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        """Answer a request to one of them."""


@runtime_checkable
class WordsFaults(Protocol):
    """A face that has words of its own for what goes wrong before it is asked, and for its bugs."""

    @property
    def beneath(self) -> Sequence[str]:
        """What the targets begin with that are the face's alone, such as ``/2010-04-01/``; read
        once. Those of them that are no path of anybody's are its unknown paths."""

    def fault(self, status: int, text: str) -> FaceAnswer:
        """The answer to a request to an unknown path (404), by another method (405), or to one that
        the face failed to answer (500). Does not wait.

        Args:
            text: a sentence that may be shown to the caller.
        """


@dataclass(frozen=True, slots=True)
class FaceEvent:
    """What happened to a message whose sender is called back."""

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
    """Of the credential that it was sent by."""


@dataclass(frozen=True, slots=True)
class FaceCall:
    """One call of a customer's server."""

    url: str = field(repr=False)
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


Sign = Callable[[bytes], bytes]
"""The HMAC-SHA1 of octets by the credential's password; empty octets where the face has no
password that signs."""


@runtime_checkable
class CallsBack(Protocol):
    """A face that calls its customers back."""

    def call(
        self, event: FaceEvent, url: str, told: Mapping[str, Any], sign: Sign
    ) -> FaceCall | None:
        """The call for an event; None: the customer did not ask for this one.

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
    """The word in ``[faces.NAME]`` and ``risala credential create NAME``."""
    settings: type[BaseModel]
    """Validates ``[faces.NAME]``, without ``enabled``; unknown keys forbidden."""
    build: Callable[[Any], GatewayFace]
    """Takes the validated settings. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""
