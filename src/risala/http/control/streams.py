"""The events of an organization as server-sent events: for its dashboard and `risala tail`.

::

    retry: 2000                       how soon a browser comes back

    id: 1767225600000                 where to come back to: here a time, later events' ids
    event: ready                      from here on nothing is missing
    data: {}

    id: evt_…                         an event, as webhooks carry it
    event: event
    data: {"id":"evt_…", …}

    event: life                       a change of a message
    data: {"messageId":"sms_…", …}

    event: lagged                     the reader was too slow; what it missed follows
    data: {"lost":1234}

    event: reset                      missing events cannot be sent: read everything again
    data: {"reason":"…"}

    : alive                           nothing happened for a while

After ``lagged``, and for a reader that comes back with ``Last-Event-ID``, the missed events and the
present state of each message changed meanwhile follow; the same may come twice. If only ``life`` is
followed, the ids are times. The app that mounts a stream decides who may read it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final

import trio

from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import Draining, EngineError, Overloaded, RateLimited
from risala.engine.model.following import Lagged, OutboxEvent, Ready, Reset, Told, What
from risala.engine.model.records.messages import MessageChange
from risala.engine.model.records.record import to_json
from risala.engine.model.sentences import sentence

if TYPE_CHECKING:
    from quart_trio.wrappers import TrioResponse

    from risala.engine.follow.live import Follower
    from risala.engine.gateway.gateway import Gateway

STREAMS_MAX: Final = 100
"""Streams of all organizations together; the control socket takes a few connections more."""
STREAMS_PER_ORGANIZATION_MAX: Final = 20
"""Streams of one organization: each open page has one."""
BEAT_S: Final = 15.0
"""A line is sent at least this often, so that either side notices when the other is gone."""
BACK_AFTER_MS: Final = 2000
AGAIN_S: Final = 30
"""Seconds after which a reader that was refused for lack of room may try again."""
POSITION_CHARACTERS_MAX: Final = 64


class Streams:
    """All streams of the service, wherever they are mounted: counted, and ended together."""

    def __init__(self, gateway: Gateway, shutdown: trio.Event) -> None:
        self._gateway = gateway
        self._shutdown = shutdown
        self._open: Counter[str | None] = Counter()
        self._followers: set[Follower] = set()

    @property
    def open(self) -> int:
        return self._open.total()

    async def run(self) -> None:
        """End every stream when the service stops."""
        await self._shutdown.wait()
        for follower in self._followers:
            follower.close()

    def response(
        self, what: What, organization_id: str | None, position: str | None = None
    ) -> TrioResponse:
        """A stream of one organization, or with None of all; ``position`` is ``Last-Event-ID``.

        Raises:
            NotFound: no such organization.
            RateLimited: the organization has its maximum of streams.
            Overloaded: all organizations together have the maximum.
            Draining: the service stops.
        """
        # Imported here: a service whose pages nobody opened does without Quart.
        from quart_trio.wrappers import TrioResponse

        if (refusal := self._refusal(organization_id)) is not None:
            raise refusal
        if position is not None and len(position) > POSITION_CHARACTERS_MAX:
            position = ""  # no valid position: the stream begins with a reset
        follow = self._gateway.follow(what, organization_id, position)
        chunks = self._chunks(follow, what, organization_id)
        response = TrioResponse(chunks, content_type="text/event-stream")
        response.timeout = None
        response.headers["x-accel-buffering"] = "no"  # else nginx holds events back to join them
        return response

    def _refusal(self, organization_id: str | None) -> EngineError | None:
        if self._shutdown.is_set():
            return Draining()
        if self._open[organization_id] >= STREAMS_PER_ORGANIZATION_MAX:
            text = f"{STREAMS_PER_ORGANIZATION_MAX} such streams are already open. Close one first."
            return RateLimited("streams", AGAIN_S, text)
        if self.open >= STREAMS_MAX:
            return Overloaded("Too many streams are open. Close one first.")
        return None

    async def _chunks(
        self,
        follow: AbstractContextManager[Follower],
        what: What,
        organization_id: str | None,
    ) -> AsyncIterator[bytes]:
        # Counted only now, when the body begins: one that is never begun would not be counted down.
        if self._refusal(organization_id) is not None:
            return
        with follow as follower, self._counted(organization_id, follower):
            yield f"retry: {BACK_AFTER_MS}\n\n".encode()
            while True:
                chunk = b": alive\n\n"
                with trio.move_on_after(BEAT_S):
                    try:
                        chunk = _chunk(await anext(follower), what)
                    except StopAsyncIteration:
                        return
                yield chunk

    @contextmanager
    def _counted(self, organization_id: str | None, follower: Follower) -> Iterator[None]:
        self._open[organization_id] += 1
        self._followers.add(follower)
        try:
            yield
        finally:
            self._followers.discard(follower)
            self._open[organization_id] -= 1
            if not self._open[organization_id]:
                del self._open[organization_id]


def _chunk(item: Told, what: What) -> bytes:
    match item:
        case OutboxEvent():
            return f"id: {item.id}\nevent: event\ndata: {item.body}\n\n".encode()
        case LifeEvent():
            # If events are followed too, their ids are the reader's position, which an id here
            # would overwrite.
            position = "" if What.EVENTS in what else f"id: {item.at}\n"
            return f"{position}event: life\ndata: {_json(to_json(_change(item)))}\n\n".encode()
        case Lagged():
            return f"event: lagged\ndata: {_json({'lost': item.lost})}\n\n".encode()
        case Reset():
            return f"event: reset\ndata: {_json({'reason': item.reason})}\n\n".encode()
        case Ready():
            position = "" if item.at is None else f"id: {item.at}\n"
            return f"{position}event: ready\ndata: {{}}\n\n".encode()


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _change(event: LifeEvent) -> MessageChange:
    return MessageChange(
        event.at,
        event.message_id,
        event.organization_id,
        event.to,
        event.status,
        sentence(event),
        event.carrier,
        event.raw,
    )
