"""Sends a credential's receivers what is pending: at least once, in order, from a cursor.

The cursor is a row, and moves only once the customer's software has accepted all before it. So only
the part that is being delivered is in memory, and a receiver that never answers cannot make it
grow. While no receiver is bound, the data waits on the disk.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import structlog
import trio

from risala.drivers.smpp.link import Link, LinkError, NoAnswerError, NotSentError
from risala.drivers.smpp.protocol.fields import FieldError
from risala.drivers.smpp.protocol.pdu import Pdu, response_to
from risala.drivers.smpp.protocol.status import status_of as row_of
from risala.engine.model.errors import Draining
from risala.engine.model.following import OwnEvent
from risala.smpp_server.owed import Owed, owed_for
from risala.smpp_server.session_registry import SmppAccount, SmppCounts
from risala.smpp_server.statuses import ESME_RSUBMITFAIL

if TYPE_CHECKING:
    from risala.engine.follow.cursors import EventCursor

log = structlog.get_logger("risala.smpp_server")

STRETCH: Final = 100
"""Events that are read at once; the next are read once these are taken, and the cursor moved."""
REFUSALS_MAX: Final = 10
"""Refusals of the kind "not now" after which a receipt or text is passed over: one that the
customer's software never takes must not keep back all others."""
REFUSED_WAIT_S: Final = 5.0
"""Seconds from such a refusal to the next try."""
_FAULT_WAIT_S: Final = 5.0
"""Seconds after a fault of ours before the stretch is read again."""
_NOT_NOW: Final = frozenset({0x08, 0x14, 0x58, 0x64})
"""RSYSERR, RMSGQFUL, RTHROTTLED and RX_T_APPN: temporary failures (§5.1.3)."""


class Receiver(Protocol):
    """A session that can receive receipts and texts."""

    @property
    def link(self) -> Link: ...

    @property
    def counts(self) -> SmppCounts: ...

    @property
    def receives(self) -> bool: ...

    def touch(self) -> None:
        """Note that the session is in use."""

    def leave(self, reason: str) -> None: ...


@dataclass(order=True, slots=True)
class _Errand:
    """A pending item that is on its way."""

    seq: int
    owed: Owed = field(compare=False)
    not_before_s: float = field(default=0.0, compare=False)
    refusals: int = field(default=0, compare=False)
    unanswered: int = field(default=0, compare=False)
    """The item's parts that have no answer yet."""
    status: int = field(default=0, compare=False)
    """The first refusal of one of its parts; 0: no refusal."""
    is_lost: bool = field(default=False, compare=False)
    """The link ended, or was silent, before a part was answered."""


class ReceiptSender:
    """The sender of one credential.

    Args:
        window_max: parts that may be on their way to one session.
        counts: of the whole server.
    """

    def __init__(
        self,
        account: SmppAccount,
        cursor: EventCursor[OwnEvent],
        *,
        window_max: int,
        counts: SmppCounts,
    ) -> None:
        self._account = account
        self._cursor = cursor
        self._window_max = window_max
        self._counts = counts
        self._receivers: dict[Receiver, int] = {}
        """Sessions, and how many parts are on their way to each; the next in turn first."""
        self._owed: list[_Errand] = []
        """The items that are not on their way yet, in order."""
        self._under_way = 0
        self._changed = trio.Event()

    def add(self, receiver: Receiver) -> None:
        """A session is bound that can receive pending data."""
        self._receivers[receiver] = 0
        self._changed.set()

    def remove(self, receiver: Receiver) -> None:
        """A session has ended."""
        self._receivers.pop(receiver, None)
        self._changed.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            try:
                await self._deliver_page()
            except Draining:
                return  # items after the saved cursor are sent again after the next start
            except Exception:
                log.exception("smpp_server.bug", system_id=self._account.system_id)
                self._owed.clear()
                self._cursor.rewind()
                await trio.sleep(_FAULT_WAIT_S)

    async def _deliver_page(self) -> None:
        while not self._receivers:
            await self._wait_change()
        events = await self._cursor.next(STRETCH)
        last = 0
        for event in events:
            last = event.seq
            owed = owed_for(event, self._account)
            if owed is not None:
                self._owed.append(_Errand(event.seq, owed))
        while self._owed or self._under_way:
            wait_s = self._send_what_may_go()
            await self._wait_change(wait_s)
        await self._cursor.keep(last)

    async def _wait_change(self, wait_s: float | None = None) -> None:
        with trio.move_on_after(float("inf") if wait_s is None else wait_s):
            await self._changed.wait()
        self._changed = trio.Event()

    def _send_what_may_go(self) -> float | None:
        """Send until windows are full; return the seconds until the first delayed item is due."""
        while self._owed:
            first = self._owed[0]
            wait_s = first.not_before_s - trio.current_time()
            if wait_s > 0:
                return wait_s
            receiver = self._next_receiver()
            if receiver is None:
                return None
            self._owed.pop(0)
            self._send(first, receiver)
        return None

    def _next_receiver(self) -> Receiver | None:
        """The next in turn that has room in its window."""
        for receiver, on_way in self._receivers.items():
            if receiver.receives and on_way < self._window_max:
                self._receivers[receiver] = self._receivers.pop(receiver)
                return receiver
        return None

    def _send(self, errand: _Errand, receiver: Receiver) -> None:
        """Send all its parts by one session, so that one client can join them."""
        errand.unanswered, errand.status, errand.is_lost = len(errand.owed.pdus), 0, False
        self._under_way += 1
        for pdu in errand.owed.pdus:
            self._receivers[receiver] = self._receivers.get(receiver, 0) + 1
            settle = partial(self._settle, errand, receiver)
            try:
                receiver.link.post(pdu, settle)
            except NotSentError as fault:
                settle(fault)
            except FieldError:  # a carrier wrote a number that has no place on the wire
                settle(response_to(pdu, ESME_RSUBMITFAIL))

    def _settle(self, errand: _Errand, receiver: Receiver, result: Pdu | LinkError) -> None:
        if receiver in self._receivers:
            self._receivers[receiver] -= 1
        if isinstance(result, LinkError):
            errand.is_lost = True
            self._let_go(receiver, result)
        else:
            receiver.touch()
            errand.status = errand.status or result.command_status
        errand.unanswered -= 1
        if not errand.unanswered:
            self._under_way -= 1
            self._finish(errand, receiver)
        self._changed.set()

    def _let_go(self, receiver: Receiver, fault: LinkError) -> None:
        """A session that did not answer gets nothing more."""
        self._receivers.pop(receiver, None)
        if isinstance(fault, NoAnswerError):
            receiver.leave("it did not answer what was delivered to it")

    def _finish(self, errand: _Errand, receiver: Receiver) -> None:
        if errand.is_lost:
            insort(self._owed, errand)
        elif not errand.status:
            self._count(receiver, delivered=1)
        elif errand.status in _NOT_NOW and errand.refusals < REFUSALS_MAX:
            errand.refusals += 1
            errand.not_before_s = trio.current_time() + REFUSED_WAIT_S
            insort(self._owed, errand)
        else:
            self._count(receiver, refused=1)
            log.warning(
                "smpp_server.not_taken",
                system_id=self._account.system_id,
                status=row_of(errand.status).name,
            )

    def _count(self, receiver: Receiver, *, delivered: int = 0, refused: int = 0) -> None:
        for counts in (receiver.counts, self._counts):
            counts.delivered += delivered
            counts.refused += refused


# The couriers of all credentials: each begins with its credential's first bind.


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
