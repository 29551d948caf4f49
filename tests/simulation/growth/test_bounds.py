"""Nothing grows without bound: whatever can grow has a line that says what keeps it small."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from sqlite_utils import Database
from tests.simulation.growth import tables
from tests.simulation.growth.bounds import WORDS, Bounds, listed
from tests.simulation.growth.containers import containers

from risala.config.model import Settings
from risala.engine.features.request_log import stored as requests
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.wiring.foundation import DATABASE


def test_whatever_can_grow_is_listed():
    found, known = set(containers()), set(listed())
    assert found - known == set(), "say in bounds.txt what bounds it"
    assert known - found == set(), "it is no more"


def test_each_named_limit_is_there():
    settings = Settings()
    for each in listed().values():
        limit = each.limit(settings)
        assert (limit is None) == (each.by in WORDS), each
        assert limit is None or limit > 0, each


def test_what_holds_too_much_is_found():
    holder = type("AuditedReads", (), {"__module__": "risala.engine.model.audit"})()
    holder._noted = dict.fromkeys(range(2001))
    bounds = Bounds(Settings())
    bounds.look(holder)
    assert bounds.faults == [
        "engine/model/audit.py AuditedReads._noted has 2001, its limit is 2000"
    ]
    assert bounds.highest["engine/model/audit.py AuditedReads._noted"][0] == 2001


def test_every_table_is_listed(tmp_path):
    """Those of a new database, and of the log of requests."""
    with closing(sqlite3.connect(tmp_path / DATABASE)) as conn:
        migrate(Database(conn, execute_plugins=False))
    requests.open_file(tmp_path / requests.FILE).close()
    found = tables.stored(tmp_path / DATABASE) | tables.stored(tmp_path / requests.FILE)
    known = {each.name for each in tables.listed()}
    assert found - known == set(), "say in tables.txt what bounds it"
    assert known - found == set(), "it is no more"


def test_each_limit_of_a_table_is_there_and_the_others_have_words():
    settings = Settings()
    for each in tables.listed():
        limit = each.limit(settings)
        assert each.words, each
        assert (limit is None) == (each.most == "-"), each
        assert limit is None or limit > 0, each


def test_a_table_that_holds_too_much_is_found(tmp_path):
    path = tmp_path / DATABASE
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE members (organization_id, left_at)")
        rows = [("one", None), ("one", None), ("two", None), ("one", 7)]
        conn.executemany("INSERT INTO members VALUES (?, ?)", rows)
    most = tables.Table("members", "1", "organization_id", "left_at IS NULL", "members")
    rows = tables.Rows(Settings(), [most])
    rows.look(path)
    title = "table members of one organization_id (left_at IS NULL)"
    assert rows.highest == {title: (2, "1"), "table members": (4, "members")}
    assert rows.faults == [f"{title} has 2 rows, its limit is 1"]
