"""Each call on the way of a piece fails once: the commit, what reads the WAL, each sync and write,
each statement to PostgreSQL, and what the second machine does with it all.

``CALLS_EVERY=1`` tries every call; without it every few of them are.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from tests.engine.features.standby.test_before_answer import Primary, copied, texts
from tests.engine.features.standby.test_stores import unheard

from programs.memory_standby import MemoryPieces
from risala.engine.features.standby.stored import wal
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.journal.store import transaction
from risala.engine.model.errors import EngineError, OutcomeUnknown, StorageUnusable

EVERY = int(os.environ.get("CALLS_EVERY", "5"))
TRIES_MAX = 50
"""Of the last put: by then the service goes on."""
WAYS = ("before", "after")
"""Whether what fails was not done, or was done and nobody knows."""
MEMORY = ("begin", "add", "has", "publish", "note", "mark_awaited")
FOLLOWED = ("current", "fetch", "read", "shipped")
FILES = ((os, "fsync"), (os, "open"))
WRITES = ((os, "pwrite"), (os, "ftruncate"), (Path, "replace"))


def broken() -> OSError:
    return OSError(errno.EIO, os.strerror(errno.EIO))


class Calls:
    """Counts calls, and fails one of them."""

    def __init__(self, number: int | None = None, way: str = "before") -> None:
        self._number, self._way, self._lock = number, way, threading.Lock()
        self.names: list[str] = []
        self.is_armed = False

    def strikes(self, name: str) -> str:
        """How this call fails; empty: it does not."""
        if not self.is_armed:
            return ""
        with self._lock:
            self.names.append(name)
            return self._way if len(self.names) - 1 == self._number else ""

    def over(self, name: str, really: Callable[..., Any], error: Callable[[], Exception]) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            how = self.strikes(name)
            if how == "before":
                raise error()
            done = really(*given, **named)
            if how == "after":
                raise error()
            return done

        return call

    def commit(self, really: Callable[[sqlite3.Connection], None]) -> Any:
        def call(conn: sqlite3.Connection) -> None:
            how = self.strikes("commit")
            if how == "after":
                really(conn)
            if how:
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
                raise transaction._Doubt from error
            really(conn)

        return call

    @contextmanager
    def on(self, *places: tuple[Any, str], error: Callable[[], Exception] = broken) -> Iterator:
        with pytest.MonkeyPatch.context() as patch:
            for where, name in places:
                patch.setattr(where, name, self.over(name, getattr(where, name), error))
            patch.setattr(transaction, "_commit", self.commit(transaction._commit))
            yield


async def life(primary: Primary, calls: Calls) -> None:
    """From the first whole copy on; whatever fails, what was told is true, and it goes on."""
    told: dict[str, set[str]] = {"answered": set(), "doubtful": set(), "refused": set()}

    async def put(text: str) -> bool:
        try:
            await primary.put(text)
        except OutcomeUnknown:
            told["doubtful"].add(text)
        except EngineError:
            told["refused"].add(text)
        else:
            told["answered"].add(text)
            return True
        return False

    calls.is_armed = True
    async with primary.running():
        for text in ("one", "two", "three"):
            await put(text)
        for number in range(TRIES_MAX):
            if await put(f"last {number}"):
                break
        else:
            raise AssertionError(f"it does not go on: {primary.log.status()}")
        calls.is_armed = False
        there = copied(primary)
        assert told["answered"] <= there
        assert not told["refused"] & there
        assert texts(primary.path) == there


def tried(calls: int) -> list[tuple[int, str]]:
    return [(number, way) for number in range(calls) for way in WAYS][::EVERY]


async def each_fails(make: Callable[[str], Primary], on: Callable[[Calls], Any]) -> None:
    whole = Calls()
    with on(whole):
        await life(make("whole"), whole)
    assert len(whole.names) > 15
    for number, way in tried(len(whole.names)):
        calls = Calls(number, way)
        with on(calls):
            try:
                await life(make(f"{number}-{way}"), calls)
            except* (StorageUnusable, EngineError):
                # It does not start, and says why: nobody was told anything by it.
                assert "add" not in calls.names[:number], calls.names
            except* Exception as error:
                raise AssertionError(f"{calls.names[number:][:1]} {way}") from error


def primaries(folder: Path, places: Any) -> Callable[[str], Primary]:
    def make(name: str) -> Primary:
        (folder / name).mkdir()
        return Primary(folder / name, places())

    return make


@pytest.mark.slow
async def test_each_call_of_the_first_machine(tmp_path, new_memory):
    own = (*FILES, (wal, "turn"), *((MemoryPieces, name) for name in MEMORY))
    await each_fails(primaries(tmp_path, new_memory), lambda calls: calls.on(*own))


@pytest.mark.slow
async def test_each_statement_to_postgresql(tmp_path, new_postgresql):
    psycopg = pytest.importorskip("psycopg")
    lost = partial(psycopg.OperationalError, "the connection is lost")
    own = ((psycopg.Connection, "execute"),)
    make = primaries(tmp_path, new_postgresql)
    await each_fails(make, lambda calls: calls.on(*own, error=lost))


@pytest.mark.slow
async def test_each_call_of_the_second_machine(tmp_path, new_memory):
    """It says that it could not, and is the same as the first one at the next try."""
    primary = primaries(tmp_path, new_memory)("first")
    own = (*FILES, *WRITES, *((MemoryPieces, name) for name in FOLLOWED))

    def follow(calls: Calls, name: str) -> bool:
        """Twice, with pieces in between; whether each was done."""
        copy = StandbyCopy(tmp_path / name, primary.places.another().pieces)
        calls.is_armed = True
        with calls.on(*own):
            try:
                copy.follow(unheard)
            except OSError:
                calls.is_armed = False
                return False
        calls.is_armed = False
        return True

    async with primary.running():
        for text in ("one", "two"):
            await primary.put(text)
        whole = Calls()
        assert await trio.to_thread.run_sync(follow, whole, "whole")
        assert len(whole.names) > 15
        for number, way in tried(len(whole.names)):
            name = f"{number}-{way}"
            await trio.to_thread.run_sync(follow, Calls(number, way), name)
            copy = StandbyCopy(tmp_path / name, primary.places.another().pieces)
            assert copy.follow(unheard) is not None
            copy.settled(tmp_path / "look.db")
            assert texts(tmp_path / "look.db") == {"one", "two"}, whole.names[number]
