"""One speaker, many listeners, none of whom can hold the speaker up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import trio

from risala.engine.model.told import Lagged

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
        if self._lost:  # the oldest are those that went
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
    """Publishes to whoever listens at that moment; loop thread only."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[T], None]] = {}

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def publish(self, value: T) -> None:
        """Never blocks; with a full subscription its oldest value goes."""
        for listener in self._listeners.values():
            listener(value)

    @contextmanager
    def hear(self, listener: Callable[[T], None]) -> Iterator[None]:
        """Have ``listener`` called with each value inside the block; it is quick, never raises."""
        token = object()
        self._listeners[token] = listener
        try:
            yield
        finally:
            del self._listeners[token]

    @contextmanager
    def subscribe(self, values_max: int) -> Iterator[Subscription[T]]:
        """Listen inside the block; at most ``values_max`` (at least 1) values wait to be read."""
        if values_max < 1:
            raise ValueError("values_max must be at least 1")
        subscription = Subscription[T](values_max)
        with self.hear(subscription.push):
            yield subscription
