"""What happens, as it happens, over the control socket: one JSON object a line, without end.

``GET /tail/life`` follows messages, ``GET /tail/events`` the events that webhooks carry. A reader
that is too slow is told how much it missed (``lagged``); a line comes at least every few seconds
(``alive``), so that either side notices when the other is gone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypeVar

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.broadcast import Lagged, Subscription
from risala.engine.clock import iso
from risala.engine.commands import LifeEvent
from risala.http.base import JsonApp

T = TypeVar("T")
Json = dict[str, Any]

WAITING_MAX: Final = 1000
"""Lines that wait for a slow reader; older ones go."""
BEAT_S: Final = 15.0
LOOK_S: Final = 0.5
"""How soon a stream ends when the service stops."""


class Watched(Protocol):
    """What can be followed: the gateway."""

    def watch(self, events_max: int = ..., /) -> AbstractContextManager[Subscription[LifeEvent]]:
        """The life of all messages."""

    def watch_events(self, events_max: int = ..., /) -> AbstractContextManager[Subscription[Json]]:
        """The events of all organizations."""


def add_tail(app: JsonApp, watched: Watched, shutdown: trio.Event) -> None:
    """Serve the two streams until ``shutdown``."""

    async def life() -> TrioResponse:
        return _stream(_lines(watched.watch(WAITING_MAX), life_wire, shutdown))

    async def events() -> TrioResponse:
        return _stream(_lines(watched.watch_events(WAITING_MAX), _event, shutdown))

    app.route_to("/tail/life", life, method="GET")
    app.route_to("/tail/events", events, method="GET")


def _stream(lines: AsyncIterator[bytes]) -> TrioResponse:
    response = TrioResponse(lines, content_type="application/x-ndjson")
    response.timeout = None
    return response


def life_wire(event: LifeEvent) -> Json:
    """One change of a message."""
    return {
        "kind": "life",
        "at": iso(event.at),
        "messageId": event.message_id,
        "organizationId": event.organization_id,
        "to": event.to,
        "status": event.status,
        "text": event.text,
        "carrier": event.carrier,
        "raw": event.raw,
    }


def _event(body: Json) -> Json:
    return {"kind": "event", "organizationId": body["organizationId"], "event": body}


async def _lines(
    watch: AbstractContextManager[Subscription[T]],
    wire: Callable[[T], Json],
    shutdown: trio.Event,
) -> AsyncIterator[bytes]:
    with watch as values:
        yield _line({"kind": "alive"})  # the reader knows that from here on nothing is missing
        beat_at = trio.current_time() + BEAT_S
        while not shutdown.is_set():
            value: T | Lagged | None = None
            with trio.move_on_after(LOOK_S):
                value = await anext(values)
            if isinstance(value, Lagged):
                yield _line({"kind": "lagged", "lost": value.lost})
            elif value is not None:
                yield _line(wire(value))
            elif trio.current_time() >= beat_at:
                beat_at = trio.current_time() + BEAT_S
                yield _line({"kind": "alive"})


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
