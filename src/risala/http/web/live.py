"""Pieces of a page that are drawn again on changes: server-sent events that htmx inserts.

A stream follows an organization, and after each change lets its page draw the changed pieces;
changes that come together are drawn together. A piece carries its id and ``hx-swap-oob``, so that
one message may bring several. Nothing waits for a slow reader: missed changes are drawn from the
current state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from typing import Final, Protocol

import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import (
    Draining,
    EngineError,
    Forbidden,
    Invalid,
    NotFound,
    Overloaded,
    RateLimited,
)
from risala.engine.model.following import OutboxEvent, Told

STREAMS_MAX: Final = 200
"""For all readers together; each holds a connection, and a queue of events in memory."""
STREAMS_PER_USER_MAX: Final = 12
"""Open pages of one reader."""
BEAT_S: Final = 15.0
"""A line is sent at least this often, so that either side notices when the other is gone."""
APART_S: Final = 0.5
"""The pause between two drawings: nobody can read faster changes."""
GATHERED_MAX: Final = 200
"""Changes that are passed to one drawing; if more, the current state is drawn, as after a gap."""
AGAIN_S: Final = 30
PIECE_END: Final = Markup("<!-- end of a piece -->")
_MARKS: Final = re.compile(r'<input type="hidden" name="(?:form_token|once)"[^>]*>')
"""Tokens of forms, which differ at each drawing but are equally valid."""
OVER: Final = b"event: over\ndata:\n\n"
"""The page closes the stream, and does not come back."""

Draw = Callable[[Sequence[LifeEvent | OutboxEvent] | None], Awaitable[str]]
"""Draws changes as HTML, empty if none is on the page; None: anything may have changed."""


class PageFollower(Protocol):
    """What a page's stream reads: events of the engine, or the state of a download."""

    async def __anext__(self) -> Told: ...

    def skip(self) -> None:
        """Drop the pending events: the reader looks at the current state."""

    def close(self) -> None: ...


class StreamReader(Protocol):
    """The reader of a stream."""

    @property
    def id(self) -> str: ...


class LiveStreams:
    """All streams of pages: counted, and ended with the sessions that they are for."""

    def __init__(
        self,
        shutdown: trio.Event,
        streams_max: int = STREAMS_MAX,
        per_reader_max: int = STREAMS_PER_USER_MAX,
    ) -> None:
        self._shutdown = shutdown
        self._streams_max, self._per_reader_max = streams_max, per_reader_max
        self._open: Counter[str] = Counter()
        self._followers: set[PageFollower] = set()
        self._apart: dict[str, LiveStreams] = {}

    def apart(self, kind: str, streams_max: int, per_reader_max: int) -> LiveStreams:
        """Streams of another kind, which have limits of their own and end with these."""
        if kind not in self._apart:
            streams = LiveStreams(self._shutdown, streams_max, per_reader_max)
            streams._followers = self._followers
            self._apart[kind] = streams
        return self._apart[kind]

    @property
    def open(self) -> int:
        return self._open.total()

    async def run(self) -> None:
        """End every stream when the service stops."""
        await self._shutdown.wait()
        for follower in self._followers:
            follower.close()

    def response(
        self,
        user_id: str,
        follow: AbstractContextManager[PageFollower],
        watch: AbstractContextManager[trio.Event],
        draw: Draw,
        *,
        beat_s: float = BEAT_S,
        by_time: bool = False,
        at_once: bool = False,
    ) -> TrioResponse:
        """A stream of pieces, until ``watch`` reports that its reader may see no more.

        ``by_time``: drawn with each beat too, for changes that cause no event; ``beat_s``: how
        often. ``at_once``: drawn as it begins too, for what changed while there was no stream.

        Raises:
            RateLimited, Overloaded: the reader has, or all readers have, the maximum of streams.
            Draining: the service stops.
        """
        if (refusal := self._refusal(user_id)) is not None:
            raise refusal
        response = TrioResponse(
            self._chunks(
                user_id, follow, watch, draw, beat_s=beat_s, by_time=by_time, at_once=at_once
            ),
            content_type="text/event-stream",
        )
        response.timeout = None
        response.headers["x-accel-buffering"] = "no"  # a proxy that waits for more shows nothing
        return response

    def _refusal(self, user_id: str) -> EngineError | None:
        if self._shutdown.is_set():
            return Draining()
        if self._open[user_id] >= self._per_reader_max:
            return RateLimited("streams", AGAIN_S, "There are too many pages open already.")
        if self.open >= self._streams_max:
            return Overloaded("Too many streams are open. Close one first.")
        return None

    async def _chunks(
        self,
        user_id: str,
        follow: AbstractContextManager[PageFollower],
        watch: AbstractContextManager[trio.Event],
        draw: Draw,
        *,
        beat_s: float,
        by_time: bool,
        at_once: bool,
    ) -> AsyncIterator[bytes]:
        if self._refusal(user_id) is not None:
            return
        with watch as ended, follow as follower:
            self._open[user_id] += 1
            self._followers.add(follower)
            try:
                drawn = _drawn(
                    follower, ended, draw, beat_s=beat_s, by_time=by_time, at_once=at_once
                )
                async with aclosing(drawn) as chunks:
                    async for chunk in chunks:
                        yield chunk
                # When the service stops the stream just ends, like a lost connection: the page
                # shows that, and reconnects when the service is back.
                if not self._shutdown.is_set():
                    yield OVER
            finally:
                self._followers.discard(follower)
                self._open[user_id] -= 1
                if not self._open[user_id]:
                    del self._open[user_id]


async def _drawn(
    follower: PageFollower,
    ended: trio.Event,
    draw: Draw,
    *,
    beat_s: float,
    by_time: bool,
    at_once: bool,
) -> AsyncGenerator[bytes]:
    yield b"retry: 2000\n\n"
    while not ended.is_set():
        events = [] if at_once else await _gather(follower, ended, beat_s)
        if events is None:
            break
        chunk = b": alive\n\n"
        changes = [each for each in events if isinstance(each, LifeEvent | OutboxEvent)]
        whole = len(changes) < len(events) or len(changes) > GATHERED_MAX or not events
        if events or by_time or at_once:
            at_once = False
            try:
                chunk = piece_chunk(await draw(None if whole else changes)) or chunk
            except (NotFound, Forbidden, Invalid):
                # The thing was deleted, is not the reader's, or the address was typed by hand: the
                # page shows that when loaded again.
                break
        yield chunk


async def _gather(follower: PageFollower, ended: trio.Event, beat_s: float) -> list[Told] | None:
    """The events of the next moment, empty where nothing happened; None: the end."""
    events: list[Told] = []
    over = False

    async def until_ended(scope: trio.CancelScope) -> None:
        nonlocal over
        await ended.wait()
        over = True
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(until_ended, nursery.cancel_scope)
        try:
            with trio.move_on_after(beat_s):
                events.append(await anext(follower))
            if events:
                with trio.move_on_after(APART_S):
                    while len(events) <= GATHERED_MAX:
                        events.append(await anext(follower))
                    # Events come faster than anybody reads: sleep for the rest of the time, then
                    # draw the events of that time together from the current state.
                    await trio.sleep_forever()
                if len(events) > GATHERED_MAX:
                    follower.skip()
        except StopAsyncIteration:
            over = not events  # events before the end are still drawn
        nursery.cancel_scope.cancel()
    return None if over else events


class Pieces:
    """The redrawn pieces that differ from the last time.

    A piece that a reader has opened, or is about to press, is left alone while it stays the same.
    """

    def __init__(self) -> None:
        self._seen: dict[int, str] = {}

    def fresh(self, drawn: str) -> str:
        """Pieces, each ended by :data:`PIECE_END`, without those already on the page."""
        changed = []
        for place, piece in enumerate(drawn.split(PIECE_END)):
            bare = _MARKS.sub("", piece)
            if self._seen.get(place) != bare:
                self._seen[place] = bare
                changed.append(piece)
        return "".join(changed)


def piece_chunk(html: str) -> bytes:
    """One message of a stream; empty without pieces."""
    if not html.strip():
        return b""
    lines = "".join(f"data: {line}\n" for line in html.splitlines() if line.strip())
    return f"{lines}\n".encode()
