"""The machine below the engine: its disk, its clock, its power, and bugs that come out of nowhere.

A kill keeps the files as they are at that instant; the engine that runs on after it is a ghost,
whom nobody outside hears. So a kill may come at any step of any task, before a commit and after it.
"""

from __future__ import annotations

import inspect
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from risala.engine.features.compat import credentials
from risala.engine.model.clock import TrioClock
from risala.engine.wiring.foundation import DATABASE

if TYPE_CHECKING:
    from tests.simulation.world import World

HOUR_MS = 3_600_000
FOLDERS = ("exports", "mailings")
"""Of files, beside the database."""
PARTS = ("", "-wal")
"""Of the database; what is shared in memory is gone with the process."""


Dice = random.Random


class SimulatedBug(Exception):
    """A bug of nobody's, in whatever was running."""


@contextmanager
def no_threads() -> Iterator[None]:
    """What a thread would do is done at once: while one works, the clock would run on to whatever
    waits next, and no history would be the same twice."""

    known = cache(credentials._slow)

    async def at_once(work: Callable[..., object], *given: Any, **_: object) -> object:
        await trio.lowlevel.checkpoint()
        # A fifth of a history would be spent on hashing the same passwords slowly.
        done = known(*given) if work is credentials._slow else work(*given)
        return await done if inspect.isawaitable(done) else done

    really = trio.to_thread.run_sync
    trio.to_thread.run_sync = at_once  # type: ignore[assignment]
    try:
        yield
    finally:
        trio.to_thread.run_sync = really


class WorldClock:
    """The clock on the wall, which somebody may set."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._clock = TrioClock()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        self._world.bugs.strike()
        return self.read_ms()

    def read_ms(self) -> int:
        """What it shows to somebody beside the engine, whom no bug strikes."""
        return self._clock.now_ms() + self.ahead_ms


class Killer(trio.abc.Instrument):
    """After so many steps of tasks the process is no more."""

    def __init__(self, world: World, after_steps: int | None) -> None:
        self._world = world
        self._left = after_steps

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._world.tally["steps"] += 1
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self._world.die("kills-at-steps")


class Bugs:
    """Raises once out of the clock, in a task of the engine's that was chosen before."""

    def __init__(self) -> None:
        self.wanted: str | None = None
        """The name of what the supervisor runs."""
        self.struck = 0

    def strike(self) -> None:
        if self.wanted is None or self.wanted not in _lineage(trio.lowlevel.current_task()):
            return
        name, self.wanted = self.wanted, None
        self.struck += 1
        raise SimulatedBug(f"a bug in {name}")


def supervised() -> list[str]:
    """The names of what the supervisor runs at this moment."""
    root = trio.lowlevel.current_root_task()
    assert root is not None
    found, waiting = [], [root]
    while waiting:
        task = waiting.pop()
        if getattr(task.coro, "__name__", "") == "_supervise":
            found.append(task.name)
        for nursery in task.child_nurseries:
            waiting += nursery.child_tasks
    return sorted(found)


def _lineage(task: trio.lowlevel.Task | None) -> list[str]:
    found = []
    while task is not None:
        if getattr(task.coro, "__name__", "") == "_supervise":
            found.append(task.name)
        nursery = task.parent_nursery
        task = None if nursery is None else nursery.parent_task
    return found


def storage_error(code: int, text: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


class WorldConnection(sqlite3.Connection):
    """The writer's connection: each commit is looked at, and may be the last."""

    disk: WorldDisk

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql == "commit":
            return self.disk.commit(lambda: super(WorldConnection, self).execute(sql), self)
        if sql == "begin immediate":
            self.disk.refuse()
        elif sql == "pragma synchronous = full":
            sql = "pragma synchronous = off"  # a kill copies the files: no plug is pulled
        return super().execute(sql, *parameters)

    def rollback(self) -> None:
        self.disk.world.watch.rolled_back()
        super().rollback()


class WorldDisk:
    """See :class:`risala.engine.journal.store.watched.SimulatedDisk`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.full = False
        self.slow_s = 0.0
        self.sync_breaks: str | None = None
        """How the next sync fails: ``lost``, or ``kept`` with a power cut right after."""
        self.kill_at: tuple[str, int] | None = None
        """``before`` or ``after`` the so-manieth commit from now on."""

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:
        conn = WorldConnection(*arguments, **options)
        conn.disk = self
        self.world.watch.begin(conn)
        return conn

    async def begin(self) -> None:
        if self.slow_s:
            await trio.sleep(self.slow_s)
        else:
            await trio.lowlevel.checkpoint()

    async def synced(self) -> None:
        if self.slow_s:
            await trio.sleep(self.slow_s)

    async def logged(self, is_settled: Callable[[], bool]) -> None:
        log = self.world.standby.log
        assert log is not None
        await log.logged(is_settled)

    def refuse(self) -> None:
        if self.full and not self.world.dead:
            self.world.tally["refused by a full disk"] += 1
            raise storage_error(sqlite3.SQLITE_FULL, "database or disk is full")

    def commit(
        self, really: Callable[[], sqlite3.Cursor], conn: sqlite3.Connection
    ) -> sqlite3.Cursor:
        self.refuse()
        self._kill("before")
        if self.sync_breaks is not None and not self.world.dead:
            how, self.sync_breaks = self.sync_breaks, None
            self.world.tally["broken syncs"] += 1
            if how == "lost":
                conn.rollback()
            else:
                really()
                self.world.watch.committed()
                self.world.die("broken-syncs")
            raise storage_error(sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error")
        self.world.tally["commits"] += 1
        done = really()
        self.world.watch.committed()
        self._kill("after", counts=True)
        return done

    def _kill(self, side: str, *, counts: bool = False) -> None:
        if self.kill_at is None:
            return
        wanted, left = self.kill_at
        if left == 0 and side == wanted:
            self.kill_at = None
            self.world.die("kills-at-commits")
        elif counts:
            self.kill_at = (wanted, left - 1)


def keep(folder: Path) -> None:
    """The files as they are at this instant."""
    for part in PARTS:
        kept = folder / f"kept.db{part}"
        kept.unlink(missing_ok=True)
        if (source := folder / f"{DATABASE}{part}").exists():
            shutil.copyfile(source, kept)
    for name in FOLDERS:
        shutil.rmtree(folder / f"kept.{name}", ignore_errors=True)
        if (files := folder / name).exists():
            shutil.copytree(files, folder / f"kept.{name}")


def put_back(folder: Path) -> None:
    """What was kept is what is there."""
    for part in (*PARTS, "-shm"):
        (folder / f"{DATABASE}{part}").unlink(missing_ok=True)
    for part in PARTS:
        if (kept := folder / f"kept.db{part}").exists():
            kept.replace(folder / f"{DATABASE}{part}")
    for name in FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
        if (files := folder / f"kept.{name}").exists():
            files.rename(folder / name)
