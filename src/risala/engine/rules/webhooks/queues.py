"""Which endpoint is delivered to next: each in turn, however many deliveries each has due.

Attempts have slots, in two pools. Endpoints that answer at once share the first pool. Those whose
last attempt failed or was slow share the second, so that a hundred dead endpoints take nothing from
the others. The number of parallel attempts to one endpoint grows with each success, and is one
after a failure.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import field
from typing import Final

from risala.dataclass import dataclass

FIRST_WIDTH: Final = 2
"""Parallel attempts to a new endpoint."""
SPARE: Final = 64
"""Times that are over, beyond twice the number of endpoints: with fewer it is not worth removing
them."""


@dataclass(slots=True)
class EndpointQueue:
    """One endpoint's place in the round."""

    endpoint_id: str
    prompt: bool = True
    width: int = FIRST_WIDTH
    in_flight: dict[int, bool] = field(default_factory=dict)
    """The deliveries that are being attempted, each with whether its slot is of the first pool."""
    queued: bool = False
    due_at: int | None = None
    """When to look at the endpoint, while nothing is due there; None while it is in the round."""


@dataclass(frozen=True, slots=True)
class Widths:
    """The number of parallel attempts: in each pool, and to one endpoint."""

    per_endpoint: int
    prompt: int
    patient: int


class Lanes:
    """The places of all endpoints; see the module's text."""

    def __init__(self, widths: Widths) -> None:
        self._widths = widths
        self._lanes: dict[str, EndpointQueue] = {}
        self._sleeping: list[tuple[int, str]] = []
        self._round: dict[bool, deque[EndpointQueue]] = {True: deque(), False: deque()}
        self._room = {True: widths.prompt, False: widths.patient}

    def __len__(self) -> int:
        return len(self._lanes)

    @property
    def in_flight(self) -> int:
        return self._widths.prompt + self._widths.patient - sum(self._room.values())

    def expect(self, endpoint_id: str, due_at: int, *, prompt: bool = True) -> None:
        """Note that a delivery to an endpoint is due at this time."""
        lane = self._lanes.get(endpoint_id)
        if lane is None:
            width = FIRST_WIDTH if prompt else 1
            lane = self._lanes[endpoint_id] = EndpointQueue(endpoint_id, prompt, width)
        self._sleep(lane, due_at)

    def _sleep(self, lane: EndpointQueue, due_at: int) -> None:
        if not lane.queued and (lane.due_at is None or due_at < lane.due_at):
            lane.due_at = due_at
            heapq.heappush(self._sleeping, (due_at, lane.endpoint_id))
            if len(self._sleeping) > 2 * len(self._lanes) + SPARE:
                self._forget_stale()

    def _forget_stale(self) -> None:
        """Forget times at which queues are no longer looked at, because they were looked at before.

        Each event to an endpoint with a failed delivery leaves the time of its retry behind, up to
        a day ahead: without this a busy endpoint would fill the memory until then.
        """
        self._sleeping = [
            (lane.due_at, lane.endpoint_id)
            for lane in self._lanes.values()
            if lane.due_at is not None
        ]
        heapq.heapify(self._sleeping)

    def next_due(self) -> int | None:
        """When to look at the next endpoint with nothing due yet; None: none."""
        while self._sleeping and not self._current(*self._sleeping[0]):
            heapq.heappop(self._sleeping)
        return self._sleeping[0][0] if self._sleeping else None

    def _current(self, due_at: int, endpoint_id: str) -> bool:
        lane = self._lanes.get(endpoint_id)
        return lane is not None and lane.due_at == due_at

    def take(self, now_ms: int) -> EndpointQueue | None:
        """The queue whose turn it is. Follow with :meth:`start` or :meth:`rest`."""
        while (due_at := self.next_due()) is not None and due_at <= now_ms:
            lane = self._lanes[heapq.heappop(self._sleeping)[1]]
            lane.due_at = None
            self._queue(lane)
        for pool in (True, False):
            while self._room[pool] and self._round[pool]:
                lane = self._round[pool].popleft()
                lane.queued = False
                if lane.prompt is not pool:  # the endpoint changed pools while it waited in line
                    self._queue(lane)
                    return self.take(now_ms)
                if len(lane.in_flight) < lane.width:
                    return lane
        return None

    def _queue(self, lane: EndpointQueue) -> None:
        if not lane.queued:
            lane.queued = True
            self._round[lane.prompt].append(lane)

    def start(self, lane: EndpointQueue, seq: int) -> None:
        """A delivery of this queue is being attempted; the queue goes to the end of the round."""
        lane.in_flight[seq] = lane.prompt
        self._room[lane.prompt] -= 1
        self._queue(lane)

    def rest(self, lane: EndpointQueue, due_at: int | None) -> None:
        """The queue has nothing due before ``due_at``, or with None nothing."""
        if due_at is not None:
            self._sleep(lane, due_at)
        elif not lane.in_flight and lane.prompt:
            del self._lanes[lane.endpoint_id]

    def finish(self, lane: EndpointQueue, seq: int, *, ok: bool, prompt: bool) -> None:
        """An attempt is over: look at the queue again."""
        self._room[lane.in_flight.pop(seq)] += 1
        lane.width = min(lane.width + 1, self._widths.per_endpoint) if ok else 1
        lane.prompt = ok and prompt
        lane.due_at = None
        self._queue(lane)

    def leave(self, lane: EndpointQueue, seq: int, due_at: int) -> None:
        """An attempt was not made after all, which shows nothing about the endpoint."""
        self._room[lane.in_flight.pop(seq)] += 1
        self._sleep(lane, due_at)
