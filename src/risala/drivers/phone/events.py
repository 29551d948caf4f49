"""The stream of events by which a phone learns at once that there is something for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import trio

from risala.plugins.answering import SendPart

ENQUEUED: Final = "MessageEnqueued"
"""A message is to be fetched."""
CANCELLED: Final = "MessageCancelled"
WEBHOOKS: Final = "WebhooksUpdated"
SETTINGS: Final = "SettingsUpdated"
KEEP_ALIVE_S: Final = 240.0
"""Seconds after which a phone is asked to look, though there may be nothing: that it does so shows
that it lives. Below the five minutes in which a stream has to send something."""


class PhoneEvents:
    """All open streams of one phone.

    Args:
        changed: called when a stream opened or ended.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._streams: set[_OpenStream] = set()

    @property
    def is_open(self) -> bool:
        """Whether the phone listens, as far as the connection tells."""
        return bool(self._streams)

    def tell(self, event: str, message_id: str = "") -> None:
        """Tell the phone of something; at once if it listens, else it looks when it connects.

        Args:
            message_id: the message that it is about.
        """
        for stream in self._streams:
            stream.tell(event, message_id)

    def close(self) -> None:
        """End all streams: the phone connects again."""
        for stream in self._streams:
            stream.close()

    async def write(self, send: SendPart) -> None:
        """Send events to a phone that has just connected, until the stream ends."""
        stream = _OpenStream()
        for event in (SETTINGS, WEBHOOKS, ENQUEUED):  # it may have missed any of them
            stream.tell(event, "")
        self._streams.add(stream)
        self._changed()
        try:
            await stream.run(send)
        finally:
            self._streams.discard(stream)
            self._changed()


class _OpenStream:
    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], None] = {}
        self._wake = trio.Event()
        self._is_closed = False

    def tell(self, event: str, message_id: str) -> None:
        self._waiting[event, message_id] = None  # what waits already is told once
        self._wake.set()

    def close(self) -> None:
        self._is_closed = True
        self._wake.set()

    async def run(self, send: SendPart) -> None:
        while not self._is_closed:
            with trio.move_on_after(KEEP_ALIVE_S) as silence:
                await self._wake.wait()
            if silence.cancelled_caught:
                self.tell(ENQUEUED, "")
            self._wake = trio.Event()
            waiting, self._waiting = self._waiting, {}
            if waiting:
                await send(b"".join(_written(*each) for each in waiting))


def _written(event: str, message_id: str) -> bytes:
    data = json.dumps({"messageId": message_id} if message_id else {})
    return f"event: {event}\ndata: {data}\n\n".encode()
