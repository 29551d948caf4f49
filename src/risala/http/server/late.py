"""Plain paths that answer at once, and behind them an app that is made when it is first asked.

Whoever only sends messages never asks for a page. The pages, and Quart below them, are 25 MiB and
half a second of a start: a service has them from the first request on that no plain path answers.
That request waits for them; they are made in a thread, beside everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import trio

from risala.http.common.failed_keys import AnswerTally
from risala.http.common.plain import PlainRoutes

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

    from risala.http.common.base import JsonApp


class LateApp:
    """An ASGI app, and the paths before it; see the module."""

    def __init__(self, plain: PlainRoutes, make: Callable[[PlainRoutes], JsonApp]) -> None:
        """
        Args:
            plain: the paths that are answered without the app.
            make: makes the app, which has these paths too; called once, in a thread.
        """
        self.plain = plain
        self._make = make
        self._app: JsonApp | None = None
        self._making = trio.Lock()
        self._made = trio.Event()

    @property
    def tally(self) -> AnswerTally:
        """The answers so far."""
        return self.plain.tally

    @property
    def is_made(self) -> bool:
        """Whether anybody has asked for the app."""
        return self._app is not None

    def now(self) -> JsonApp:
        """The app, made in this task if need be: for a caller that must know all its paths."""
        if self._app is None:
            self._app = self._make(self.plain)
            self._made.set()
        return self._app

    def answers_at(self, path: str) -> bool:
        """Whether a path already has a handler."""
        return self.now().answers_at(path)

    async def attend(self, shutdown: trio.Event) -> None:
        """Run what the app has running beside requests, once it is made. Returns after
        ``shutdown``."""

        async def give_up(scope: trio.CancelScope) -> None:
            await shutdown.wait()
            scope.cancel()

        async with trio.open_nursery() as waiting:
            waiting.start_soon(give_up, waiting.cancel_scope)
            await self._made.wait()
            waiting.cancel_scope.cancel()
        if self._app is not None:
            await self._app.attend()

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        app = self._app or await self._later()
        await app(scope, receive, send)

    async def _later(self) -> JsonApp:
        async with self._making:
            if self._app is None:
                self._app = await trio.to_thread.run_sync(self._make, self.plain)
                self._made.set()
            return self._app
