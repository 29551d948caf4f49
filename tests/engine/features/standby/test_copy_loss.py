"""A takeover counts: whatever is missing in a store is said before the lease is taken.

Every subset of the last pieces, of the notes and of the whole copy is deleted, in a directory and
in PostgreSQL, for a standby that begins and for one that has followed half the way.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from os import SEEK_END
from pathlib import Path

import pytest
import trio
from tests.engine.features.standby.test_before_answer import TERM_S, Primary, texts
from tests.engine.features.standby.test_stores import unheard

from cases import examples
from patience import until_true
from risala.app.standby import _Follower
from risala.engine.features.standby.copy_check import CopyLacks
from risala.engine.features.standby.lease import held
from risala.engine.features.standby.lease_watch import PrimaryAlive
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.copy import FOLDER, StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.successor import Successor
from risala.engine.model.errors import StorageUnusable

WRITTEN = ("0", "1", "2", "3")
"""What the primary was told, each in a piece of its own after the first one."""
LAST = len(WRITTEN) + 1
PAGE = 4096
REFUSED = (StorageUnusable, OSError, BadPiece, PrimaryAlive)
PARTS = ("piece 3", "piece 4", f"piece {LAST}", "shipped", "copy", "lease")
SUBSETS = [*chain.from_iterable(combinations(PARTS, size) for size in range(len(PARTS) + 1))]
ALONE = len(PARTS) + 1
TRIED = [*SUBSETS[:ALONE], *SUBSETS[ALONE :: len(SUBSETS) // examples(len(SUBSETS))]]
"""Nothing and each part alone, and the other subsets: all of them in `make test-all`, a quarter
where less is asked for."""


class Directory:
    """The files, as the primary left them, again and again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._saved = folder, folder / "saved"

    def save(self) -> None:
        for name in ("shipped", "lease"):
            shutil.copytree(self._folder / name, self._saved / name)

    def put_back(self) -> None:
        for name in ("shipped", "lease"):
            shutil.rmtree(self._folder / name)
            shutil.copytree(self._saved / name, self._folder / name)

    def delete(self, part: str) -> None:
        shipped = self._folder / "shipped"
        (generation,) = shipped.glob("gen-*")
        kind, _, number = part.partition(" ")
        paths = {
            "piece": generation / f"{int(number or 0):010}.piece",
            "shipped": shipped / pieces.SHIPPED,
            "copy": generation / pieces.SNAPSHOT,
            "lease": self._folder / "lease/0000000001.json",
        }
        paths[kind].unlink()


class Rows:
    """The rows of an installation."""

    TABLES = ("generation", "chunk", "piece", "shipped", "lease")

    def __init__(self, conn, installation: str) -> None:
        self._conn, self._installation = conn, installation

    def _do(self, query: str) -> None:
        self._conn.execute(query, {"installation": self._installation})

    def save(self) -> None:
        for name in self.TABLES:
            where = f"FROM risala_standby.{name} WHERE installation = %(installation)s"
            self._do(f"CREATE TEMP TABLE saved_{name} AS SELECT * {where}")

    def put_back(self) -> None:
        for name in ("generation", "shipped", "lease"):
            self._do(f"DELETE FROM risala_standby.{name} WHERE installation = %(installation)s")
        for name in self.TABLES:
            self._do(f"INSERT INTO risala_standby.{name} SELECT * FROM saved_{name}")

    def delete(self, part: str) -> None:
        kind, _, number = part.partition(" ")
        table = {"copy": "chunk"}.get(kind, kind)
        which = f" AND number = {number}" if number else ""
        self._do(f"DELETE FROM risala_standby.{table} WHERE installation = %(installation)s{which}")


@pytest.fixture(params=["directory", "postgresql"])
def scene(request, tmp_path) -> Iterator[tuple[Primary, Directory | Rows]]:
    """A primary, and what can be lost of what it ships."""
    if request.param == "directory":
        yield Primary(tmp_path, request.getfixturevalue("in_directories")), Directory(tmp_path)
        return
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    primary = Primary(tmp_path, request.getfixturevalue("in_postgresql"))
    url, installation = (request.getfixturevalue(name) for name in ("tables", "installation"))
    with psycopg.connect(url.url(), autocommit=True) as conn:
        yield primary, Rows(conn, installation)


async def written(primary: Primary, half: Callable[[], object]) -> None:
    """All is written and shipped, and the primary dies. In the middle ``half`` is done."""
    async with primary.running():
        for number, text in enumerate(WRITTEN):
            await primary.put(text)
            if number == 0:
                await trio.to_thread.run_sync(half)
        await noted(primary)


async def noted(primary: Primary) -> None:
    """A directory's note comes a moment after its piece; no answer waits for it."""
    await until_true(lambda: primary.places.pieces.shipped().number == LAST)


def fresh(primary: Primary, followed: Path | None) -> Path:
    """The second machine's folder: empty, or as it had followed before."""
    other = primary.folder / "other"
    shutil.rmtree(other, ignore_errors=True)
    if followed is not None:
        shutil.copytree(followed, other / FOLDER)
    return other


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("begins", ["afresh", "half the way"])
async def test_whatever_is_missing_is_said_before_the_lease_is_taken(scene, begins):
    primary, store = scene
    half = primary.folder / "half"
    follower = StandbyCopy(half, primary.places.another().pieces)
    await written(primary, partial(follower.follow, unheard))
    store.save()
    followed = half / FOLDER if begins == "half the way" else None

    def each() -> None:
        for lost in TRIED:
            store.put_back()
            for part in lost:
                store.delete(part)
            other = fresh(primary, followed)
            try_one(primary, other, lost)
            try_once_more(primary, other, lost)

    await trio.to_thread.run_sync(each)


def try_one(primary: Primary, other: Path, lost: tuple[str, ...]) -> None:
    """It takes over with all that was written, or refuses and leaves the lease as it was."""
    before = primary.places.lease.highest()
    taken, refused = None, None
    try:
        taken = primary.takeover().run(primary_is_dead=True, resend_pending=False)
    except REFUSED as error:
        refused = error
    if taken is None:
        assert lost, refused
        assert primary.places.lease.highest() == before, lost
        assert not (other / "risala.db").exists(), lost
        assert not held(other).epoch, lost
        return
    assert texts(taken.restored.database) == set(WRITTEN), lost
    assert taken.loss is None, lost
    assert not any(part.startswith("piece") for part in lost), lost
    shutil.rmtree(other)


def try_once_more(primary: Primary, other: Path, lost: tuple[str, ...]) -> None:
    """By an operator's word it goes on with what there is, and says what it lacks."""
    if not other.exists():
        return
    with suppress(StorageUnusable, OSError, BadPiece):  # not even a whole copy
        run = primary.takeover().run
        taken = run(primary_is_dead=True, resend_pending=False, accepts_loss=True)
        assert taken.loss is not None, lost
        assert not taken.has_all, lost
        assert texts(taken.restored.database) <= set(WRITTEN), lost
        missing = [int(part[6:]) for part in lost if part.startswith("piece")]
        if missing and "shipped" not in lost:
            assert taken.loss.pieces == (min(missing), LAST), lost
            assert f"{min(missing)}" in str(taken.loss), lost


@pytest.mark.slow
async def test_beside_a_living_primary_nothing_that_was_answered_is_lost(scene):
    """It refuses, or the primary has noticed, and its next copy has all of it."""
    primary, store = scene
    async with primary.running():
        for text in WRITTEN:
            await primary.put(text)
        await noted(primary)
        for part in (f"piece {LAST - 1}", f"piece {LAST}"):
            store.delete(part)
        run = partial(primary.takeover().run, primary_is_dead=True, resend_pending=False)
        try:
            taken = await trio.to_thread.run_sync(run)
        except REFUSED:
            assert primary.places.lease.highest().holder == "a"
            await primary.put("it goes on")
            return
        assert texts(taken.restored.database) == set(WRITTEN)


async def test_the_ledger_of_the_lease_is_compared(in_postgresql, tmp_path):
    primary = Primary(tmp_path, in_postgresql)
    await written(primary, lambda: None)
    lease = primary.places.lease.highest()
    primary.places.lease.renew(lease, 7, lease.at)
    run = partial(primary.takeover().run, primary_is_dead=True, resend_pending=False)
    with pytest.raises(CopyLacks, match="7 entries of its ledger") as refused:
        await trio.to_thread.run_sync(run)
    assert refused.value.loss.entries == 7
    assert primary.places.lease.highest().epoch == 1
    taken = await trio.to_thread.run_sync(partial(run, accepts_loss=True))
    assert (taken.loss.entries, taken.has_all, taken.entries_behind) == (7, False, 7)


async def test_a_copy_in_a_directory_may_be_behind_by_a_term_of_the_lease(in_directories, tmp_path):
    primary = Primary(tmp_path, in_directories)
    await written(primary, lambda: None)
    lease, at = primary.places.lease.highest(), primary.places.pieces.shipped().at
    primary.places.lease.renew(lease, 0, at + TERM_S * 1000 + 1_000)
    run = partial(primary.takeover().run, primary_is_dead=True, resend_pending=False)
    with pytest.raises(CopyLacks, match=r"went on for 31\.0 s"):
        await trio.to_thread.run_sync(run)
    primary.places.lease.renew(lease, 0, at + TERM_S * 1000)
    taken = await trio.to_thread.run_sync(run)
    assert (taken.loss, taken.behind_ms) == (None, TERM_S * 1000)


def note_says(primary: Primary, number: int) -> None:
    """The primary's note in a directory is of this piece."""
    shipped = replace(primary.places.pieces.shipped(), number=number)
    pieces.put_note(primary.folder / "shipped" / pieces.SHIPPED, shipped)


async def test_a_store_that_went_back_does_not_show_what_came_after_the_copy(
    in_directories, tmp_path
):
    primary = Primary(tmp_path, in_directories)
    await written(primary, lambda: None)
    takeover = primary.takeover()
    takeover.copy.follow(unheard)
    for number in (LAST - 1, LAST):
        Directory(tmp_path).delete(f"piece {number}")
    note_says(primary, LAST - 2)
    run = partial(takeover.run, primary_is_dead=True, resend_pending=False)
    with pytest.raises(CopyLacks, match=f"no piece after {LAST - 2}, and .* up to piece {LAST}"):
        await trio.to_thread.run_sync(run)


async def test_a_lease_that_is_lost_where_answers_wait_for_the_copy_is_told(scene):
    primary, store = scene
    await written(primary, lambda: None)
    store.delete("lease")
    run = partial(primary.takeover().run, resend_pending=False)
    with pytest.raises(PrimaryAlive if isinstance(store, Directory) else CopyLacks) as refused:
        await trio.to_thread.run_sync(partial(run, primary_is_dead=False))
    lost = "Nobody has held the lease", "The lease that the primary held is missing"
    assert any(words in str(refused.value) for words in lost)
    assert primary.places.lease.highest() is None


def spoil(path: Path) -> None:
    """Write over the last page of a database."""
    with open(path, "r+b") as file:
        file.seek(-PAGE, SEEK_END)
        file.write(b"\xff" * PAGE)


async def test_a_damaged_copy_is_refused_before_the_lease_is_taken(in_directories, tmp_path):
    primary = Primary(tmp_path, in_directories)
    await written(primary, lambda: None)
    takeover = primary.takeover()
    takeover.copy.follow(unheard)
    spoil(takeover.copy.file)
    run = partial(takeover.run, primary_is_dead=True, resend_pending=False)
    with pytest.raises(StorageUnusable):
        await trio.to_thread.run_sync(run)
    assert primary.places.lease.highest().epoch == 1


class NewsAtACall:
    """A store of leases; at a call of it the primary ships a piece that is lost."""

    def __init__(self, primary: Primary, method: str, call: int) -> None:
        self._primary, self._method, self._left = primary, method, call

    def __getattr__(self, name: str):
        if name == self._method:
            self._left -= 1
            if not self._left:
                note_says(self._primary, LAST + 1)
        return getattr(self._primary.places.lease, name)


@pytest.mark.parametrize(("method", "call", "epoch"), [("highest", 2, 1), ("take", 1, 2)])
async def test_what_is_shipped_and_lost_meanwhile_is_said_too(
    in_directories, tmp_path, method, call, epoch
):
    """While it waits for the primary, before the lease is taken; and up to that very moment."""
    primary = Primary(tmp_path, in_directories)
    await written(primary, lambda: None)
    takeover = replace(primary.takeover(), lease=NewsAtACall(primary, method, call))
    run = partial(takeover.run, primary_is_dead=True, resend_pending=False)
    with pytest.raises(CopyLacks, match=f"has shipped piece {LAST + 1}"):
        await trio.to_thread.run_sync(run)
    assert primary.places.lease.highest().epoch == epoch
    assert not takeover.database.exists()


async def test_a_standby_that_takes_over_by_itself_does_not_with_a_loss(in_directories, tmp_path):
    """It says why, where people and machines look, and goes on once what was missing is there."""
    primary = Primary(tmp_path, in_directories)
    await written(primary, lambda: None)
    lease = primary.places.lease.highest()
    primary.places.lease.renew(lease, 0, lease.at, released=True)
    store = Directory(tmp_path)
    store.save()
    store.delete(f"piece {LAST}")
    other = tmp_path / "other"
    other.mkdir()
    given = other, other / "risala.db", primary.places.another("b", 2).lease, TERM_S
    successor = Successor(*given, primary.takeover().clock)
    follower = _Follower(StandbyCopy(other, primary.places.pieces), successor)
    with pytest.raises(StorageUnusable, match=f"has shipped piece {LAST}"):
        follower._poll()
    successor.observe()
    await follower._take()
    assert not follower.has_taken
    assert f"has shipped piece {LAST}" in follower.sentence()
    assert "--accept-loss" in follower.sentence()
    assert primary.places.lease.highest().epoch == 1
    store.put_back()
    primary.places.lease.renew(lease, 0, lease.at, released=True)
    successor.observe()
    await follower._take()
    assert follower.has_taken
