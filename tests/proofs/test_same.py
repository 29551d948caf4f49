"""Behaviour as data: what is random has a name, what is asked of the database is noted, and what
differs is shown."""

from __future__ import annotations

import sqlite3

from proofs.same.__main__ import _compare
from proofs.same.plain import plain
from proofs.same.statements import Statements, schema
from proofs.same.statements import plain as without_values

ID = "sms_06H2JGN17VW1QE4RE7G0123456789ABC"
OTHER = "sms_16H2JGN17VW1QE4RE7G0123456789ABC"


def test_ids_and_secrets_have_the_number_of_their_first_place():
    key = "sk_live_0abcdefghijklmnopqrstuvwx"
    text = f"{ID} {OTHER} {ID} {key} 9HXkq7yQ2vZtW5nB8cLmR4dE"
    assert plain(text) == "sms#1 sms#2 sms#1 sk_live#1 token#1"


def test_words_and_numbers_stay():
    text = "/operator/organizations/new +22236123456 2026-01-01T00:00:00Z risala_client-1.0.0"
    assert plain(text) == text


def test_a_statement_is_one_whatever_its_values_are():
    one = "SELECT  a FROM t\n WHERE b = 'it''s' AND c IN (1, 2, 3) LIMIT 10"
    assert without_values(one) == "SELECT a FROM t WHERE b = ? AND c IN (?, …) LIMIT ?"


def test_each_statement_is_noted_with_its_plan(tmp_path):
    database = tmp_path / "some.db"
    with Statements() as statements:
        conn = sqlite3.Connection(database)
        conn.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        conn.execute("INSERT INTO t VALUES (1, 'x')")
        conn.commit()
        conn.execute("SELECT b FROM t WHERE a = ?", (1,)).fetchall()
        conn.execute("SELECT b FROM t WHERE b = ?", ("y",)).fetchall()
    conn.close()
    found = list(statements.plans(database))
    assert "SELECT b FROM t WHERE a = ?" in found
    assert "    SEARCH t USING INTEGER PRIMARY KEY (rowid=?)" in found
    assert "    SCAN t" in found
    assert "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)" in schema(database)


def test_what_differs_is_shown(tmp_path, capfd):
    for name, word in (("before", "one"), ("after", "two")):
        (tmp_path / name / "pages").mkdir(parents=True)
        (tmp_path / name / "pages/index.html").write_text(f"{word}\n")
    assert _compare(tmp_path / "before", tmp_path / "after", stat=False) == 1
    told = capfd.readouterr().out
    assert "-one" in told
    assert "+two" in told
    assert _compare(tmp_path / "after", tmp_path / "after", stat=False) == 0
    assert capfd.readouterr().out == "1 files are the same.\n"
