"""Commands that run until somebody ends them."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def until_signal() -> AsyncIterator[None]:
    """Cancels what is within at SIGINT (Ctrl-C) or SIGTERM."""
    import trio

    async def end(scope: trio.CancelScope) -> None:
        async for _ in signals:
            scope.cancel()

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(end, nursery.cancel_scope)
            yield
            nursery.cancel_scope.cancel()
