"""What PostgreSQL alone promises: it fences in the statement itself, and its bad days are sentences
that pass by."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import fields

import pytest
import trio
from sqlite_utils.utils import sqlite3
from tests.engine.features.standby.conftest import reached_by
from tests.engine.features.standby.test_stores import PART, is_same, opened, put, ship, unheard

from cases import seeds
from patience import HANG_S, until, until_true
from processes import environment
from risala.config.model import Settings
from risala.config.outward import StandbySection
from risala.engine.features.standby import doctor, named_stores
from risala.engine.features.standby.lease import (
    LeaseLost,
    LeaseMemory,
    LeaseTaken,
    SendLease,
    remember,
)
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.piece_store import Fenced
from risala.engine.features.standby.stored.pieces import Shipped
from risala.engine.features.standby.stored.shipper import Shipper
from risala.engine.features.standby.stored.shipping_status import ShippingStatus
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import Grade, Patient
from risala.engine.rules.trail.chain import ChainEnd
from risala.engine.rules.trail.heads import signed_head

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from risala.engine.features.standby.postgresql import health  # noqa: E402
from risala.engine.features.standby.postgresql import tables as tables_module  # noqa: E402
from risala.engine.features.standby.postgresql.lease import PostgresqlLease  # noqa: E402
from risala.engine.features.standby.postgresql.session import (  # noqa: E402
    PostgresqlRefused,
    PostgresqlSession,
    WrongAddress,
)

TERM_S = 30
URL_ENV = "RISALA_TEST_STANDBY_URL"


@pytest.fixture
def places(in_postgresql):
    in_postgresql.lease.take("a", TERM_S, 0, 1, 1)
    return in_postgresql


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("pragma journal_mode = wal")
        conn.execute("create table item (id integer primary key, text text)")
    return path


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_any_encoding_serves(tables, installation, database, tmp_path, encoding):
    """A cluster that is made where no locale is set has SQL_ASCII."""
    name = f"in_{encoding}".lower()
    tables.sql(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'")
    with closing(PostgresqlSession(tables.url(name), installation, checks=False)) as session:
        session.run(tables_module.prepare)
    for places in reached_by(tables.url(name), installation):
        lease = places.lease.take("a", TERM_S, 0, 1, 1)
        assert places.lease.highest().holder == lease.holder
        ship(places.pieces, database)
        copy = StandbyCopy(tmp_path / "other", places.another("b").pieces)
        assert copy.follow(unheard) is not None
        assert copy.file.read_bytes()[:16] == b"SQLite format 3\0"
    tables.sql(f"DROP DATABASE {name}")


class TestTheFence:
    def test_a_piece_that_meets_a_takeover_half_way_is_refused(self, places, database, tables):
        ship(places.pieces, database)
        told: list[BaseException] = []

        def add() -> None:
            try:
                places.pieces.add(pieces.encode("one", 3, 1, PART, "x"))
            except Fenced as error:
                told.append(error)

        thread = threading.Thread(target=add)
        with psycopg.connect(tables.url()) as conn:
            conn.execute(
                "UPDATE risala_standby.lease SET epoch = 2, holder = 'b' WHERE installation = %s",
                (places.pieces._session.installation,),
            )
            thread.start()
            until(lambda: self.waiting(tables) == 1, "the piece waits for the takeover")
        thread.join(HANG_S)
        assert len(told) == 1

    def test_a_takeover_waits_for_a_piece_and_a_renewal_does_not(self, places, database, tables):
        ship(places.pieces, database)
        first = places.lease.highest()
        given = (places.pieces._session.installation,)
        taker = threading.Thread(target=lambda: places.another().lease.take("b", TERM_S, 0, 1, 2))
        with psycopg.connect(tables.url()) as conn:
            conn.execute(
                "SELECT 1 FROM risala_standby.lease WHERE installation = %s FOR KEY SHARE", given
            )
            assert places.lease.renew(first, 0, 1).count == 1
            taker.start()
            until(lambda: self.waiting(tables) == 1, "the takeover waits for the piece")
        taker.join(HANG_S)
        assert places.lease.highest().epoch == 2

    def waiting(self, tables) -> int:
        return int(tables.sql("SELECT count(*) FROM pg_locks WHERE NOT granted"))

    async def test_whoever_is_fenced_is_told_to_end(self, places, database):
        told: list[str] = []
        async with opened(database) as journal, trio.open_nursery() as nursery:
            store = places.pieces
            shipper = Shipper(journal, store, SystemClock(), 0.01, again_s=0.01, fenced=told.append)
            nursery.start_soon(shipper.run)
            await until_true(lambda: store.shipped() is not None)
            await trio.to_thread.run_sync(places.another().lease.take, "b", TERM_S, 0, 1, 2)
            await journal.commit(put(1))
            await until_true(lambda: bool(told))
            nursery.cancel_scope.cancel()
        assert "Another machine has taken the lease" in told[0]

    def test_an_older_backup_of_the_database_is_no_free_lease(self, places, tables, installation):
        lease = places.lease.highest()
        tables.sql(f"DELETE FROM risala_standby.lease WHERE installation = '{installation}'")
        with pytest.raises(LeaseLost, match="an older backup"):
            places.lease.renew(lease, 0, 1)


def cut(tables) -> None:
    """End all connections, in the middle of whatever they do."""
    tables.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'risala standby'"
    )


@contextmanager
def full(tables) -> Iterator[None]:
    """Pieces meet what PostgreSQL says of a full disk."""
    tables.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'could not extend file \"base/1\": No space left on device'"
        " USING ERRCODE = '53100'; END $$;"
        " CREATE TRIGGER refuses BEFORE INSERT ON risala_standby.piece"
        " FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    try:
        yield
    finally:
        tables.sql("DROP FUNCTION refuse CASCADE")


def is_back(session: PostgresqlSession) -> bool:
    try:
        session.run(lambda conn: conn.execute("SELECT 1"))
    except PostgresqlRefused:
        return False
    return True


def test_who_waits_hears_of_what_is_new(places, database):
    ship(places.pieces, database)
    other = places.another().pieces
    other.wait(0.01)  # it listens from now on
    thread = threading.Thread(target=lambda: other.wait(HANG_S))
    thread.start()
    places.pieces.note(Shipped("one", 2, 80_000))
    thread.join(HANG_S / 2)
    assert not thread.is_alive()


@pytest.mark.slow
async def test_by_a_pooler_all_goes_on_and_who_follows_looks_by_itself(in_pool, database, tmp_path):
    lease = in_pool.lease.take("a", TERM_S, 0, 1, 1)
    copy = StandbyCopy(tmp_path / "second", in_pool.another().pieces)
    async with opened(database) as journal, trio.open_nursery() as nursery:
        nursery.start_soon(Shipper(journal, in_pool.pieces, SystemClock(), 0.01).run)
        for number in range(50):
            await journal.commit(put(number, 5000))
            lease = in_pool.lease.renew(lease, 0, 1)
        await trio.to_thread.run_sync(copy.store.wait, 0.01)
        await until_true(lambda: is_same(copy, tmp_path, database))
        nursery.cancel_scope.cancel()
    in_pool.another().lease.take("b", TERM_S, 0, 1, 2)
    with pytest.raises(Fenced):
        in_pool.pieces.note(Shipped("one", 9, 9))


class TestBadDays:
    @pytest.mark.slow
    async def test_a_restart_loses_nothing_and_it_goes_on_by_itself(
        self, places, database, tables, tmp_path
    ):
        lease = places.lease.highest()
        copy = StandbyCopy(tmp_path / "second", places.another().pieces)
        async with opened(database) as journal, trio.open_nursery() as nursery:
            shipper = Shipper(journal, places.pieces, SystemClock(), 0.01, again_s=0.01)
            nursery.start_soon(shipper.run)
            await journal.commit(put(1))
            await until_true(lambda: is_same(copy, tmp_path, database))
            await trio.to_thread.run_sync(tables.stop)
            for number in range(2, 30):
                await journal.commit(put(number, 5000))
            with pytest.raises(PostgresqlRefused, match="does not run, or listens elsewhere"):
                places.lease.renew(lease, 0, 1)
            await trio.to_thread.run_sync(tables.start)
            assert places.lease.renew(lease, 0, 1).count == 1
            await until_true(lambda: is_same(copy, tmp_path, database))
            nursery.cancel_scope.cancel()

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", seeds(1, 4))
    async def test_whatever_is_cut_off_at_any_moment_the_copy_becomes_the_same(
        self, places, database, tables, tmp_path, seed
    ):
        """Connections are cut in the middle of statements: whether those were done is unknown."""
        chance, copy = random.Random(seed), StandbyCopy(tmp_path / "2", places.another().pieces)
        async with opened(database) as journal, trio.open_nursery() as nursery:
            shipper = Shipper(journal, places.pieces, SystemClock(), 0.001, again_s=0.001)
            nursery.start_soon(shipper.run)
            for number in range(20):
                for _ in range(chance.randrange(10)):
                    await journal.commit(put(chance.randrange(50), chance.choice((10, 20_000))))
                if number % 3 == 0:
                    await trio.to_thread.run_sync(cut, tables)
                else:
                    await trio.sleep(0.005 * chance.random())
                with suppress(OSError):
                    await trio.to_thread.run_sync(copy.follow, unheard)
            await until_true(lambda: is_same(copy, tmp_path, database))
            nursery.cancel_scope.cancel()

    def test_a_connection_that_ended_meanwhile_is_made_again(self, places, tables):
        lease = places.lease.highest()
        cut(tables)
        assert places.lease.renew(lease, 0, 1).count == 1

    @pytest.mark.slow
    async def test_a_full_disk_loses_nothing_and_the_generation_goes_on(
        self, places, database, tables, tmp_path
    ):
        copy = StandbyCopy(tmp_path / "second", places.another().pieces)
        standing = ShippingStatus()
        async with opened(database) as journal, trio.open_nursery() as nursery:
            store, clock = places.pieces, SystemClock()
            shipper = Shipper(journal, store, clock, 0.01, again_s=0.01, standing=standing)
            nursery.start_soon(shipper.run)
            await until_true(lambda: is_same(copy, tmp_path, database))
            generation = store.current()
            with full(tables):
                for number in range(30):
                    await journal.commit(put(number, 5000))
                await until_true(lambda: "no room left" in (standing.failing or ""))
            await until_true(lambda: is_same(copy, tmp_path, database))
            assert store.current() == generation
            nursery.cancel_scope.cancel()

    def test_no_connection_is_left_and_then_one_is(self, tables):
        session = PostgresqlSession(tables.url(), "any")
        taken = []
        try:
            with suppress(psycopg.OperationalError):
                while True:
                    taken.append(psycopg.connect(tables.url()))
            with pytest.raises(PostgresqlRefused, match="has no connection left"):
                session.run(lambda conn: conn.execute("SELECT 1"))
        finally:
            for each in taken:
                each.close()
        until(lambda: is_back(session), "a connection is free")
        session.close()

    def session(self, tables, **given) -> PostgresqlSession:
        return PostgresqlSession(tables.url(**given), "any")

    def refused(self, session: PostgresqlSession) -> str:
        with pytest.raises(PostgresqlRefused) as refused:
            session.run(lambda conn: conn.execute("SELECT 1"))
        session.close()
        return str(refused.value)

    def test_a_database_that_is_missing(self, tables):
        assert "no such database" in self.refused(self.session(tables, database="nowhere"))

    def test_a_wrong_password_is_said_and_not_shown(self, tables):
        tables.sql("CREATE ROLE locked LOGIN PASSWORD 'right'")
        rules = "local all locked scram-sha-256\nlocal all all trust\n"
        tables.let_in_by(rules)
        url = tables.url(user="locked") + "&password=wrong-one"
        said = self.refused(PostgresqlSession(url, "any"))
        assert "refuses the user or the password" in said
        assert "wrong-one" not in said

    def test_too_many_connections(self, tables):
        tables.sql("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
        assert "no connection left" in self.refused(self.session(tables, user="crowded"))

    def test_a_server_that_takes_no_writes_as_a_replica_does(self, tables):
        tables.sql("CREATE ROLE reader LOGIN")
        tables.sql("ALTER ROLE reader SET default_transaction_read_only = on")
        assert "takes no writes" in self.refused(self.session(tables, user="reader"))

    def test_a_user_without_rights(self, tables):
        tables.sql("CREATE ROLE stranger LOGIN")
        assert "does not let this user at" in self.refused(self.session(tables, user="stranger"))

    def test_an_address_that_is_none_is_not_quoted(self):
        with pytest.raises(WrongAddress) as refused:
            PostgresqlSession("postgresql://user:secret@host:port:5/x?what", "any")
        assert "secret" not in str(refused.value)

    def test_a_host_that_is_not_there(self):
        said = self.refused(PostgresqlSession("postgresql://nowhere.invalid/x", "any"))
        assert "nowhere.invalid" in said

    @pytest.fixture
    def own(self, tables):
        """A database of the test's own, without tables."""
        name = "own"
        tables.sql(f"DROP DATABASE IF EXISTS {name}")
        tables.sql(f"CREATE DATABASE {name}")
        return name

    def test_tables_that_are_missing_or_of_another_version(self, tables, own):
        assert "with `risala standby init`" in self.refused(self.session(tables, database=own))
        section = StandbySection(copy="postgresql", lease="postgresql")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RISALA_STANDBY_URL", tables.url(database=own))
            assert named_stores.make_ready(section).startswith("The tables are made")
            assert named_stores.make_ready(section).startswith("The tables were there already")
            for number, told in ((0, "of an older Risala"), (99, "A newer Risala")):
                tables.sql(f"UPDATE risala_standby.version SET number = {number}", own)
                assert told in self.refused(self.session(tables, database=own))
            with pytest.raises(StorageUnusable, match="A newer Risala"):
                named_stores.make_ready(section)

    def test_a_server_that_is_too_old(self, tables, monkeypatch):
        monkeypatch.setattr(tables_module, "SERVER_MIN", 990_000)
        assert "Risala needs 99 or later" in self.refused(self.session(tables))


class TestTheDoctor:
    @pytest.fixture
    def section(self, tables, installation, monkeypatch):
        monkeypatch.setenv(URL_ENV, tables.url())
        named = {"url_env": URL_ENV, "installation": installation}
        return StandbySection(copy="postgresql", lease="postgresql", postgresql=named)

    def told(self, section, tmp_path, *, running=True, failing=None):
        patient = Patient(
            tmp_path,
            90_000,
            running=running,
            statistics={"shipping": {"failing": failing}},
            known_settings=Settings(standby=section),
        )
        return doctor.examine(patient)

    def test_all_is_well_but_the_disk(self, places, section, database, tmp_path):
        remember(tmp_path, LeaseMemory("a", 1, serves=True))
        ship(places.pieces, database)
        found = self.told(section, tmp_path)
        assert [each.state for each in found] == [
            *(Grade.OK, Grade.WARN, Grade.OK, Grade.OK),
            Grade.WARN,
        ]
        server, disk, lease, copy, trial = (each.text for each in found)
        assert "Nobody has tried" in trial
        assert "answers in" in server
        assert "MiB" in server
        assert "fsync = off" in disk
        assert "The lease has number 1" in lease
        assert "is 18 s behind" in copy

    def test_what_the_service_could_not_ship_names_no_directory(
        self, places, section, database, tmp_path
    ):
        remember(tmp_path, LeaseMemory("a", 1, serves=True))
        ship(places.pieces, database)
        *_, told = self.told(section, tmp_path, failing="It is full.")
        assert told.state is Grade.FAIL
        assert "mounted" not in told.text

    def test_another_s_lease_is_a_failure_where_the_service_runs(self, places, section, tmp_path):
        remember(tmp_path, LeaseMemory("a", 1, serves=True))
        places.lease.take("b", TERM_S, 0, 1, 2)
        assert "the service here has to end" in self.told(section, tmp_path)[-1].text
        assert self.told(section, tmp_path, running=False)[-1].state is Grade.OK

    @pytest.mark.parametrize(("ahead_s", "said"), [(0.5, ""), (60, "behind"), (-60, "ahead of")])
    def test_a_clock_that_is_wrong_is_said(self, section, tmp_path, monkeypatch, ahead_s, said):
        now = time.time
        monkeypatch.setattr(health.time, "time", lambda: now() + ahead_s)
        told = [each for each in self.told(section, tmp_path) if "clock" in each.text]
        assert [each.state for each in told] == [Grade.WARN] * bool(said)
        assert all(f"60 s {said} the one here" in each.text for each in told)

    def test_what_cannot_be_reached_is_a_failure(self, section, tmp_path, monkeypatch):
        monkeypatch.setenv(URL_ENV, "postgresql://nowhere.invalid/x")
        (told,) = self.told(section, tmp_path)
        assert told.state is Grade.FAIL
        assert "nothing reaches the standby" in told.text

    @pytest.mark.parametrize("value", ["", "postgresql://a:secret@b:c:d/?e"])
    def test_an_address_that_is_missing_or_wrong(self, section, tmp_path, monkeypatch, value):
        monkeypatch.setenv(URL_ENV, value)
        (told,) = self.told(section, tmp_path)
        assert URL_ENV in told.text
        assert "secret" not in told.text


def test_without_the_driver_a_sentence_says_what_to_install(monkeypatch):
    for name in [*sys.modules]:
        if name.startswith("risala.engine.features.standby.postgresql"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    section = StandbySection(copy="postgresql", lease="postgresql")
    with pytest.raises(StorageUnusable, match=r"pip install 'risala\[standby\]'"):
        named_stores.lease_of(section)


def test_who_does_not_use_it_imports_nothing_of_it(tmp_path):
    script = """
import sys
from pathlib import Path
from risala.config.outward import StandbySection
from risala.engine.features.standby.named_stores import health_of, lease_of, pieces_of

where = StandbySection(directory=Path("."), lease_directory=Path("."))
assert None not in (pieces_of(where, Path(".")), lease_of(where))
assert health_of(where, Path("."), running=True) == []
assert not [name for name in sys.modules if "psycopg" in name or "standby.postgresql" in name]
"""
    command = (sys.executable, "-c", script)
    done = subprocess.run(command, env=environment(), cwd=tmp_path, check=False, timeout=HANG_S)
    assert done.returncode == 0


class TestHeads:
    def test_it_gets_those_that_it_lacks_and_keeps_what_it_has(
        self, tables, installation, monkeypatch
    ):
        monkeypatch.setenv(URL_ENV, tables.url())
        section = StandbySection.model_validate(
            {
                "copy": "postgresql",
                "lease": "postgresql",
                "postgresql": {"installation": installation, "url_env": URL_ENV},
            }
        )
        settings = Settings(standby=section)
        one, two, three = (
            signed_head(ChainEnd(seq, f"{seq:064x}"), "2026-11-28T02:00:00Z", bytes(32))
            for seq in (3, 9, 12)
        )
        another = signed_head(ChainEnd(9, "f" * 64), "2026-11-28T02:00:00Z", bytes(32))

        def there() -> list[str]:
            with psycopg.connect(tables.url()) as conn:
                query = "SELECT text FROM risala_standby.head WHERE installation = %s ORDER BY line"
                return [text for (text,) in conn.execute(query, (installation,))]

        named_stores.give_heads(settings, [one, two])
        assert there() == [one.text, two.text]
        named_stores.give_heads(settings, [one, another, three])
        assert there() == [one.text, two.text, three.text]


class SecondOfTwo:
    """A session that takes the first lease at the instant when another machine does."""

    installation, address = "one", "here"

    def __init__(self, other: SendLease) -> None:
        self.row = tuple(getattr(other, each.name) for each in fields(SendLease))

    def run(self, work, *, again=True):
        return work(self)

    def execute(self, query: bytes, _):
        if query.lstrip().startswith(b"INSERT"):
            raise psycopg.errors.UniqueViolation("duplicate key value")
        return self

    def fetchone(self):
        return self.row


def test_of_two_that_take_the_first_lease_at_one_instant_one_hears_who_has_it():
    other = SendLease(1, "other", "there", 30, 0, 1, 0)
    with pytest.raises(LeaseTaken) as caught:
        PostgresqlLease(SecondOfTwo(other)).take("me", 30, 0, 1, 1)
    assert caught.value.lease == other
