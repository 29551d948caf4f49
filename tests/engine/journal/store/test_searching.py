"""A part of a text is found alike by either way of looking for it."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from random import Random

import pytest

from risala.engine.journal.store.searching import containing, is_slow_in_like, part

TEXTS = (
    "Votre rendez-vous est demain",
    "VOTRE RENDEZ-VOUS EST DEMAIN",
    "Été à Nouakchott",
    "طلبك جاهز للاستلام",
    "50 % de remise_1 \\ aujourd'hui",
    "aaaaaaaaaaaaaaaaaaaab",
    "",
    None,
)


def found(conn, text: str) -> set[str | None]:
    condition, values = containing(("text",), text)
    rows = conn.execute(f"SELECT text FROM t WHERE {condition}", values)
    return {text for (text,) in rows}


@pytest.fixture
def conn():
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE t (text TEXT)")
        conn.executemany("INSERT INTO t VALUES (?)", [(each,) for each in TEXTS])
        yield conn


@pytest.mark.parametrize(
    ("text", "slow"),
    [
        *(("demain", False), ("DEMAIN", False), ("rendez-vous est", False), ("%", False)),
        *(("remise_1", False), ("\\", False), ("طلبك", True), ("été", True), ("ÉTÉ", True)),
        *(("a" * 20 + "B", True), ("a" * 21, True), ("x" * 100, True), ("ababababab", True)),
    ],
)
def test_signs_are_signs_and_only_the_case_of_letters_is_not_heeded(conn, text, slow):
    assert is_slow_in_like(text) is slow
    assert ("instr" in containing(("text",), text)[0]) is slow
    expected = {each for each in TEXTS if each and re.search(re.escape(text), each, re.IGNORECASE)}
    assert found(conn, text) == expected


def test_both_ways_find_the_same(conn):
    random = Random(5)
    for _ in range(300):
        whole = random.choice([each for each in TEXTS if each])
        start = random.randrange(len(whole))
        text = whole[start : start + random.randrange(1, 12)]
        by_like = conn.execute("SELECT text FROM t WHERE text LIKE ? ESCAPE '\\'", (part(text),))
        assert {each for (each,) in by_like} <= found(conn, text)
        if text.isascii():
            instr = "SELECT text FROM t WHERE instr(lower(text), lower(?))"
            assert {each for (each,) in conn.execute(instr, (text,))} == found(conn, text)
