"""The chain of the audit trail in a database: from the upgrade on, and however long it is."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from risala.engine.journal.audit import check as trail_check
from risala.engine.journal.audit.books import audit, audit_file
from risala.engine.journal.store import audit_log
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema import migrations
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import PROCESS
from risala.engine.rules.trail.chain import COLUMNS, EMPTY, ChainEnd, hash_of

RELEASED = Path(__file__).parents[1] / "fixtures/v1.0.db.gz"


def test_the_upgrade_chains_what_is_there_and_says_so(tmp_path):
    path = tmp_path / "risala.db"
    path.write_bytes(gzip.decompress(RELEASED.read_bytes()))
    with closing(sqlite3.connect(path)) as conn:
        before = conn.execute("SELECT * FROM audit_log ORDER BY seq").fetchall()
        assert audit_file(path).lines == 0  # as a backup of an older version checks it
    with closing(open_writer(path, migrations.migrate)) as conn:
        *lines, last = audit_log.lines(conn, len(before) + 1)[::-1]
        assert len(lines) == len(before) > 0
        assert (last.action, last.after) == ("audit.chain", {"lines": len(before)})
        found = audit(conn)
        assert (found.clean, found.lines, found.head) == (True, len(before) + 1, last.hash)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            conn.execute("UPDATE audit_log SET hash = ''")


def test_a_new_line_follows_from_the_noted_one(book):
    entry = AuditEntry(caller=PROCESS, action="org.set", at=1, details={"é😀": "\0"})
    assert book.unit(lambda conn: audit_log.write(conn, entry)) == 1
    assert book.unit(lambda conn: audit_log.write(conn, entry)) == 2
    assert audit(book.conn).clean
    assert audit_log.end(book.conn) == trail_check.check(book.conn, 9).end


def test_without_a_trail_there_is_nothing_to_find(book):
    assert trail_check.check(book.conn, 9) == trail_check.TrailReport(EMPTY, 0, ())


def test_a_forged_trail_is_told_up_to_a_number_of_faults(book):
    rows = [(seq, 1, "a", "b", "c", "d", "x") for seq in range(2, 100, 2)]
    statement = (
        "INSERT INTO audit_log (seq, at, who, face, role, action, hash) VALUES (?,?,?,?,?,?,?)"
    )
    book.unit(lambda conn: conn.executemany(statement, rows).rowcount)
    assert len(trail_check.check(book.conn, 7).faults) == 7


@pytest.mark.skipif("CHAIN_LINES" not in os.environ, reason="`make tamperings` measures it")
def test_a_million_lines_are_checked_within_a_minute(tmp_path):
    lines, path = int(os.environ["CHAIN_LINES"]), tmp_path / "risala.db"
    names = ", ".join((*COLUMNS, "hash"))
    said = json.dumps({"name": "Boutique du marché", "status": "active", "prices": [1, 2, 3] * 9})

    def rows():
        nonlocal end
        for seq in range(1, lines + 1):
            row = (seq, seq, "amina@example.com", "console", "operator", "org.set")
            row = (*row, "org_06DQDPN801FAH2Z0CVC7HQSD3XYH6KFC", None, said, said)
            end = ChainEnd(seq, hash_of(end.hash, row))
            yield (*row, end.hash)

    end = EMPTY
    with closing(open_writer(path, migrations.migrate)) as conn:
        conn.execute("BEGIN")
        conn.executemany(f"INSERT INTO audit_log ({names}) VALUES ({', '.join('?' * 11)})", rows())
        conn.execute("INSERT INTO meta VALUES ('audit_head', ?)", (end.text,))
        conn.execute("COMMIT")
    began_s, before_s = time.monotonic(), time.process_time()
    found = audit_file(path)
    took_s, used_s = time.monotonic() - began_s, time.process_time() - before_s
    print(f"{lines} lines: {took_s:.1f} s, {used_s:.1f} s of one core")
    assert (found.clean, found.lines) == (True, lines)
    assert used_s < 60
