"""The couriers of all credentials: each begins with its credential's first bind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio

from risala.engine.model.following import OwnEvent
from risala.smpp_server.receipt_sender import ReceiptSender, Receiver
from risala.smpp_server.session_registry import SmppAccount, SmppCounts

if TYPE_CHECKING:
    from risala.engine.follow.cursors import EventCursor


class ReceiptSenders:
    """Starts missing receipt senders, and adds receivers to them.

    Args:
        open_cursor: a credential's place among the events: the saved one, else now.
        forget_cursor: nothing is pending for a credential any longer.
        window_max: parts that may be on their way to one session.
        counts: of the whole server.
    """

    def __init__(
        self,
        open_cursor: Callable[[SmppAccount], Awaitable[EventCursor[OwnEvent]]],
        forget_cursor: Callable[[SmppAccount], Awaitable[None]],
        *,
        window_max: int,
        counts: SmppCounts,
    ) -> None:
        self._open_cursor = open_cursor
        self._forget_cursor = forget_cursor
        self._window_max = window_max
        self._counts = counts
        self._running: dict[str, tuple[ReceiptSender, trio.CancelScope]] = {}
        self._opening = trio.Lock()
        self._nursery: trio.Nursery | None = None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Deliver until cancelled."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    async def prepare(self, account: SmppAccount) -> None:
        """Collect events for a credential from now on, even before one of its receivers is bound.

        Raises:
            Unavailable: it could not be written.
        """
        async with self._opening:
            if account.credential_id in self._running:
                return
            cursor = await self._open_cursor(account)
            courier = ReceiptSender(
                account,
                cursor,
                window_max=self._window_max,
                counts=self._counts,
            )
            scope = trio.CancelScope()
            self._running[account.credential_id] = courier, scope
            assert self._nursery is not None, "couriers run before anybody may bind"
            self._nursery.start_soon(self._keep_running, courier, scope)

    def add(self, account: SmppAccount, receiver: Receiver) -> None:
        """A session is bound that can receive its credential's data."""
        self._running[account.credential_id][0].add(receiver)

    def remove(self, account: SmppAccount, receiver: Receiver) -> None:
        """A session has ended."""
        if account.credential_id in self._running:
            self._running[account.credential_id][0].remove(receiver)

    async def forget(self, account: SmppAccount) -> None:
        """A credential was revoked.

        Raises:
            Unavailable: it could not be written.
        """
        running = self._running.pop(account.credential_id, None)
        if running is not None:
            running[1].cancel()
            await self._forget_cursor(account)

    async def _keep_running(self, courier: ReceiptSender, scope: trio.CancelScope) -> None:
        with scope:
            await courier.run()
