"""The simulator's end of a connection, with the faults that networks and peers have."""

from __future__ import annotations

import trio


class Wire(trio.abc.Stream):
    """A stream that may fall silent, and may send in small pieces.

    Args:
        piece_octets: the most octets to send at once; None sends all.
        piece_after_s: from one piece to the next.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        *,
        piece_octets: int | None = None,
        piece_after_s: float = 0.0,
    ) -> None:
        self._stream = stream
        self._piece_octets = piece_octets
        self._piece_after_s = piece_after_s
        self.is_deaf = False
        """Read, and send nothing from now on."""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self.is_deaf:
            await trio.lowlevel.checkpoint()
            return
        size = self._piece_octets
        if size is None:
            await self._stream.send_all(data)
            return
        for at in range(0, len(data), size):
            await self._stream.send_all(data[at : at + size])
            await trio.sleep(self._piece_after_s)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()
