"""From each version to today's: by whatever steps, and wherever cut short, it is the same file.

Today's is one with the made-up steps of ``stones.py``, so that there are some to be cut short.
"""

from __future__ import annotations

import gzip
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlite_utils import Database

import stones
from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema import migrations
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.errors import StorageUnusable

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = sorted(path.name.removesuffix(".db.gz") for path in FIXTURES.glob("*.db.gz"))
NEW, OLDEST = "new", "v1.0"
"""An empty file, and the first release's."""

UNIQUE = {
    "alarms_once",
    "alerts_open",
    "api_keys_by_old_hash",
    "bank_texts_once",
    "entry_credited_once",
    "entry_refunded_once",
    "face_credentials_by_username",
    "factors_by_credential",
    "identities_by_user",
    "idx__sqlite_migrations_migration_set_name",
    "inbound_once",
    "invitations_by_organization_email",
    "message_client_key",
    "organizations_by_no",
    "own_answers_once",
    "payments_credited_once",
    "provider_domains_confirmed",
    "reverse_sessions_word",
    "sign_in_requests_by_browser",
    "users_by_email",
    "web_sessions_by_hash",
}


def unpack(name: str, directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / "risala.db"
    if name == NEW:
        open_writer(path, partial(migrate, before=migrations.FIRST)).close()
    else:
        path.write_bytes(gzip.decompress((FIXTURES / f"{name}.db.gz").read_bytes()))
    return path


def bring(path: Path) -> None:
    """As ``risala serve`` does."""
    open_writer(path, migrate).close()


def read(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute(query).fetchall()


def contents(path: Path) -> dict[str, Counter[tuple]]:
    """All rows of all tables in any order, but for when each migration ran, and for the id that a
    service is given by chance."""
    with closing(sqlite3.connect(path)) as conn:  # one: each reads the whole schema first
        names = conn.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found = {name: Counter(conn.execute(f"SELECT * FROM {name}")) for (name,) in names}
        found["_sqlite_migrations"] = Counter(conn.execute("SELECT name FROM _sqlite_migrations"))
    by_chance = [(key, value) for key, value in found.get("meta", ()) if key == "hops.own"]
    for row in by_chance:
        del found["meta"][row]
        found["meta"]["hops.own", len(row[1])] += 1
    return found


def definitions(path: Path) -> dict[tuple[str, str], object]:
    """What SQLite knows of each table, index, view and trigger, however it was written.

    A table is its columns and conditions in any order: a column that came later stands last.
    """
    found: dict[tuple[str, str], object] = {}
    for kind, name, sql in read(path, "SELECT type, name, sql FROM sqlite_schema"):
        plain = " ".join(re.sub(r"--[^\n]*", "", sql or "").split())
        plain = re.sub(r"\s*([(),])\s*", r"\1", plain).replace('"', "")
        if kind != "table":
            found[kind, name] = plain
            continue
        head, _, rest = plain.partition("(")
        body, _, tail = rest.rpartition(")")
        found[kind, name] = (head, tail, sorted(parts(body)))
    return found


def parts(body: str) -> list[str]:
    """What stands between the commas that are in no brackets."""
    found, depth = [""], 0
    for letter in body:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


@pytest.fixture(autouse=True)
def _later_steps() -> Iterator[None]:
    with stones.migrations():
        yield


@pytest.fixture(scope="module")
def today(tmp_path_factory) -> dict[tuple[str, str], object]:
    """As all of these files are to be."""
    path = tmp_path_factory.mktemp("today") / "new.db"
    with stones.migrations():
        open_writer(path, migrate).close()
    return definitions(path)


@pytest.mark.parametrize("name", NAMES)
def test_conditions_views_and_indexes_are_those_of_a_new_file(name, tmp_path, today):
    path = unpack(name, tmp_path / "old")
    bring(path)
    found = definitions(path)
    assert {key: found.get(key) for key in today} == today
    assert found.keys() == today.keys()


@pytest.mark.parametrize("name", [OLDEST, NEW])
def test_version_by_version_comes_to_the_same_as_at_once(name, tmp_path):
    at_once, by_steps = unpack(name, tmp_path / "once"), unpack(name, tmp_path / "steps")
    bring(at_once)
    done = {row[0] for row in read(by_steps, "SELECT name FROM _sqlite_migrations")}
    for each in (name for name in migrations.known() if name not in done):
        before = migrations.following(each)
        open_writer(by_steps, partial(migrate, before=before)).close()
        assert each in {row[0] for row in read(by_steps, "SELECT name FROM _sqlite_migrations")}
    assert contents(by_steps) == contents(at_once)
    assert audit_file(by_steps).faults == ()


def traced(look: Callable[[], None]) -> Callable[[Database], None]:
    """The migrations, with a look at each statement."""

    def work(database: Database) -> None:
        database.conn.set_trace_callback(lambda _: look())
        try:
            migrate(database)
        finally:
            database.conn.set_trace_callback(None)

    return work


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "every", "cuts_min", "files_min"),
    [(OLDEST, 5, 4, 2), pytest.param(NEW, 12, 15, 1, marks=pytest.mark.long)],
)
def test_killed_at_any_statement_it_is_the_old_or_the_new_and_goes_on(
    name, every, cuts_min, files_min, tmp_path
):
    """What a kill leaves is the files as they are then: so each copy of them is one.

    Most statements write nothing to the files: equal copies are one that is tried once.
    """
    path = unpack(name, tmp_path / "lived")
    known, cuts, statements = migrations.known(), Counter[tuple[tuple[str, bytes], ...]](), 0

    def cut() -> None:
        nonlocal statements
        statements += 1
        if statements % every == 0:
            files = [each for each in path.parent.iterdir() if not each.name.endswith("-shm")]
            cuts[(*((each.name, each.read_bytes()) for each in sorted(files)),)] += 1

    open_writer(path, traced(cut)).close()
    bring(path)
    expected, seen = contents(path), set()
    assert cuts.total() >= cuts_min
    left = tmp_path / "cut" / "risala.db"
    for each in cuts:
        left.parent.mkdir()
        for file, octets in each:
            (left.parent / file).write_bytes(octets)
        applied = [row[0] for row in read(left, "SELECT name FROM _sqlite_migrations ORDER BY id")]
        seen.add((*applied,))
        assert applied == [one for one in known if one in applied]
        assert read(left, "PRAGMA integrity_check") == [("ok",)]
        bring(left)
        assert contents(left) == expected, applied
        shutil.rmtree(left.parent)
    assert len(seen) >= files_min


def cramped(pages: int) -> Callable[[Database], None]:
    """The migrations, in a file that may grow by so many pages."""

    def work(database: Database) -> None:
        (used,) = database.conn.execute("PRAGMA page_count").fetchone()
        database.conn.execute(f"PRAGMA max_page_count = {used + pages}")
        migrate(database)

    return work


@pytest.mark.parametrize(("name", "pages"), [(NEW, 20), (NEW, 200), (OLDEST, 0), (OLDEST, 2)])
def test_a_disk_that_fills_up_on_the_way_is_told_and_gone_on_from(name, pages, tmp_path):
    roomy, path = unpack(name, tmp_path / "roomy"), unpack(name, tmp_path / "full")
    bring(roomy)
    with pytest.raises(StorageUnusable) as told:
        open_writer(path, cramped(pages))
    assert str(told.value) == f"The disk that holds {path} is full."
    assert read(path, "PRAGMA integrity_check") == [("ok",)]
    bring(path)
    assert contents(path) == contents(roomy)


def test_the_file_itself_keeps_once_what_is_once(tmp_path):
    """Whatever runs twice: these are no means of speed."""
    path = tmp_path / "new.db"
    open_writer(path, migrate).close()
    found = read(
        path,
        "SELECT i.name FROM sqlite_schema t, pragma_index_list(t.name) i"
        " WHERE t.type = 'table' AND i.\"unique\" AND i.origin = 'c'",
    )
    assert {name for (name,) in found} == UNIQUE
