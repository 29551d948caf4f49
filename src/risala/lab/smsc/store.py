"""The simulator's store: actions that are due later, and receipts until an ESME takes them.

Real SMSCs store and forward: receipts and messages for an ESME that is not bound wait for it.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import trio

from risala.drivers.smpp.link import Link, LinkError, NotSentError
from risala.drivers.smpp.protocol.pdu import AlertNotification, DataSm, DeliverSm, Pdu
from risala.drivers.smpp.protocol.session import LocalProtocolError
from risala.sms.receipt import ReceiptState

_ATTEMPTS_MAX: Final = 10
"""Refusals by the ESME after which a receipt or message is dropped."""


class Timetable:
    """Calls actions when they are due: one task for all, however many wait."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._sooner = trio.Event()

    def after(self, wait_s: float, action: Callable[[], None]) -> None:
        self._order += 1
        entry = (trio.current_time() + wait_s, self._order, action)
        heapq.heappush(self._heap, entry)
        if self._heap[0] is entry:
            self._sooner.set()

    async def run(self) -> None:
        while True:
            now = trio.current_time()
            while self._heap and self._heap[0][0] <= now:
                heapq.heappop(self._heap)[2]()
            self._sooner = trio.Event()
            due = self._heap[0][0] if self._heap else float("inf")
            with trio.move_on_at(due):
                await self._sooner.wait()


@dataclass(slots=True)
class StoredDelivery:
    """A receipt, or a part of a message from a phone."""

    pdu: DeliverSm | DataSm
    message_id: str = ""
    state: ReceiptState | None = None
    """The state in a receipt; None: it is no receipt."""
    refusals: int = 0


class Account:
    """One ``system_id``: its waiting items, and its links that can take them."""

    def __init__(
        self,
        system_id: str,
        *,
        window_max: int,
        retry_s: float,
        to_last: bool = False,
        timetable: Timetable,
        on_answer: Callable[[str, StoredDelivery, int], None],
        on_gone: Callable[[], None],
    ) -> None:
        self.system_id = system_id
        self.receivers: list[Link] = []
        self._window_max = window_max
        self._retry_s = retry_s
        self._to_last = to_last
        self._timetable = timetable
        self._on_answer = on_answer
        self._on_gone = on_gone
        self._waiting: deque[StoredDelivery] = deque()
        self._in_flight = 0

    def put(self, kept: StoredDelivery) -> None:
        self._waiting.append(kept)
        self.pump()

    def alert(self, alert: AlertNotification) -> bool:
        """Send an alert, which has no answer, on one of the links; False: no link."""
        for link in reversed(self.receivers):
            try:
                octets = link.session.send(alert)
            except LocalProtocolError:  # it takes its leave
                continue
            link.write_soon(octets)
            return True
        return False

    def pump(self) -> None:
        """Send as far as the window allows; called after each change."""
        while self._waiting and self.receivers and self._in_flight < self._window_max:
            kept = self._waiting.popleft()
            link = self.receivers.pop(-1 if self._to_last else 0)
            try:
                link.post(kept.pdu, partial(self._settle, kept))
            except NotSentError:
                self._waiting.appendleft(kept)
            else:
                self._in_flight += 1
                self.receivers.append(link)

    def _settle(self, kept: StoredDelivery, result: Pdu | LinkError) -> None:
        self._in_flight -= 1
        if isinstance(result, LinkError):
            self._waiting.appendleft(kept)  # the link failed, not the ESME: it is sent again first
        else:
            self._on_answer(self.system_id, kept, result.command_status)
            kept.refusals += 1
            if not result.command_status or kept.refusals >= _ATTEMPTS_MAX:
                self._on_gone()
            else:
                self._timetable.after(self._retry_s, lambda: self.put(kept))
        self.pump()
