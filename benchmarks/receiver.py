"""Endpoints of webhooks: ``python -m benchmarks.receiver PORT``. The path says how it behaves."""

from __future__ import annotations

import sys
from functools import partial

import trio

_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def _serve(stream: trio.SocketStream) -> None:
    waiting = b""
    while True:
        head, found, rest = waiting.partition(b"\r\n\r\n")
        if found:
            _, _, after = head.lower().partition(b"content-length:")
            length = int(after.split(b"\r\n")[0] or 0)
            if len(rest) >= length:
                waiting = rest[length:]
                if head.startswith(b"POST /never"):
                    await trio.sleep_forever()
                if head.startswith(b"POST /slow"):
                    await trio.sleep(10)
                if head.startswith(b"POST /usual"):
                    await trio.sleep(0.005)
                await stream.send_all(_OK)
                continue
        chunk = await stream.receive_some(65536)
        if not chunk:
            return
        waiting += chunk


async def _one(stream: trio.SocketStream) -> None:
    try:
        await _serve(stream)
    except trio.BrokenResourceError:
        pass
    finally:
        await trio.aclose_forcefully(stream)


if __name__ == "__main__":
    trio.run(partial(trio.serve_tcp, _one, int(sys.argv[1]), host="127.0.0.1"))
