"""A second machine beside a history: whatever ends the service, its copy is the database as it was
at one moment, and at none too long ago; it takes over with clean books, and sends nothing again.

What the database holds is noted at each turn of the WAL, by a reader of our own: so a copy is held
against what was committed, and not against what a shipper believes.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio
from tests.simulation.checks import pages

from risala.config.outward import StandbySection
from risala.engine.features.standby.stored.copy import CopyPosition, StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.piece_store import PieceDirectory, PieceStore
from risala.engine.features.standby.stored.shipper import AGAIN_S
from risala.engine.features.standby.stored.wal import WalTail
from risala.engine.wiring.foundation import DATABASE

if TYPE_CHECKING:
    from tests.simulation.pairs.log_on_loop import LogOnLoop
    from tests.simulation.world import World

HISTORIES = 4
"""In one of so many there is a standby."""
EVERY_S = 15.0
SERVES_S = 150.0
"""Longer than any uncertainty lasts before something is sent again."""
AGE_S = EVERY_S + 2 * AGAIN_S
"""So old a copy may be where nothing goes wrong."""
AWAY = "lost-directory"


def _copy_if_there(source: str, target: str) -> None:
    """A piece that a thread gives its last name at this instant has not come yet."""
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


class Standby:
    """The directory between two machines, and the copy on the other one."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.log: LogOnLoop | None = None
        """What answers wait for; None: they do not."""
        self.is_there = world.plan.seed % HISTORIES == 2
        self._directory = world.folder / "shipped"
        self._away = world.folder / "shipped.away"
        self._kept = world.folder / "kept.shipped"
        self._copy = StandbyCopy(world.folder / "second", PieceDirectory(self._directory))
        self._moments: dict[str, int] = {}
        """The database's pages at a turn → when, last, in wall milliseconds."""
        self._last: list[bytes] = []
        """Its pages at the last turn."""

    @property
    def store(self) -> PieceStore:
        """The second machine's way to it."""
        return self._copy.store

    @property
    def settings(self) -> StandbySection:
        if not self.is_there:
            return StandbySection()
        return StandbySection(directory=self._directory, every_s=EVERY_S)

    # -- what happens to the directory -------------------------------------------------------------

    async def trouble(self) -> None:
        """For a life: the directory is lost for a while, and the copy is looked at now and then."""
        if not self.is_there:
            return
        dice = self._world.plan.stream(f"standby {self._world.life}")
        while True:
            await trio.sleep(dice.choice((3, 20, 60)))
            is_lost, span_s = dice.random() < 0.3, dice.choice((1, 20, 90))
            if is_lost and self._world.plan.has(AWAY):
                self._world.say("the standby's directory is lost")
                self._directory.rename(self._away)
                try:
                    await trio.sleep(span_s)
                finally:
                    self.bring_back()
            elif not self._world.dead:
                self.look()

    def bring_back(self) -> None:
        if self._away.exists():
            self._away.rename(self._directory)

    def keep(self) -> None:
        """The files as they are at this instant: what a ghost ships never comes."""
        if self.is_there:
            shutil.rmtree(self._kept, ignore_errors=True)
            there = self._away if self._away.exists() else self._directory
            try:
                shutil.copytree(there, self._kept, copy_function=_copy_if_there)
            except shutil.Error as error:
                # A thread of the process may just delete a generation.
                if any("No such file" not in why for *_, why in error.args[0]):
                    raise

    def put_back(self) -> None:
        if self._kept.exists():
            shutil.rmtree(self._directory, ignore_errors=True)
            self._kept.rename(self._directory)

    def hold(self) -> None:
        """A life begins: the directory is there."""
        # Not with the settings: people read those while it is lost, and would make another one.
        if self.is_there:
            self._directory.mkdir(exist_ok=True)

    async def over(self) -> bool:
        """A life is over. Whether the history goes on with what there is now: not where what the
        second machine has may be less than what was answered."""
        return False

    def settled(self) -> None:
        """No answer waits for a directory."""

    def lost(self, reason: str) -> None:
        """Nobody takes the lease."""

    # -- what is looked at -------------------------------------------------------------------------

    def note(self) -> None:
        """The WAL was read: what is committed now is what is shipped."""
        if not self._world.dead:
            path = self._world.folder / DATABASE
            self._last = pages.committed(path)
            self._moments[pages.digest(self._last)] = self._world.now_ms()

    def look(self, *, is_fresh: bool = False) -> bool:
        """The second machine follows, and what it has is held against the first one.

        Args:
            is_fresh: nothing is in the way, so that the copy must be a young one.

        Returns:
            Whether it has something to take over with.
        """
        if not self.is_there:
            return False
        try:
            position = self._copy.follow(unheard)
        except (OSError, BadPiece) as error:
            self._world.fault(f"the standby cannot follow: {error}")
            return False
        age_ms = self._world.now_ms() - (0 if position is None else position.at)
        if is_fresh and age_ms > AGE_S * 1000:
            self._world.fault(f"the standby's copy is {age_ms / 1000:.0f} s old: {position}")
        try:
            return position is not None and self._is_as_it_was(position)
        except sqlite3.DatabaseError as error:
            self._world.fault(f"the standby's copy is broken: {error}")
            return False

    def _is_as_it_was(self, position: CopyPosition) -> bool:
        self._world.tally["looks at a standby"] += 1
        with closing(sqlite3.connect(self._settled())) as conn:
            (state,) = conn.execute("PRAGMA integrity_check").fetchone()
        if state != "ok":
            self._world.fault(f"the standby's copy is broken: {state}")
            return False
        return self._has(position)

    def _has(self, position: CopyPosition) -> bool:
        """Whether the copy is, page by page, the database at a turn, and at no earlier one than it
        says."""
        there = pages.of_file(self._copy.file)
        at_ms = self._moments.get(pages.digest(there))
        if at_ms is None:
            found = pages.differing(self._last, there)
            self._world.fault(f"LOST: the standby has what never was: {position}, {found}")
            return False
        self._world.tally["copies compared page by page"] += 1
        if at_ms < position.at and not self._world.clock_was_set:
            self._world.fault(f"LOST: the standby has {position.at - at_ms} ms less than it says")
        return True

    def last_copy(self) -> Path | None:
        """All that the second machine has, as a database to begin with; None: it has nothing."""
        return self._settled() if self.look() else None

    def _settled(self) -> Path:
        target = self._world.folder / "settled.db"
        self._copy.settled(target)
        return target


@contextmanager
def noting_turns(world: World) -> Iterator[None]:
    """Each time that the WAL is read for the standby, what is committed is noted."""
    really = WalTail.turn

    def turn(tail: WalTail, conn: sqlite3.Connection) -> None:
        really(tail, conn)
        world.standby.note()

    WalTail.turn = turn  # type: ignore[method-assign]
    try:
        yield
    finally:
        WalTail.turn = really  # type: ignore[method-assign]


def unheard(*_: Any) -> None:
    pass
