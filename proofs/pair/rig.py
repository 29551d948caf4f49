"""The pair with all that is around it, and one strike after another."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import trio

from bad_machine import Call, built
from patience import HANG_S
from processes import Process
from proofs.pair.books import PairTally, Phones, hold_books, missing, open_messages, sent_by_two
from proofs.pair.databases import Databases
from proofs.pair.load import Customers
from proofs.pair.machines import PORT, Machine
from proofs.pair.neighbours import CARRIER_PORT, NGINX, Smsc
from proofs.pair.network import Network
from proofs.pair.strikes import EITHER_WAY, STRIKES, Scene
from proofs.process.faces import leaves

WHOLE_S: Final = 120.0
"""Where the pair has not come back by then, it does not."""
SETTLE_S: Final = 60.0
QUIET_S: Final = 2.0
"""Of load between two strikes, when all is whole."""
BALANCE: Final = 100_000_000
_LOOK_S: Final = 0.1


class PairBroken(Exception):
    """It did not come back by itself; ``str()`` says what was waited for."""


FAULTS: Final = (AssertionError, OSError, ValueError, subprocess.SubprocessError)
"""Why a strike cannot be played: commands around the pair that fail, or take too long."""


@dataclass
class Struck:
    """One strike, and what came of it."""

    name: str
    outage_s: float
    """From the strike to the next answer that says yes."""
    taken_over: bool
    from_s: float = 0.0


@dataclass
class Rig:
    """Everything; :meth:`run` plays it."""

    place: Path
    mode: str
    seed: int
    tell: Callable[[int, Struck, PairTally, int], None]
    tally: PairTally = field(default_factory=PairTally)
    struck: list[Struck] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    phones: Phones = field(default_factory=Phones)
    aside: Counter[str] = field(default_factory=Counter)
    version: str = ""
    syncs_failed: int = 0
    customers: Customers = field(default_factory=lambda: Customers("", {}, {}))
    unplayed: list[str] = field(default_factory=list)
    """Strikes that could not be played to their end, with the reason."""
    stuck: list[str] = field(default_factory=list)
    """Strikes after which the pair did not come back by itself in time: its processes were started
    again."""
    is_interrupted: bool = False
    is_over: bool = False
    """The books were held."""

    async def run(self, kills: int, span_s: float) -> None:
        """
        A signal to end (Ctrl-C) ends the strikes: the books of those until then are held. A second
        one ends everything.

        Args:
            span_s: after which no strike comes any more.

        Raises:
            PairBroken: it did not come back, even with its processes started again.
        """
        self._ends: list[Callable[[], object]] = []
        try:
            await trio.to_thread.run_sync(self._open)
            await trio.to_thread.run_sync(self._furnish)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.customers.run)
                with trio.CancelScope() as strikes:
                    ears = await nursery.start(self._hear, strikes, nursery.cancel_scope)
                    await self._strikes(kills, span_s)
                if self.is_interrupted:
                    await self._repair()
                await self._whole("the last strike")
                self.customers.stop()
                ears.cancel()
            await self._settled()
            await trio.to_thread.run_sync(self._books)
            self.is_over = True
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._close)

    async def _hear(
        self,
        strikes: trio.CancelScope,
        everything: trio.CancelScope,
        *,
        task_status: trio.TaskStatus[trio.CancelScope],
    ) -> None:
        """Wait for signals to end."""
        with (
            trio.CancelScope() as scope,
            trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
        ):
            task_status.started(scope)
            async for _ in signals:
                (everything if self.is_interrupted else strikes).cancel()
                self.is_interrupted = True

    async def _strikes(self, kills: int, span_s: float) -> None:
        chance, names = random.Random(self.seed), list(STRIKES)
        until_s = time.monotonic() + span_s
        await self._whole()
        for number in range(kills):
            if time.monotonic() > until_s:
                return
            await trio.sleep(QUIET_S)
            await self._strike(names[number % len(names)], number, chance)

    async def _repair(self) -> None:
        """Everything that a strike may have left undone."""
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._put_right)

    def _put_right(self) -> None:
        for machine in self.machines:
            self.network.join(machine.name)
            machine.bad.set_clock(0)
            machine.bad.mend(Call.SYNC)
            machine.signal(signal.SIGCONT)
            machine.go()
        self.network.mend()
        with suppress(*FAULTS):  # if it stays broken, the pair does not become whole, and says so
            self.databases.put_right()

    # -- all that is there

    def _open(self) -> None:
        self.network = Network()
        self._ends.append(self.network.end)
        self.databases = Databases(self.network, self.place)
        self._ends.append(self.databases.end)
        self.version = self.databases.version
        self.smsc = Smsc(self.network, self.place)
        self._ends.append(self.smsc.end)
        library = built(self.place)
        more = {"carrier": self.network.address("carrier"), "carrier_port": CARRIER_PORT}
        self.machines = []
        for name in ("one", "two"):
            given = (self.network, name, self.place, library, self.databases.url)
            self.machines.append(Machine(*given, mode=self.mode, **more))
            self._ends.append(self.machines[-1].end)
        self._front()

    def _front(self) -> None:
        at = {each.name: f"{each.address}:{PORT}" for each in self.machines}
        file = self.place / "nginx.conf"
        file.write_text(NGINX.format(place=self.place, **at))
        command = ["nginx", "-c", str(file), "-e", str(self.place / "nginx.log")]
        front = subprocess.Popen(self.network.inside("front", command))
        self._ends.append(lambda: (front.terminate(), front.wait(HANG_S)))
        url = f"http://{self.network.address('front')}"
        self.customers = Customers(url, {}, {where: name for name, where in at.items()})

    def _furnish(self) -> None:
        one, two = self.machines
        done = one.command("standby", "init")
        assert done.returncode == 0, done.stderr
        first = self._first(one)
        account = one.service().organization(f"{BALANCE // 100}")
        self.customers.headers = account.headers
        one.share_key(two)
        first.signal(signal.SIGTERM)
        first.wait_exit()
        one.go()
        self._until(lambda: one.serves, "the first machine serves")
        two.go()

    def _first(self, one: Machine) -> Process:
        """The service as it is started for the first time."""
        where = ("--config", str(one.config), "--data", str(one.data))
        given = [sys.executable, "-m", "risala", "serve", *where]
        process = Process(self.network.inside("one", given), one.folder, **one._environment)
        process.wait_line(lambda line: line.startswith("Risala is running at "))
        return process

    def _until(self, is_so: Callable[[], bool], what: str, span_s: float = WHOLE_S) -> None:
        until_s = time.monotonic() + span_s
        while not is_so():
            if time.monotonic() > until_s:
                raise PairBroken(f"not within {span_s:g} s: {what}")
            time.sleep(_LOOK_S)

    def _close(self) -> None:
        for end in reversed(self._ends):
            with suppress(Exception):
                end()

    # -- one strike

    async def _whole(self, name: str = "") -> None:
        """Until one machine serves, the other follows closely, and PostgreSQL has its replica.

        Args:
            name: of the strike before. If they do not come back after it, that is counted, and
                the processes are started again.
        """
        last = await self._lacks_for(WHOLE_S)
        if last is not None and name:
            self.stuck.append(f"after {name}: {last}")
            await self._repair()
            for machine in self.machines:
                machine.signal(signal.SIGKILL)
            last = await self._lacks_for(2 * WHOLE_S)
        if last is not None:
            raise PairBroken(f"the pair is not whole again after {WHOLE_S:g} s: {last}")

    async def _lacks_for(self, span_s: float) -> str | None:
        """What is still not whole after so long; None: it is."""
        until_s = time.monotonic() + span_s
        while (last := await trio.to_thread.run_sync(self._lacks)) is not None:
            if time.monotonic() > until_s:
                return last
            await trio.sleep(_LOOK_S)
        return None

    def _lacks(self) -> str | None:
        serving = [each for each in self.machines if each.serves]
        following = [each for each in self.machines if each.follows]
        if len(serving) != 1 or len(following) != 1:
            return f"{len(serving)} serve, {len(following)} follow"
        if time.monotonic() - self.customers.last_s > 1:
            return "customers get no answer"
        with suppress(AssertionError):
            told = self.databases.sql(
                "SELECT s.generation, s.number, l.epoch, l.released, g.epoch = l.epoch"
                " FROM risala_standby.shipped s JOIN risala_standby.lease l USING (installation)"
                " JOIN risala_standby.generation g ON g.name = s.generation"
            )
            generation, number, epoch, released, fresh = told.split("|")
            position = following[0].position
            if released == "t" or fresh != "t":
                return "the primary has not shipped a copy of its own"
            if position is None or position[0] != generation or position[1] < int(number) - 20:
                return f"the standby is at {position} of {told}"
            query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            if self.databases.primary.sql(query) != "1":
                return "PostgreSQL has no synchronous replica"
            self.primary, self.standby, self.epoch = serving[0], following[0], int(epoch)
            return None
        return "PostgreSQL does not answer"

    async def _strike(self, name: str, number: int, chance: random.Random) -> None:
        old, new, epoch = self.primary, self.standby, self.epoch
        await trio.to_thread.run_sync(self._read_phones)
        since = len(self.phones.order)
        scene = Scene(self.network, self.databases, old, new, chance, number)
        began_s, answers = time.monotonic(), {**self.customers.answered}
        struck = Struck(name, 0.0, taken_over=False)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(STRIKES[name], scene)
                with trio.move_on_after(WHOLE_S):
                    while self.customers.answered == answers:  # noqa: ASYNC110 -- what others do
                        await trio.sleep(0.02)
        except* FAULTS as group:
            first, *_ = leaves(group)
            self.unplayed.append(f"{number + 1}, {name}: {type(first).__name__}: {first}"[:300])
            struck.name = f"{name}, NOT PLAYED to its end"
            await self._repair()
        await self._whole(name)
        struck.taken_over = self.primary is new
        of = self.customers.accepted()
        later = [each for each in of if each.by == (new if struck.taken_over else old).name]
        struck.outage_s = self._outage(began_s, later)
        if self.epoch > epoch:
            await trio.to_thread.run_sync(self._after_takeover, name, epoch)
        for old_, new_ in ((old.name, new.name),) if struck.taken_over else ():
            await trio.to_thread.run_sync(self._read_phones)
            for found in sent_by_two(self.phones, since, old_, new_):
                self.tally.fault("by_two", f"{found} left {old_} after {new_} had begun ({name})")
        self._tidy()
        self.struck.append(struck)
        self.tell(number + 1, struck, self.tally, len(of))

    def _outage(self, began_s: float, later: list[Any]) -> float:
        """The longest span without a yes since the strike."""
        began_ms = int((time.time() - (time.monotonic() - began_s)) * 1000)
        times = sorted(each.at_ms for each in self.customers.accepted() if each.at_ms >= began_ms)
        spans = [b - a for a, b in zip([began_ms, *times], times, strict=False)]
        return max(spans, default=0) / 1000

    def _after_takeover(self, name: str, epoch: int) -> None:
        told = self.primary.took_over(epoch)
        before = None if told is None else int(told["copy_of"])
        for each in missing(self.primary.data / "risala.db", self.customers.accepted()):
            if each.id is None or each.id in self.lost:
                continue
            self.lost.add(each.id)
            in_time = before is not None and each.at_ms <= before and name not in EITHER_WAY
            if self.mode != "async" or in_time:
                text = f"{each.word} {each.id}, answered at {each.at_ms}, copy of {before}"
                self.tally.fault("lost", f"{text} ({name})")
            else:
                self.tally.late += 1

    def _read_phones(self) -> None:
        self.phones.read(self.smsc.told())

    def _tidy(self) -> None:
        """What was set aside is counted, and takes no room."""
        for machine in self.machines:
            while machine.aside:
                self.aside.update(machine.aside.pop()["rest"] or {})
            for path in machine.data.glob("risala.db.before-*"):
                path.unlink(missing_ok=True)

    # -- the end

    async def _settled(self) -> None:
        path = self.primary.data / "risala.db"
        with trio.move_on_after(SETTLE_S):
            while await trio.to_thread.run_sync(open_messages, path):  # noqa: ASYNC110 -- a file
                await trio.sleep(0.5)

    def _books(self) -> None:
        self._read_phones()
        given = (self.customers.asked, self.lost, self.phones, self.tally)
        self.syncs_failed = sum(each.bad.hits(Call.SYNC) for each in self.machines)
        hold_books(self.primary.data / "risala.db", *given)
