"""The contract for a driver that is called: a carrier that sends receipts and texts by HTTP.

The service hands each request for ``/carriers/NAME/…`` to that carrier's driver, if it is
:class:`Answering`. The service owns the listener, TLS, limits and what is logged; the driver proves
the caller, reads what came and answers.

**Proof.** Anybody may call. A driver calls :meth:`CarrierRequest.prove` as soon as it knows who the
caller is: by a token, or by a signature over the body. A request that its driver has not proved is
answered with 401, whatever the driver returned, and may change nothing. A carrier that signs
nothing proves itself by a secret in its address, which the service makes and checks
(:attr:`risala.plugins.contract.Capabilities.secret_address`): such a request is proved when it
comes.

**When and where.** :meth:`Answering.answer` runs on the task of the request. It is cancelled when
the client goes away, and after :data:`ANSWER_S`. Before the proof it waits for nothing but
:attr:`CarrierRequest.read`: when many strangers call, it has a second. A receipt or a text that was
handed to the :class:`~risala.plugins.contract.DriverContext` before is stored or not, as its call
says: answer with success only after it returned. Headers and body may hold secrets and texts: a
driver puts neither into a log or an exception.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods of requests that a driver gets."""
BODY_BYTES_MAX: Final = 64 * 1024
"""The largest body of a proved request; a larger one is answered with 413."""
UNPROVED_BYTES_MAX: Final = 4096
"""The largest body that is read before the caller is proved; with a larger one it stays
unproved."""
ANSWER_S: Final = 10.0
"""Seconds that reading a body may take, and that an answer may take. Then it is 408 or 503."""
REQUESTS_MAX: Final = 50
"""Proved requests of one carrier that are answered at once; a further one gets 503."""
STREAMS_MAX: Final = 16
"""Streams of one carrier at once; a further one gets 503."""
STREAM_S_MAX: Final = 3600.0
"""The longest that a stream lasts, in seconds. The client connects again."""
STREAM_SILENCE_S_MAX: Final = 300.0
"""The longest that a stream may be silent, in seconds: after some minutes more, the service takes
its client for gone."""


class RequestRefusedError(Exception):
    """The service does not go on with a request; a driver lets it pass."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True, eq=False)
class CarrierRequest:
    """A request to a carrier's address."""

    id: str
    """The request's id, which its answer carries too."""
    method: str
    """One of :data:`METHODS`; a ``HEAD`` comes as ``GET``."""
    path: str
    """What follows the carrier's name, and the address's secret: ``/receipt``; mostly empty or with
    a slash at its beginning."""
    query: Mapping[str, tuple[str, ...]] = field(repr=False)
    """The query's fields by name, each with all its values."""
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name; the first of several."""
    address: str | None
    """The caller's IP address, behind trusted proxies too; None: it has none."""
    received_at_ms: int
    """UTC epoch milliseconds."""
    is_proved: Callable[[], bool] = field(repr=False)
    """Whether the caller is proved: by the address's secret, or since :attr:`prove`."""
    prove: Callable[[], None] = field(repr=False)
    """Tells the service that the caller is the carrier. Raises :class:`RequestRefusedError`, 503,
    if :data:`REQUESTS_MAX` are answered already."""
    read: Callable[[], Awaitable[bytes]] = field(repr=False)
    """Reads the body, at most :data:`UNPROVED_BYTES_MAX` before the proof and
    :data:`BODY_BYTES_MAX` after it. May be called again. Raises :class:`RequestRefusedError`: too
    large, or too slow."""
    own_url: str = ""
    """The address of this carrier at this service, which the driver's paths follow:
    ``https://sms.example/carriers/NAME``. It has no secret. A driver tells it to a carrier that has
    to be told where to call."""


@dataclass(frozen=True, slots=True)
class CarrierAnswer:
    """A driver's answer to a proved request."""

    body: bytes = field(default=b"", repr=False)
    """What the carrier reads; it may hold no text of a message."""
    status: int = 200
    """From 200 to 599. With 204 there is no body."""
    content_type: str = "application/json"
    """What the body is."""
    headers: tuple[tuple[str, str], ...] = ()
    """Header fields beside the content's type."""


SendPart = Callable[[bytes], Awaitable[None]]
"""Sends a part of a stream; returns once the client's connection has taken it."""


@dataclass(frozen=True, slots=True)
class CarrierStream:
    """An answer without an end, such as server-sent events."""

    write: Callable[[SendPart], Awaitable[None]] = field(repr=False)
    """Sends its parts, at least one in each :data:`STREAM_SILENCE_S_MAX`, and returns at its end.
    It is cancelled when the client goes away, when the driver or the service ends, and after
    :data:`STREAM_S_MAX`."""
    content_type: str = "text/event-stream"
    """What the parts are."""
    headers: tuple[tuple[str, str], ...] = ()
    """Header fields beside the content's type."""


@runtime_checkable
class Answering(Protocol):
    """A driver whose carrier calls it."""

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        """Answer one request. Called while the driver runs, up to :data:`REQUESTS_MAX` times at
        once.

        Raises:
            NotStoredError: answered with 503, so that the carrier sends again.
        """
