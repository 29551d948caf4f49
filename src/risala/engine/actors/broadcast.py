"""One publisher and many listeners, none of which can block the publisher."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import trio

from risala.engine.model.following import Lagged

T = TypeVar("T")


class Subscription(Generic[T]):
    """An endless async iterator over what is published, for one task."""

    def __init__(self, values_max: int) -> None:
        self._values: deque[T] = deque()
        self._values_max = values_max
        self._lost = 0
        self._arrived = trio.Event()

    def __aiter__(self) -> Subscription[T]:
        return self

    async def __anext__(self) -> T | Lagged:
        await trio.lowlevel.checkpoint()
        while not self._values:
            self._arrived = trio.Event()
            await self._arrived.wait()
        if self._lost:  # the oldest values were dropped: the gap is before the present ones
            lagged, self._lost = Lagged(self._lost), 0
            return lagged
        return self._values.popleft()

    def push(self, value: T) -> None:
        if len(self._values) == self._values_max:
            self._values.popleft()
            self._lost += 1
        self._values.append(value)
        self._arrived.set()


class Broadcast(Generic[T]):
    """Publishes to the present listeners; loop thread only."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[T], None]] = {}

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def publish(self, value: T) -> None:
        """Give a value to every listener; never blocks. A full subscription drops its oldest
        value."""
        for listener in self._listeners.values():
            listener(value)

    @contextmanager
    def hear(self, listener: Callable[[T], None]) -> Iterator[None]:
        """Within the block, call ``listener`` with each value; it must be quick and never raise."""
        token = object()
        self._listeners[token] = listener
        try:
            yield
        finally:
            del self._listeners[token]

    @contextmanager
    def subscribe(self, values_max: int) -> Iterator[Subscription[T]]:
        """Within the block, keep up to ``values_max`` (at least 1) values until they are read."""
        if values_max < 1:
            raise ValueError("values_max must be at least 1")
        subscription = Subscription[T](values_max)
        with self.hear(subscription.push):
            yield subscription
