"""A pair of machines with PostgreSQL between them, in a history: in some of them answers wait for
it, in others they do not.

The tables are a model of PostgreSQL's (``programs/memory_standby.py``). They are cut off,
refuse a statement before or after it is done, and lose their last pieces. Where answers wait, the
second machine takes over at the end of a life, or in the middle of one; it goes on with what it
has, and so does the history: what was answered before is held against it as if nothing had been.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import trio
from tests.simulation.checks import pages
from tests.simulation.checks.standby import EVERY_S, Standby, unheard
from tests.simulation.pairs.log_on_loop import LogOnLoop
from tests.simulation.plan import Plan

from programs.memory_standby import MemoryLease, MemoryPieces, MemoryTables
from risala.config.outward import StandbySection
from risala.engine.features.standby import named_stores
from risala.engine.features.standby.lease import LeaseMemory, held, remember
from risala.engine.features.standby.named_stores import pieces_of
from risala.engine.features.standby.stored import awaited_log
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.piece_store import PieceStore
from risala.engine.features.standby.stored.pieces import EncodedPiece
from risala.engine.features.standby.takeover import Takeover, TakeoverReport
from risala.engine.journal.audit.books import audit_file
from risala.engine.wiring.foundation import DATABASE

if TYPE_CHECKING:
    from tests.simulation.world import World

TERM_S = 30
ANSWER_WAIT_S = 1.0
"""So short that some in each history are told that nobody knows."""
COMPARED = 0.05
"""The chance that the copy is compared, page by page, after a commit."""
TAKES_OVER = 0.6
"""The chance that the second machine takes over when a life is over."""
AWAY, REFUSES, LOSES, USURPED, ORDERS = (
    "lost-directory",
    "refused-pieces",
    "lost-pieces",
    "usurped",
    "async-orders",
)


def is_awaited(plan: Plan) -> bool:
    """Whether answers wait in it."""
    return plan.seed % 4 == 0


def has_pair(plan: Plan) -> bool:
    return is_awaited(plan) or plan.seed % 8 == 3


class PairPieces(MemoryPieces):
    """The way of one process to the tables; of a ghost nothing comes there."""

    def __init__(self, pair: Pair) -> None:
        super().__init__(pair.tables, partial(held, pair.folder), self._look)
        self._pair, self._life = pair, pair.world.life

    def _look(self) -> None:
        if self._pair.world.gone(self._life):
            raise OSError("Nothing of a ghost comes there.")
        self._pair.reach()

    def add(self, piece: EncodedPiece) -> None:
        self._perhaps(partial(super().add, piece))

    def publish(self, *given: Any, **named: Any) -> None:
        self._perhaps(partial(super().publish, *given, **named))

    def note(self, *given: Any) -> None:
        self._perhaps(partial(super().note, *given))

    def mark_awaited(self, *, awaited: bool) -> None:
        if not self._pair.world.gone(self._life):  # a ghost would try again for ever
            self._perhaps(partial(super().mark_awaited, awaited=awaited))

    def _perhaps(self, work: Callable[[], None]) -> None:
        """Refused before it is done, or afterwards, when nobody knows."""
        how = self._pair.refusals.pop() if self._pair.refusals else None
        self._look()
        if how == "before":
            raise OSError("It refuses.")
        work()
        if how == "after":
            raise OSError("The connection is lost.")


class Pair(Standby):
    """The tables between two machines, and the copy on the second one."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.world, self.folder = world, world.folder
        self.is_there, self.awaits = True, is_awaited(world.plan)
        self.tables = MemoryTables()
        self.refusals: list[str] = []
        """What the next statements get: ``before`` or ``after``."""
        self._away_until_s = 0.0
        self._second = world.folder / "second"
        follower = MemoryPieces(self.tables, partial(held, self._second), self.reach)
        self._copy = StandbyCopy(self._second, follower)
        self._dice = world.plan.stream("pair")
        self._spoilt = ""
        """The generation that has lost pieces: until the next one stands, something is missing."""
        self._had_all = False
        """At the end of the last life, the tables had whatever was written."""
        self._taken: tuple[TakeoverReport, list[int]] | None = None
        """A takeover while the first machine lived, and how much carriers had taken then."""
        self.log: LogOnLoop | None = None

    @property
    def settings(self) -> StandbySection:
        how = "before_answer" if self.awaits else "async"
        given: dict[str, Any] = {"copy": "postgresql", "lease": "postgresql", "replicate": how}
        return StandbySection(**given, every_s=EVERY_S, answer_wait_s=ANSWER_WAIT_S)

    def reach(self) -> None:
        if trio.current_time() < self._away_until_s:
            raise OSError("It does not answer.")

    def silence(self, span_s: float) -> None:
        self._away_until_s = trio.current_time() + span_s

    async def reachable(self) -> None:
        await trio.sleep_until(self._away_until_s)

    def hold(self) -> None:
        """A life begins; the first one takes the lease."""
        self._had_all = False
        if self.tables.lease is None:
            MemoryLease(self.tables).take("one", TERM_S, 0, self.world.now_ms(), 1)
            remember(self.folder, LeaseMemory("one", 1, serves=True))

    # -- what happens to the tables ----------------------------------------------------------------

    async def trouble(self) -> None:
        """For a life: one thing after the other."""
        world = self.world
        dice = world.plan.stream(f"standby {world.life}")
        self.refusals.clear()
        while True:
            await trio.sleep(dice.choice((0.5, 2, 8, 20)))
            kind = dice.choice((AWAY, AWAY, REFUSES, LOSES, USURPED, ORDERS, "look", "look"))
            span_s, way = dice.choice((1, 4, 20)), dice.random()
            if kind == "look" or not world.plan.has(kind):
                if not world.dead:
                    self.look()
                continue
            match kind:
                case "lost-directory":
                    world.say("PostgreSQL does not answer", span_s)
                    self.silence(span_s)
                case "refused-pieces":
                    self.refusals += ["before", "after"] if way < 0.3 else ["after"]
                case "lost-pieces" if self.awaits:
                    self._lose(way)
                case "usurped" if self.awaits and way < 0.5 and self._may_take_over():
                    world.say("the second machine takes over while the first one lives")
                    self._taken = self._take_over(), [len(c.taken) for c in world.ways]
                    world.tally["takeovers beside a living machine"] += 1
                    return
                case "async-orders" if self.awaits and self.log is not None:
                    await self._order(span_s)

    def _lose(self, way: float) -> None:
        current, shipped = self.tables.current, self.tables.shipped
        if current is not None and shipped is not None and not self.world.dead:
            self.world.say("a failover loses the last pieces")
            self.tables.lose(current.generation, int(shipped.number * way))
            self._spoilt = current.generation

    async def _order(self, span_s: float) -> None:
        """An operator lets answers go without waiting, for a while."""
        log = self.log
        assert log is not None
        try:
            log.go_async()
        except awaited_log.OrderRefused as refused:
            self.world.say("answers go on waiting", refused)
            return
        self.world.tally["orders to go on alone"] += 1
        await trio.sleep(span_s)
        log.go_before_answer()

    @property
    def _lacks(self) -> bool:
        current = self.tables.current
        return current is not None and current.generation == self._spoilt

    def keep(self) -> None:
        """The process dies: what it has put is there."""
        self._had_all = self.log is not None and self.log.has_all
        if self.log is not None:
            self.log.end_soon()  # else a ghost that begins would wait for it for ever

    def put_back(self) -> None:
        pass

    def bring_back(self) -> None:
        pass

    def lost(self, reason: str) -> None:
        """The process was told that another machine has the lease: it ends."""
        self.world.say("the process ends", reason)
        self.world.end_life()

    # -- what is looked at -------------------------------------------------------------------------

    def settled(self) -> None:
        """A commit is about to be answered: the database is as it was at that commit."""
        if self._dice.random() < COMPARED and not self.world.dead:
            self._compare()

    def look(self, *, is_fresh: bool = False) -> bool:
        if trio.current_time() < self._away_until_s:
            return False
        return super().look(is_fresh=is_fresh)

    def _has(self, position: Any) -> bool:
        return self._compare() if self.awaits else super()._has(position)

    def _compare(self) -> bool:
        """The copy, page by page, with the database as it is at this moment."""
        log, world = self.log, self.world
        if log is None or not log.has_all or self._lacks or self._taken is not None:
            return True
        if trio.current_time() < self._away_until_s or self._copy.follow(unheard) is None:
            return True
        world.tally["copies compared page by page"] += 1
        there = pages.of_file(self._copy.file)
        if found := pages.differing(pages.committed(world.folder / DATABASE), there):
            world.fault(f"LOST: the copy is not the database: {found}")
            return False
        return True

    # -- takeovers ---------------------------------------------------------------------------------

    def _may_take_over(self) -> bool:
        """Whether the second machine has all that was answered, and can be asked."""
        is_reached = trio.current_time() >= self._away_until_s
        return is_reached and self.tables.awaited and not self._lacks and not self.world.dead

    async def over(self) -> bool:
        """A life is over. Whether the history goes on with what the second machine has."""
        if not self.awaits:
            await self.reachable()
            return False
        if not self.world.dead:
            self.keep()
        self.log = None
        if self._taken is None:
            await self.reachable()
            self.world.dead = False
            if self._dice.random() > TAKES_OVER or not self._may_take_over():
                return self.tables.awaited  # else it may lack answers: the history forks
            self._is_last_there()
            self._taken = self._take_over(), [len(each.taken) for each in self.world.ways]
        (report, taken), self._taken = self._taken, None
        self._hold_against(report.restored.database, taken)
        self._adopt(report)
        return True

    def _take_over(self) -> TakeoverReport:
        self._second.mkdir(exist_ok=True)
        for key in self.folder.glob("*.key"):  # operators put them there
            shutil.copy2(key, self._second)
        takeover = Takeover(
            copy=self._copy,
            data_dir=self._second,
            database=self._second / DATABASE,
            lease=MemoryLease(self.tables, self.reach),
            term_s=TERM_S,
            clock=self.world.clock,
            progress=unheard,
        )
        self.refusals.clear()
        done = takeover.run(primary_is_dead=True, resend_pending=False)
        self.world.tally["takeovers of a pair"] += 1
        if not done.has_all:
            self.world.fault("LOST: answers waited, and the takeover does not rely on it")
        return done

    def _is_last_there(self) -> None:
        """Where nothing was under way, the copy has the last page of the first machine's disk."""
        assert self._copy.follow(unheard) is not None
        there = pages.of_file(self._copy.file)
        found = pages.differing(pages.committed(self.folder / DATABASE), there)
        if found and self._had_all:
            self.world.fault(f"LOST: the copy is not the disk of the first machine: {found}")
        self.world.tally["takeovers without a last unanswered batch"] += bool(found)

    def _hold_against(self, database: Path, taken: list[int]) -> None:
        """The second machine knows whatever was answered, and each segment that has left, even
        those that left the first one afterwards: an attempt is there before its segment leaves."""
        with closing(sqlite3.connect(database)) as conn:
            rows = dict(conn.execute("SELECT id, attempts FROM message"))
        for message_id in set(self.world.accepted) - set(rows):
            self.world.fault(f"LOST: {message_id} was answered before the takeover")
        for carrier, count in zip(self.world.ways, taken, strict=True):
            for at, each in enumerate(carrier.taken):
                if not rows.get(each.segment.message_id):
                    when = "before" if at < count else "after"
                    what = f"{each.segment.message_id} left {when} the takeover"
                    self.world.fault(f"DOUBLED: {what}, which does not know of it")
        for fault in audit_file(database).faults:
            self.world.fault(f"after a takeover the audit says: {fault}")

    def _adopt(self, report: TakeoverReport) -> None:
        """From here on the second machine is the first one, with its database. The files beside
        it, of exports and of lists that are read, are where both machines see them."""
        database = self.folder / DATABASE
        for old in self.folder.glob(f"{DATABASE}*"):
            old.unlink()
        report.restored.database.rename(database)
        shutil.copy2(self._second / "lease.json", self.folder)
        shutil.rmtree(self._second)
        self.world.stops.begin(database)
        self.world.say("the second machine goes on")


@contextmanager
def paired(world: World) -> Iterator[None]:
    """The engine's way to PostgreSQL is that to the model, and its log goes by the mock clock."""
    pair = world.standby
    if not isinstance(pair, Pair):
        yield
        return

    def pieces(section: StandbySection, folder: Path) -> PieceStore | None:
        is_ours = section.copy_kind == "postgresql"
        return PairPieces(pair) if is_ours else pieces_of(section, folder)

    def log(*given: Any, **named: Any) -> LogOnLoop:
        pair.log = LogOnLoop(world, world.plan.stream(f"log {world.life}"), *given, **named)
        return pair.log

    with ExitStack() as stack:
        stack.enter_context(patch.object(named_stores, "pieces_of", pieces))
        stack.enter_context(patch.object(awaited_log, "AwaitedLog", log))
        yield


def standby_of(world: World) -> Standby:
    return Pair(world) if has_pair(world.plan) else Standby(world)
