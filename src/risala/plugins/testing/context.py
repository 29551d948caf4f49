"""A :class:`~risala.plugins.contract.DriverContext` that records what a driver reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import trio

from risala.plugins.contract import (
    RECEIPTS_SOON_MAX,
    Health,
    HealthState,
    Inbound,
    NotStoredError,
    Outcome,
    Receipt,
    Segment,
)


class RecordingContext:
    """Everything a driver reported, in order, and ways to wait for it. Bring your own deadline.

    Set :attr:`refusals` to refuse as many of the next receipts and inbound messages with
    :class:`~risala.plugins.contract.NotStoredError`, :attr:`note_refusals` for as many notes, and
    :attr:`gate` to make them all wait.
    """

    def __init__(self, carrier: str = "carrier") -> None:
        self._carrier = carrier
        self.receipts: list[Receipt] = []
        self.inbounds: list[Inbound] = []
        self.calls: list[str | None] = []
        """Numbers of callers; None: withheld."""
        self.late: list[tuple[Segment, Outcome]] = []
        self.reachables: list[str] = []
        """Numbers of phones that can be reached again."""
        self.healths: list[Health] = []
        self.traces: list[str] = []
        self.wire: list[tuple[bool, str]] = []
        """Lines of traffic; True: sent."""
        self.fetches: list[Segment] = []
        """Segments that the carrier fetched."""
        self.fetch_refusals = 0
        """How many of the next calls of :meth:`fetched` find all segments withdrawn."""
        self.notes: dict[str, str] = {}
        """What the driver remembers; hand it to the next context to play a restart."""
        self.secrets: dict[str, str] = {}
        """What it remembers sealed; hand it on likewise."""
        self.came_through: tuple[str, ...] = ()
        """The services that each message came through, with this one."""
        self.refusals = 0
        self.note_refusals = 0
        self.refused = 0
        """Receipts, inbound messages and notes that were refused so far."""
        self.gate: trio.Event | None = None
        self.held = 0
        """Calls that wait at :attr:`gate` now."""
        self._changed = trio.Event()
        self._unwritten = 0

    @property
    def carrier(self) -> str:
        return self._carrier

    async def receipt(self, receipt: Receipt) -> None:
        await self._store()
        self._refuse()
        self.receipts.append(receipt)
        self._change()

    def receipt_soon(self, receipt: Receipt, stored: Callable[[bool], None]) -> None:
        if self._unwritten >= RECEIPTS_SOON_MAX:
            raise NotStoredError
        self._unwritten += 1
        trio.lowlevel.spawn_system_task(self._receive, receipt, stored)

    async def _receive(self, receipt: Receipt, stored: Callable[[bool], None]) -> None:
        is_stored = True
        try:
            await self.receipt(receipt)
        except NotStoredError:
            is_stored = False
        self._unwritten -= 1
        stored(is_stored)

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        keys = tuple(forget)
        await self._store()
        self._refuse()
        self.inbounds.append(message)
        for key in keys:
            self.secrets.pop(key, None)
        self._write(dict.fromkeys(keys))

    async def call(self, number: str | None) -> None:
        await self._store()
        self._refuse()
        self.calls.append(number)
        self._change()

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        await self._remember(dict(notes), {})

    def recall(self, prefix: str = "") -> dict[str, str]:
        return _under(prefix, self.notes)

    async def remember_secret(
        self, secrets: Mapping[str, str | None], *, notes: Mapping[str, str | None] | None = None
    ) -> None:
        await self._remember(dict(notes or {}), dict(secrets))

    def recall_secret(self, prefix: str = "") -> dict[str, str]:
        return _under(prefix, self.secrets)

    async def _remember(
        self, notes: Mapping[str, str | None], secrets: Mapping[str, str | None]
    ) -> None:
        await self._store()
        if self.note_refusals:
            self.note_refusals -= 1
            raise NotStoredError
        _put(self.secrets, secrets)
        self._write(notes)

    def _write(self, notes: Mapping[str, str | None]) -> None:
        _put(self.notes, notes)
        self._change()

    def hops(self, message_id: str) -> tuple[str, ...]:
        return self.came_through

    async def fetched(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        await self._store()
        left = () if self.fetch_refusals else tuple(segments)
        self.fetch_refusals = max(0, self.fetch_refusals - 1)
        self.fetches += left
        self._change()
        return left

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        await trio.lowlevel.checkpoint()
        self.late.append((segment, outcome))
        self._change()

    async def reachable(self, number: str) -> None:
        await trio.lowlevel.checkpoint()
        self.reachables.append(number)
        self._change()

    def health(self, health: Health) -> None:
        self.healths.append(health)
        self._change()

    def trace(self, text: str) -> None:
        self.traces.append(text)
        self._change()

    def traffic(self, sent: bool, tell: Callable[..., str], *values: object) -> None:
        self.wire.append((sent, tell(*values)))

    async def wait_until(self, condition: Callable[[RecordingContext], bool]) -> None:
        """Return once ``condition(self)`` holds; it is evaluated at each report of the driver."""
        while not condition(self):
            await self._changed.wait()

    async def wait_health(self, state: HealthState) -> Health:
        """The newest health, once its state is this."""
        await self.wait_until(lambda it: bool(it.healths) and it.healths[-1].state is state)
        return self.healths[-1]

    async def wait_receipts(self, count: int) -> list[Receipt]:
        """All receipts so far, once there are at least ``count``."""
        await self.wait_until(lambda it: len(it.receipts) >= count)
        return self.receipts

    async def _store(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            self.held += 1
            self._change()
            try:
                await self.gate.wait()
            finally:
                self.held -= 1

    def _refuse(self) -> None:
        if self.refusals:
            self.refusals -= 1
            self.refused += 1
            self._change()
            raise NotStoredError

    def _change(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()


def _under(prefix: str, kept: Mapping[str, str]) -> dict[str, str]:
    return {key: kept[key] for key in sorted(kept) if key.startswith(prefix)}


def _put(kept: dict[str, str], written: Mapping[str, str | None]) -> None:
    for key, text in written.items():
        if text is None:
            kept.pop(key, None)
        else:
            kept[key] = text
