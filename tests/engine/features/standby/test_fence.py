"""What PostgreSQL promises beyond a directory: it fences, and takes a piece only upon the one
before. Its model in memory, with which whole histories are played, promises the same."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlite_utils.utils import sqlite3
from tests.engine.features.standby.test_stores import PART, ship

from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.piece_store import Fenced, Spoilt
from risala.engine.features.standby.stored.pieces import Current, EncodedPiece, Shipped

TERM_S = 30


@pytest.fixture(params=["in_postgresql", "in_memory"])
def places(request):
    found = request.getfixturevalue(request.param)
    found.lease.take("a", TERM_S, 0, 1, 1)
    return found


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("pragma journal_mode = wal")
        conn.execute("create table item (id integer primary key, text text)")
    return path


def piece(number: int, last: str, at: int = 1) -> EncodedPiece:
    return pieces.encode("one", number, at, PART, last)


WRITES = {
    "begin": lambda store, database: store.begin("two", database),
    "add": lambda store, _: store.add(piece(3, "x")),
    "publish": lambda store, _: store.publish(Current("one", "y"), Shipped("one", 9, 9)),
    "note": lambda store, _: store.note(Shipped("one", 9, 9)),
    "mark": lambda store, _: store.mark_awaited(awaited=True),
}


@pytest.mark.parametrize("write", [*WRITES])
def test_who_lost_the_lease_writes_nothing(places, database, write):
    sums = ship(places.pieces, database)
    places.another().lease.take("b", TERM_S, 0, 1, 2)
    with pytest.raises(Fenced, match="Another machine has taken the lease 1"):
        WRITES[write](places.pieces, database)
    assert places.pieces.current() == Current("one", sums[0])
    assert places.pieces.shipped() == Shipped("one", 2, 72_000)
    assert not places.pieces.is_spoilt("one", 3)
    assert not places.pieces.is_awaited("one")


def test_another_holder_of_the_same_number_writes_nothing(places, database):
    ship(places.pieces, database)
    with pytest.raises(Fenced):
        places.another("b", 1).pieces.add(piece(3, "x"))


def test_a_piece_goes_only_upon_the_one_before(places, database):
    *_, last = ship(places.pieces, database)
    for wrong in (piece(4, last), piece(3, "another")):
        with pytest.raises(Spoilt):
            places.pieces.add(wrong)
    third = piece(3, last)
    assert not places.pieces.has(third)
    places.pieces.add(third)
    assert places.pieces.has(third)
    assert places.pieces.shipped() == Shipped("one", 3, 1), "who found it has noted it"
    with pytest.raises(OSError, match=r".") as refused:
        places.pieces.add(third)
    assert not isinstance(refused.value, Spoilt)
    with pytest.raises(Spoilt):
        places.pieces.has(piece(3, last, at=2))


def test_what_is_not_there_is_not_noted(places, database):
    ship(places.pieces, database)
    for wrong in (Shipped("one", 3, 9), Shipped("two", 1, 9)):
        with pytest.raises(Spoilt):
            places.pieces.note(wrong)


def test_the_mark_is_of_the_generation_that_is_used(places, database):
    places.pieces.mark_awaited(awaited=True)
    ship(places.pieces, database)
    assert not places.pieces.is_awaited("one")
    places.pieces.mark_awaited(awaited=True)
    assert places.pieces.is_awaited("one")
    assert not places.pieces.is_awaited("two")
