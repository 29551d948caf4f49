"""The connections of one listening socket: their time limits and their maximum number.

A face (the public API, the control socket) has one :class:`ListenerState`.
"""

from __future__ import annotations

from math import inf
from typing import Final, Protocol

import structlog
import trio

from risala.dataclass import dataclass
from risala.http.common.plain import PlainRoutes

log = structlog.get_logger("risala.http")

_FULL_SAID_EVERY_S: Final = 60.0
"""Seconds between two lines in the log about refused connections, however many are refused."""
_SWEEP_EVERY_S: Final = 0.25
"""Seconds between two checks of all connections, and so the most that one can exceed its time; a
check of 10,000 takes a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Time limits of a connection, in seconds."""

    idle_s: float = 75.0
    """Between two requests, and before the first."""
    header_s: float = 15.0
    """From the first byte of a request to the end of its header."""
    quiet_s: float = 600.0
    """From a request, or from the last sent bytes of its answer, to the next bytes of it.

    Far more than any handler needs. A stream without data sends a comment well within this time.
    """
    write_s: float = 10.0
    """For one slice of an answer (16 KiB) to be taken by the client's side."""
    rest_s: float = 1.0
    """For the rest of a small unwanted body to come in, before its answer leaves.

    As long as the second transmission of a lost packet may take on a slow mobile line.
    """
    linger_s: float = 2.0
    """For reading on after an answer that ends the connection, so that the reset that follows
    unread bytes does not overtake the answer."""


class ListenerConnection(Protocol):
    """A face's view of each of its connections."""

    def close_idle(self) -> None:
        """Close the connection, on which no request is under way."""

    def hurry(self, until: float) -> None:
        """Let no write last beyond this time of Trio's clock."""

    def sweep(self, now: float) -> None:
        """Close the connection if its time is over."""


class ListenerState:
    """All connections of one socket. Its methods are called on the loop, and never wait."""

    def __init__(self, patience: Patience, connections_max: int, routes: PlainRoutes) -> None:
        self.patience = patience
        self.routes = routes
        """The paths answered without the app; also counts the server's own refusals."""
        self._connections_max = connections_max
        self._open: set[ListenerConnection] = set()
        # The idle connections, longest idle first: dicts keep their order.
        self._idle: dict[ListenerConnection, None] = {}
        self._came = trio.Event()
        """Somebody connects, after a time without connections."""
        self._stop_at = inf
        self._full_said_at = self._lacking_said_at = -inf

    @property
    def stop_at(self) -> float:
        """When, on Trio's clock, the last request must have ended; infinite until a stop is
        ordered."""
        return self._stop_at

    @property
    def stopping(self) -> bool:
        return self._stop_at < inf

    @property
    def connections(self) -> int:
        """Open connections, idle ones included."""
        return len(self._open)

    def admit(self, connection: ListenerConnection) -> bool:
        """Whether one more connection is taken. At the limit the one that has been idle longest is
        closed for it."""
        if len(self._open) >= self._connections_max:
            self._say_full()
            longest = next(iter(self._idle), None)
            if longest is None:
                return False
            self._idle.pop(longest)
            longest.close_idle()
        self._open.add(connection)
        self._came.set()
        return True

    def make_room(self, cause: OSError) -> None:
        """The process may open no more files: close the connection that has been idle longest."""
        now = trio.current_time()
        if now >= self._lacking_said_at + _FULL_SAID_EVERY_S:
            self._lacking_said_at = now
            log.error("connections.no_descriptors", reason=cause.strerror, open=len(self._open))
        longest = next(iter(self._idle), None)
        if longest is not None:
            self._idle.pop(longest)
            longest.close_idle()

    def mark_idle(self, connection: ListenerConnection) -> None:
        self._idle[connection] = None

    def mark_busy(self, connection: ListenerConnection) -> None:
        self._idle.pop(connection, None)

    def leave(self, connection: ListenerConnection) -> None:
        self._open.discard(connection)
        self._idle.pop(connection, None)

    def stop(self, within_s: float) -> None:
        """Close the idle connections now; let no write of the others last beyond ``within_s``."""
        self._stop_at = trio.current_time() + within_s
        for connection in tuple(self._idle):
            connection.close_idle()
        for connection in self._open:
            connection.hurry(self._stop_at)

    async def keep_time(self) -> None:
        """Close connections whose time is over, for ever: one task for all deadlines."""
        while True:
            if self._open:
                await trio.sleep(_SWEEP_EVERY_S)
            else:  # a service that nobody calls sleeps
                self._came = trio.Event()
                await self._came.wait()
            now = trio.current_time()
            for connection in tuple(self._open):
                connection.sweep(now)

    def _say_full(self) -> None:
        now = trio.current_time()
        if now >= self._full_said_at + _FULL_SAID_EVERY_S:
            self._full_said_at = now
            log.warning("connections.full", connections_max=self._connections_max)
