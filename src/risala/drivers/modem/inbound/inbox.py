"""Inbound messages of a modem: read from its storage or its line, stored, and only then deleted.

Nothing is deleted from the modem and nothing is acknowledged to the network before the engine has
it on disk.
"""

from __future__ import annotations

from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.at.engine import Urc
from risala.drivers.modem.at.fields import number, values
from risala.drivers.modem.at.lines import ResultKind
from risala.drivers.modem.inbound.assembly import digest_of
from risala.drivers.modem.inbound.intake import ModemIntake, is_report, written_s
from risala.drivers.modem.ready.start import Facts
from risala.drivers.modem.ready.storage import Place, Storage, Stored, Usage
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.tpdu.pdu import PduError
from risala.plugins.contract import DriverContext

_QUEUE_MAX: Final = 256
_TIDY_S: Final = 60.0
_ROOM_S: Final = 30.0
_BEHIND_S: Final = 10.0
"""How long a send waits for earlier inbound messages."""
_ACKNOWLEDGE_S: Final = 8.0
"""The network's own timer is not much longer. A modem that is acknowledged later stops handing
messages straight to the port (27.005 §3.4.4)."""
_REPORTS: Final = "SR"
"""The storage of status reports (27.005 §3.2.2)."""
_NOT_EXPECTED: Final = 340


@dataclass(frozen=True, slots=True)
class _Announced:
    """``+CMTI`` or ``+CDSI``: a message or a report lies in the storage."""

    place: Place
    is_report: bool = False


@dataclass(frozen=True, slots=True)
class _Direct:
    """``+CMT`` or ``+CDS``: a message or a report came straight to the port, with its PDU."""

    urc: Urc


@dataclass(frozen=True, slots=True)
class _Room:
    made: trio.Event


_Job = _Announced | _Direct | _Room | None


class ModemInbox:
    """Receives from one modem, as long as its port stays open."""

    def __init__(
        self,
        context: DriverContext,
        asker: Asker,
        facts: Facts,
        intake: ModemIntake,
    ) -> None:
        self._context = context
        self._asker = asker
        self._facts = facts
        self._intake = intake
        self._storage = Storage(asker, facts.storage)
        self._current: Urc | None = None
        self._unreadable: set[tuple[Place, str]] = set()
        self._kept: set[tuple[Place, str]] = set()
        """Messages that were handed over and that the modem would not delete, by place and digest:
        they are not handed over once more."""
        self._sweep_wanted = True
        self._announced: list[_Announced] = []
        """What the next sweep should find in the current storage."""
        self._put, self._take = trio.open_memory_channel[_Job](_QUEUE_MAX)
        self._idle = trio.Event()
        """Set while nothing waits to be read or stored."""

    # -- notifications from others -------------------------------------------------------------

    def on_urc(self, urc: Urc) -> None:
        """Take an unsolicited result code. Never waits."""
        fields = values(urc.text)
        job: _Job = None
        if urc.name in ("+CMTI", "+CDSI"):
            index = number(fields[1]) if len(fields) > 1 else None
            if index is not None:
                job = _Announced((fields[0].upper(), index), urc.name == "+CDSI")
        elif urc.pdu is not None:
            job = _Direct(urc)
        else:
            return
        if self._idle.is_set():
            self._idle = trio.Event()
        try:
            self._put.send_nowait(job)
        except trio.WouldBlock:
            self._sweep_wanted = True
            self._context.trace("Too much came at once; what lies in the storage is read later.")

    async def poll(self) -> Usage | None:
        """Read the storage if it holds unannounced messages; returns how full it was, or None if
        the modem does not report it."""
        usage = await self._storage.usage()
        if usage is None or usage.used or self._sweep_wanted:
            self.sweep_soon()
        return usage

    def sweep_soon(self) -> None:
        self._sweep_wanted = True
        if self._put.statistics().current_buffer_used == 0:
            self._put.send_nowait(None)

    async def make_room(self) -> None:
        """Free the storage: the modem does not even send while it is full."""
        room = _Room(trio.Event())
        with trio.move_on_after(_ROOM_S):
            await self._put.send(room)
            await room.made.wait()

    async def catch_up(self) -> None:
        """Wait until inbound messages are stored, or for ten seconds. Sends without a pause, each
        of which causes a report, would leave too few turns of the line for reading."""
        with trio.move_on_after(_BEHIND_S):
            await self._idle.wait()

    def leftovers(self) -> list[Urc]:
        """Lines that came straight from the network and are not on disk yet: they exist nowhere
        else, so the next session must take them."""
        lines = [self._current] if self._current is not None else []
        while True:
            try:
                job = self._take.receive_nowait()
            except trio.WouldBlock:
                return lines
            if isinstance(job, _Direct):
                lines.append(job.urc)

    # -- its life ------------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve as long as the modem answers; raises LinkError when it does not."""
        await self._intake.hand_over()
        kept = [name for name in self._facts.storages if name in ("SM", "ME", _REPORTS)]
        await self._sweep(*(name for name in kept if name != self._facts.storage))
        while True:
            if self._sweep_wanted:
                await self._sweep()
            if not self._take.statistics().current_buffer_used:
                self._idle.set()
            job: _Job = None
            with trio.move_on_after(_TIDY_S):
                job = await self._take.receive()
            await self._handle(job)
            await self._intake.end_waiting()

    async def _handle(self, job: _Job) -> None:
        match job:
            case _Announced(place):
                if place[0] in ("", self._facts.storage):
                    self._announced.append(job)
                    self._sweep_wanted = True
                else:
                    await self._read_announced(job)
            case _Direct(urc):
                self._current = urc
                began_s = trio.current_time()
                fields = values(urc.text)
                octets = number(fields[-1]) if fields else None
                await self._received(Stored(("", -1), urc.pdu or "", octets))
                self._current = None
                await self._acknowledge(trio.current_time() - began_s)
            case _Room(made):
                await self._sweep()
                made.set()
            case None:
                pass

    async def _read_announced(self, announced: _Announced) -> None:
        """Read one place by its index. A report that is not there lies in the storage of reports:
        some modems announce it in the storage of messages, where another message may lie."""
        name, index = announced.place
        places = [(name or self._facts.storage, index)]
        if announced.is_report and _REPORTS in self._facts.storages and name != _REPORTS:
            places.append((_REPORTS, index))
        for place in places:
            stored = await self._storage.read(place)
            if stored is not None:
                await self._received(stored)
                if is_report(stored.pdu, stored.tpdu_octets) or not announced.is_report:
                    return

    async def _sweep(self, *others: str) -> None:
        """Read all that the current storage lists, and other ones."""
        self._sweep_wanted = False
        announced, self._announced = self._announced, []
        listed, reports = await self._read_all(*others, self._facts.storage)
        for each in announced:
            # Some modems list no message at place 0, or a text where they announce a report.
            if each.place[1] not in (reports if each.is_report else listed):
                await self._read_announced(each)
        usage = await self._storage.usage()
        if usage is not None and usage.is_tight:
            await self._clear()

    async def _read_all(self, *storages: str) -> tuple[set[int], set[int]]:
        """Read all that storages list, in the order of the texts' own times, whatever their places;
        the places of the current storage where something was, and those of reports."""
        listed = [stored for name in storages for stored in await self._storage.list(name)]
        # Some modems list the same messages under two names: of those the last counts.
        once = {each.pdu: each for each in listed}.values() if len(storages) > 1 else listed
        for stored in sorted(once, key=lambda each: written_s(each.pdu, each.tpdu_octets)):
            await self._received(stored)
        here = [each for each in listed if each.place[0] == self._facts.storage]
        reports = {each.place[1] for each in here if is_report(each.pdu, each.tpdu_octets)}
        return {each.place[1] for each in here}, reports

    async def _received(self, stored: Stored) -> None:
        """One PDU, from the storage or straight from the network (index -1)."""
        place = stored.place if stored.place[1] >= 0 else None
        digest = digest_of(stored.pdu)
        if place is not None and (place, digest) in self._kept:
            await self._delete(place, digest)
            return
        try:
            if await self._intake.take(stored.pdu, stored.tpdu_octets):
                await self._delete(place, digest)
        except PduError as fault:
            self._unread(place, digest, str(fault))

    def _unread(self, place: Place | None, digest: str, reason: str) -> None:
        if place is None:
            self._context.trace(f"A message came that cannot be read: {reason}.")
        elif (place, digest) not in self._unreadable:
            self._unreadable.add((place, digest))
            self._context.trace(
                f"The message at {place[0]} {place[1]} cannot be read and is left there: {reason}."
            )

    async def _delete(self, place: Place | None, digest: str) -> None:
        if place is None:
            return
        if await self._storage.delete(place):
            self._kept.discard((place, digest))
        elif (place, digest) not in self._kept:
            self._kept.add((place, digest))
            self._context.trace(f"The modem does not delete the message at {place[0]} {place[1]}.")

    async def _acknowledge(self, took_s: float) -> None:
        """+CNMA (27.005 §3.4.4); without it the network stops sending."""
        routing = self._facts.routing
        if not routing.acknowledges:
            return
        answer = await self._asker.try_("AT+CNMA")
        late = answer is not None and not answer.result.ok
        if late and answer is not None and answer.result.kind is ResultKind.CMS:
            late = answer.result.code != _NOT_EXPECTED
        if routing.text and (late or took_s > _ACKNOWLEDGE_S):
            # After a missing acknowledgement the modem may have turned its announcements off.
            await self._asker.ok(f"AT+CNMI={routing.text}")

    # -- keeping order in the storage --------------------------------------------------------------

    async def _clear(self) -> None:
        """Make room: the storage is nearly full of unreadable messages."""
        for place, digest in sorted(self._unreadable):
            self._context.trace(f"The unreadable message at {place[0]} {place[1]} is deleted.")
            await self._delete(place, digest)
        self._unreadable.clear()
