"""Backups taken under load, and put back: whole, checked, and nothing sent twice unasked."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
import stat
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio

import stones
from cases import seeds
from mailing_book import new_mailing, new_row, number
from patience import until
from risala.engine.features.backup.stored.backup import BackupReport, back_up
from risala.engine.features.backup.stored.restore import (
    AlteredBackup,
    RestoreReport,
    UncleanBackup,
    restore,
)
from risala.engine.features.mailings.records import MailingState
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.features.mailings.stored.restored import RestoredMailings
from risala.engine.features.mailings.stored.settling import row_key
from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema import migrations as schema
from risala.engine.journal.upkeep import checksum
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.messages import Stamp
from risala.engine.model.sentences import sentence
from risala.plugins.testing.fake_driver import FakeDriver

COMMITS_BETWEEN = 6
"""While a backup is made."""


def silent(*_: object) -> None:
    pass


def rows(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute(query).fetchall()


def damage(path: Path) -> None:
    """Overwrite a page in the middle of it."""
    ((page,),) = rows(path, "select rootpage from sqlite_schema where name = 'organizations'")
    with open(path, "r+b") as file:
        file.seek(4096 * (page - 1) + 100)
        file.write(b"\xff" * 3996)


def put_back(source: Path, database: Path, **fields) -> RestoreReport:
    def stamp() -> Stamp:
        return Stamp(1_767_225_700_000)

    options = {"resend_pending": False, "even_unclean": False, "progress": silent, "stamp": stamp}
    return restore(source, database, **(options | fields))


class TestBackup:
    @pytest.mark.slow
    async def test_under_load_it_is_one_instant_and_nobody_waits_for_it(
        self, open_house, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("risala.engine.journal.upkeep.database_copy.PAGES_AT_ONCE", 32)
        steps: list[int] = []
        async with open_house(inline=False, balance="100000") as house:
            house.engine._board.stop_leasing()
            journal = house.gateway.services.recorder.journal
            commands = [SendMessage(to="+22236123456", body="x" * 500)] * 50
            for _ in range(40):
                await house.gateway.send_batch(house.principal, commands)
            during = -1

            async def load() -> None:
                while True:
                    await house.gateway.send_batch(house.principal, commands)
                    await trio.lowlevel.checkpoint()  # an accepted batch cannot be cancelled

            def look(what: str, done: int, total: int) -> None:
                trio.from_thread.check_cancelled()
                if what == "copying":
                    steps.append(done)
                    if len(steps) <= COMMITS_BETWEEN:  # as on a slower disk
                        seen = journal.statistics().commits
                        until(lambda: journal.statistics().commits > seen, "a commit between")

            async with trio.open_nursery() as nursery:
                nursery.start_soon(load)
                before = journal.statistics().commits
                report = await trio.to_thread.run_sync(
                    back_up, journal.path, tmp_path / "copy", look
                )
                during = journal.statistics().commits - before
                nursery.cancel_scope.cancel()
        assert isinstance(report, BackupReport)
        assert steps == sorted(steps)  # it never began anew
        assert len(steps) > COMMITS_BETWEEN
        assert during >= COMMITS_BETWEEN
        assert report.audit.clean
        assert report.audit.messages % 50 == 0  # whole units only
        assert report.audit.messages >= 2000
        assert audit_file(tmp_path / "copy").entries == report.audit.entries
        assert report.size_bytes == (tmp_path / "copy").stat().st_size

    @pytest.fixture
    def database(self, tmp_path, open_book) -> Path:
        path = tmp_path / "risala.db"
        book = open_book(path)
        organization = book.organization()
        for _ in range(20):
            book.accept(organization, body="y" * 1000)
        book.close()
        return path

    def test_only_its_owner_may_read_it_and_it_is_one_file(self, database, tmp_path):
        place = tmp_path / "backups"
        place.mkdir()
        back_up(database, place / "copy", silent)
        assert sorted(path.name for path in place.iterdir()) == ["copy", "copy.sha256"]
        assert stat.S_IMODE((place / "copy").stat().st_mode) == 0o600
        assert rows(place / "copy", "pragma journal_mode") == [("delete",)]
        assert rows(place / "copy", "select count(*) from messages") == [(20,)]

    def test_what_an_interrupted_one_left_is_written_over(self, database, tmp_path):
        (tmp_path / "copy.partial").write_bytes(b"half of it")
        (tmp_path / "copy.partial-wal").write_bytes(b"and its journal")
        assert back_up(database, tmp_path / "copy", silent).audit.clean
        assert {path.name for path in tmp_path.glob("copy*")} == {"copy", "copy.sha256"}

    def test_two_at_once_into_one_file(self, database, tmp_path):
        refused = []

        def second(what: str, *_: int) -> None:
            if what == "checking" and not refused:
                with pytest.raises(StorageUnusable, match="Another backup") as error:
                    back_up(database, tmp_path / "copy", silent)
                refused.append(error)

        # A few rows are checked in no time: make SQLite look at every step.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("risala.engine.journal.upkeep.database_copy.STEPS_BETWEEN_LOOKS", 1)
            back_up(database, tmp_path / "copy", second)
        assert refused
        assert audit_file(tmp_path / "copy").clean

    @pytest.mark.parametrize("stage", ["copying", "checking", "auditing"])
    async def test_a_cancelled_one_leaves_nothing_and_no_thread(
        self, database, tmp_path, stage, monkeypatch
    ):
        monkeypatch.setattr("risala.engine.journal.upkeep.database_copy.PAGES_AT_ONCE", 1)
        monkeypatch.setattr("risala.engine.journal.upkeep.database_copy.STEPS_BETWEEN_LOOKS", 1)
        reached, threads = trio.Event(), threading.active_count()

        def look(what: str, *_: int) -> None:
            if what == stage:
                trio.from_thread.run_sync(reached.set)
                threading.Event().wait(0.001)
            trio.from_thread.check_cancelled()

        async with trio.open_nursery() as nursery:
            work = partial(trio.to_thread.run_sync, back_up, database, tmp_path / "copy", look)
            nursery.start_soon(work)
            await reached.wait()
            nursery.cancel_scope.cancel()
        assert {path.name for path in tmp_path.glob("copy*")} == set()
        assert threading.active_count() <= threads + 1  # Trio keeps the idle worker for later

    def test_a_damaged_database_gives_no_backup(self, database, tmp_path):
        damage(database)
        with pytest.raises(StorageUnusable, match="damaged"):
            back_up(database, tmp_path / "copy", silent)
        assert not list(tmp_path.glob("copy*"))

    def test_never_onto_the_database_itself(self, database, tmp_path):
        (tmp_path / "link").symlink_to(database)
        for target in (database, tmp_path / "link"):
            with pytest.raises(StorageUnusable, match="the database itself"):
                back_up(database, target, silent)
        assert audit_file(database).messages == 20

    def test_a_disk_too_small_is_said_beforehand(self, database, tmp_path, monkeypatch):
        usage = SimpleNamespace(free=2_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(StorageUnusable, match="has 0 MB free"):
            back_up(database, tmp_path / "copy", silent)
        assert not list(tmp_path.glob("copy*"))

    def test_a_directory_that_is_not_there(self, database, tmp_path):
        with pytest.raises(StorageUnusable, match="not a directory"):
            back_up(database, tmp_path / "none" / "copy", silent)


class TestChecksum:
    @pytest.fixture
    def made(self, tmp_path, open_book) -> Path:
        book = open_book(tmp_path / "from.db")
        for _ in range(20):
            book.accept(book.organization(), body="Salam " * 20)
        back_up(tmp_path / "from.db", tmp_path / "backup.db", silent)
        return tmp_path / "backup.db"

    def test_it_is_beside_the_backup_as_other_programs_read_it(self, made, tmp_path):
        beside = tmp_path / "backup.db.sha256"
        digest = hashlib.sha256(made.read_bytes()).hexdigest()
        assert beside.read_text() == f"{digest}  backup.db\n"
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
        again = back_up(tmp_path / "from.db", made, silent)
        assert beside.read_text() == f"{again.sha256}  backup.db\n"

    @pytest.mark.parametrize("seed", seeds(4, 30))
    def test_no_flipped_bit_is_restored(self, made, tmp_path, seed):
        content = bytearray(made.read_bytes())
        bit = random.Random(seed).randrange(len(content) * 8)
        content[bit // 8] ^= 1 << bit % 8
        made.write_bytes(content)
        with pytest.raises(AlteredBackup, match=r"was changed or damaged: its checksum differs"):
            put_back(made, tmp_path / "risala.db")
        assert not (tmp_path / "risala.db").exists()

    def test_force_restores_even_that(self, made, tmp_path):
        (tmp_path / "backup.db.sha256").write_text("0" * 64 + "  backup.db\n")
        report = put_back(made, tmp_path / "risala.db", even_unclean=True)
        assert not report.checked

    def test_a_right_one_is_told(self, made, tmp_path):
        assert put_back(made, tmp_path / "risala.db").checked

    def test_without_one_it_is_told_too(self, made, tmp_path):
        (tmp_path / "backup.db.sha256").unlink()
        assert not put_back(made, tmp_path / "risala.db").checked

    @pytest.mark.parametrize("text", ["", "nonsense", "0" * 63 + "  backup.db\n", "\xff" * 64])
    def test_one_that_is_none(self, made, tmp_path, text):
        (tmp_path / "backup.db.sha256").write_text(text)
        with pytest.raises(AlteredBackup, match="has no checksum"):
            put_back(made, tmp_path / "risala.db")

    def test_a_crash_between_the_two_leaves_no_wrong_one(self, made, tmp_path, monkeypatch):
        def crash(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("risala.engine.journal.upkeep.checksum.write", crash)
        with pytest.raises(KeyboardInterrupt):
            back_up(tmp_path / "from.db", made, silent)
        assert not (tmp_path / "backup.db.sha256").exists()

    def test_an_index_that_disagrees_with_its_table_gives_no_backup(self, tmp_path, open_book):
        """What ``quick_check`` does not look at."""
        book = open_book(tmp_path / "from.db")
        book.accept(book.organization())
        book.conn.execute("pragma writable_schema = on")
        book.conn.execute(
            "update sqlite_schema set sql = replace(sql, 'valid_until)', 'created_at)')"
            " where name = 'message_validity'"
        )
        book.close()
        with pytest.raises(StorageUnusable, match="is damaged: "):
            back_up(tmp_path / "from.db", tmp_path / "backup.db", silent)


class TestRestore:
    async def backed_up(self, open_house, tmp_path: Path) -> dict[str, str]:
        """A service that is backed up with messages in every state, and goes on after it."""
        driver = FakeDriver(delivers=True)
        ids = {}
        async with open_house(drivers={"fake": driver}) as house:
            ids["delivered"] = await house.send("one")
            await house.wait_status(ids["delivered"], "delivered")
            driver.hold()
            ids["processing"] = await house.send("two")
            await driver.wait_submitted(2)
            await house.gateway.perform("carriers.pause", {"carrier": "fake"})
            ids["pending"] = await house.send("three")
            back_up(tmp_path / "risala.db", tmp_path / "copy", silent)
            await house.gateway.perform("carriers.resume", {"carrier": "fake"})
            driver.let_go()
            await house.wait_status(ids["pending"], "delivered")
            ids["lost"] = await house.send("four")
            await house.wait_status(ids["lost"], "delivered")
        return ids

    async def test_what_may_have_been_sent_since_fails_and_is_refunded(
        self, open_house, quick, tmp_path
    ):
        ids = await self.backed_up(open_house, tmp_path)
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        assert (report.ended, report.kept, report.audit.clean) == (2, 0, True)
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            assert house.status(ids["delivered"]) == "delivered"
            for name in ("processing", "pending"):
                view, timeline = house.gateway.show_message(ids[name])
                assert (view.status, view.error_code) == ("failed", "RESTORED")
                assert "may already have been sent" in sentence(timeline[-1])
                assert sentence(timeline[-1]).endswith("Refunded.")
            events = await house.events()
            assert [e["status"] for e in events if e["messageId"] == ids["pending"]] == ["failed"]
            await trio.sleep(600)
            assert driver.submitted == []
            assert (await house.gateway.perform("audit", {}))["clean"]

    @pytest.mark.parametrize("is_lost", [False, True])
    async def test_a_mailing_is_paused_and_what_it_sent_since_is_left_out(
        self, open_house, quick, tmp_path, is_lost
    ):
        async with open_house() as house:
            whose = {"organization_id": house.principal.organization_id, "created_at": 1}
            kept = house.gateway.services.repositories.part(MailingRepository)
            mailing = await kept.add(None, new_mailing("mlg_1", **whose), None)
            await kept.store_rows(mailing.id, [new_row(row) for row in range(1, 13)])
            # Not by `send`: the service's own task would send all of it.
            paused = {"state": MailingState.PAUSED, "started_at": 1}
            await kept.change(None, mailing.id, paused)
            back_up(tmp_path / "risala.db", tmp_path / "copy", silent)
            for row in (2, 12):
                await house.send("since", number(row), idempotency_key=row_key(mailing.id, row))
        if is_lost:
            (tmp_path / "risala.db").write_bytes(b"x" * 5000)
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        found = RestoredMailings(0, 0 if is_lost else 2, int(is_lost))
        assert report.mailings == found
        left = rows(tmp_path / "risala.db", "SELECT row FROM mailing_rows WHERE state = 2")
        assert left == ([] if is_lost else [(2,), (12,)])
        counted = rows(tmp_path / "risala.db", "SELECT ready, left_out FROM mailings")
        assert counted == [(12, 0) if is_lost else (10, 2)]

    async def test_a_mailing_that_cannot_be_read_keeps_no_backup_from_being_restored(
        self, open_house, quick, tmp_path
    ):
        async with open_house() as house:
            whose = {"organization_id": house.principal.organization_id, "created_at": 1}
            mailing = new_mailing("mlg_1", state=MailingState.SENDING, columns=(), **whose)
            kept = house.gateway.services.repositories.part(MailingRepository)
            await kept.add(None, mailing, None)
        with closing(sqlite3.connect(tmp_path / "risala.db")) as conn, conn:
            conn.execute("UPDATE mailings SET columns = '{'")
        back_up(tmp_path / "risala.db", tmp_path / "copy", silent)
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        assert report.mailings == RestoredMailings(paused=1, rows_left_out=0, unknown=1)

    async def test_or_is_sent_again_where_that_is_asked(self, open_house, quick, tmp_path):
        ids = await self.backed_up(open_house, tmp_path)
        report = put_back(tmp_path / "copy", tmp_path / "risala.db", resend_pending=True)
        assert (report.ended, report.kept, report.audit.clean) == (0, 2, True)
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            # The pause of that moment is restored as well: it holds until somebody resumes.
            await house.gateway.perform("carriers.resume", {"carrier": "fake"})
            await house.wait_status(ids["pending"], "delivered")
            texts = [sentence(entry) for entry in house.gateway.show_message(ids["pending"])[1]]
            assert any("may arrive twice" in text for text in texts)
            # What a carrier had in its hands is settled by its policy, as after a crash.
            assert house.status(ids["processing"]) == "processing"
            await trio.sleep(600)
            assert house.status(ids["processing"]) == "failed"
            assert [segment.text for segment in driver.submitted] == ["three"]
            assert (await house.gateway.perform("audit", {}))["clean"]

    async def scheduled(self, open_house, tmp_path: Path) -> tuple[dict[str, str], int]:
        """Messages for later, backed up; one is canceled and one is sent after that."""
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            now_ms = house.gateway.services.recorder.clock.now_ms()
            ids = {
                name: await house.send(name, send_at=now_ms + after_s * 1000)
                for name, after_s in (("waits", 7200), ("canceled", 7200), ("sent", 60))
            }
            back_up(tmp_path / "risala.db", tmp_path / "copy", silent)
            await house.gateway.perform("message.cancel", {"message_id": ids["canceled"]})
            await house.wait_status(ids["sent"], "delivered")
            return ids, house.gateway.services.recorder.clock.now_ms()

    async def test_what_is_scheduled_for_later_goes_on_where_it_is_proved(
        self, open_house, quick, tmp_path
    ):
        ids, now_ms = await self.scheduled(open_house, tmp_path)
        report = put_back(tmp_path / "copy", tmp_path / "risala.db", stamp=lambda: Stamp(now_ms))
        assert (report.ended, report.kept, report.scheduled, report.canceled) == (1, 0, 1, 1)
        assert report.held == 0
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            await house.wait_status(ids["waits"], "delivered")
            texts = [sentence(entry) for entry in house.gateway.show_message(ids["waits"])[1]]
            assert "Restored from a backup: it is sent at its scheduled time." in texts
            assert house.gateway.show_message(ids["sent"])[0].error_code == "RESTORED"
            assert house.status(ids["canceled"]) == "canceled"
            assert [segment.text for segment in driver.submitted] == ["waits"]
            assert (await house.gateway.perform("audit", {}))["clean"]

    async def held(
        self, open_house, tmp_path: Path, lost: str = "gone"
    ) -> tuple[dict[str, str], RestoreReport]:
        """Restored where the database that was there proves nothing of what is to come."""
        ids, now_ms = await self.scheduled(open_house, tmp_path)
        database = tmp_path / "risala.db"
        if lost == "no database":
            database.write_bytes(b"x" * 5000)
        else:
            for part in ("", "-wal", "-shm"):
                (tmp_path / f"risala.db{part}").unlink(missing_ok=True)
        if lost == "another":
            open_writer(database, schema.migrate).close()
        report = put_back(tmp_path / "copy", database, stamp=lambda: Stamp(now_ms))
        return ids, report

    @pytest.mark.parametrize("lost", ["gone", "no database", "another"])
    async def test_what_nobody_can_prove_is_held_and_listed(
        self, open_house, quick, leap, tmp_path, lost
    ):
        ids, report = await self.held(open_house, tmp_path, lost)
        assert (report.ended, report.scheduled, report.held) == (1, 0, 2)
        assert {each.id for each in report.held_first} == {ids["waits"], ids["canceled"]}
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            told = house.gateway.show_message(ids["waits"])[1]
            assert "held until the operator" in sentence(told[-2])
            assert sentence(told[-1]).startswith("It is held: the database was restored")
            await leap(3 * 3600)
            assert driver.submitted == []
            assert house.status(ids["waits"]) == "pending"

    async def test_what_is_held_is_let_go(self, open_house, quick, tmp_path):
        ids, _ = await self.held(open_house, tmp_path)
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            await house.gateway.perform("message.cancel", {"message_id": ids["canceled"]})
            found = await house.gateway.perform("restored.list", {})
            assert [each["messageId"] for each in found["messages"]] == [ids["waits"]]
            assert await house.gateway.perform("restored.release", {}) == {"count": 1}
            assert (await house.gateway.perform("restored.list", {}))["count"] == 0
            await house.wait_status(ids["waits"], "delivered")
            assert [segment.text for segment in driver.submitted] == ["waits"]

    async def test_or_is_ended_and_refunded(self, open_house, quick, tmp_path):
        ids, _ = await self.held(open_house, tmp_path)
        async with open_house(drivers={"fake": FakeDriver(delivers=True)}) as house:
            assert await house.gateway.perform("restored.end", {}) == {"count": 2}
            for name in ("waits", "canceled"):
                assert house.gateway.show_message(ids[name])[0].error_code == "RESTORED"
            assert (await house.gateway.perform("audit", {}))["clean"]

    async def test_an_old_database_of_this_machine_proves_nothing(
        self, open_house, quick, tmp_path
    ):
        """As that of a standby which was the primary once."""
        async with open_house() as house:
            back_up(tmp_path / "risala.db", tmp_path / "old", silent)
            now_ms = house.gateway.services.recorder.clock.now_ms()
            await house.send("later", send_at=now_ms + 7_200_000)
            back_up(tmp_path / "risala.db", tmp_path / "copy", silent)
        for part in ("", "-wal", "-shm"):
            (tmp_path / f"risala.db{part}").unlink(missing_ok=True)
        shutil.copy(tmp_path / "old", tmp_path / "risala.db")
        report = put_back(tmp_path / "copy", tmp_path / "risala.db", stamp=lambda: Stamp(now_ms))
        assert (report.scheduled, report.held) == (0, 1)

    @pytest.mark.parametrize("in_order", [True, False])
    async def test_what_is_due_goes_on_where_it_was_provably_not_tried(
        self, open_house, quick, tmp_path, in_order
    ):
        async with open_house(drivers={"fake": FakeDriver(delivers=True)}) as house:
            await house.gateway.perform("carriers.pause", {"carrier": "fake"})
            waits = await house.send("waits")
            back_up(tmp_path / "risala.db", tmp_path / "copy", silent)
        if not in_order:  # as after `kill -9`, which leaves no mark
            with closing(sqlite3.connect(tmp_path / "risala.db")) as conn, conn:
                conn.execute("DELETE FROM meta WHERE key = 'stopped_in_order_at'")
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        assert (report.ended, report.proved) == ((0, 1) if in_order else (1, 0))
        driver = FakeDriver(delivers=True)
        async with open_house(drivers={"fake": driver}) as house:
            await house.gateway.perform("carriers.resume", {"carrier": "fake"})
            await house.wait_status(waits, "delivered" if in_order else "failed")
            assert len(driver.submitted) == in_order
            assert (await house.gateway.perform("audit", {}))["clean"]

    async def test_the_database_that_was_there_stays_beside_it(self, open_house, quick, tmp_path):
        ids = await self.backed_up(open_house, tmp_path)
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        assert report.set_aside is not None
        assert report.set_aside.name.startswith("risala.db.before-restore-2026")
        query = f"select status from messages where id = '{ids['lost']}'"
        assert rows(report.set_aside, query) == [("delivered",)]
        assert rows(tmp_path / "risala.db", query) == []
        assert not list(tmp_path.glob("*.restoring*"))
        assert stat.S_IMODE((tmp_path / "risala.db").stat().st_mode) == 0o600

    def test_a_wal_that_a_crash_left_belongs_to_the_old_one(self, tmp_path, open_book):
        book = open_book(tmp_path / "live.db")
        organization = book.organization()
        back_up(tmp_path / "live.db", tmp_path / "copy", silent)
        book.conn.execute("pragma journal_mode = wal")
        lost = book.accept(organization)
        # As after `kill -9`: the WAL is there and nobody has folded it in.
        shutil.copy(tmp_path / "live.db", tmp_path / "risala.db")
        shutil.copy(tmp_path / "live.db-wal", tmp_path / "risala.db-wal")
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        assert rows(report.set_aside, "select id from messages") == [(lost,)]
        assert rows(tmp_path / "risala.db", "select id from messages") == []

    def test_a_damaged_database_is_set_aside_as_it_is(self, tmp_path, open_book):
        open_book(tmp_path / "live.db").organization()
        back_up(tmp_path / "live.db", tmp_path / "copy", silent)
        (tmp_path / "risala.db").write_bytes(b"no database" * 1000)
        (tmp_path / "risala.db-wal").write_bytes(b"no wal")
        report = put_back(tmp_path / "copy", tmp_path / "risala.db")
        assert report.set_aside.read_bytes() == b"no database" * 1000
        assert not (tmp_path / "risala.db-wal").exists()
        assert audit_file(tmp_path / "risala.db").organizations == 1

    def test_into_an_empty_directory(self, tmp_path, open_book):
        open_book(tmp_path / "live.db").organization()
        back_up(tmp_path / "live.db", tmp_path / "copy", silent)
        (tmp_path / "new").mkdir()
        report = put_back(tmp_path / "copy", tmp_path / "new" / "risala.db")
        assert (report.set_aside, report.audit.organizations) == (None, 1)

    @pytest.fixture
    def live(self, tmp_path, open_book) -> Path:
        open_book(tmp_path / "risala.db").organization()
        return tmp_path / "risala.db"

    def assert_untouched(self, live: Path) -> None:
        assert audit_file(live).organizations == 1
        assert {path.name for path in live.parent.glob("risala.db*")} <= {
            "risala.db", "risala.db-wal", "risala.db-shm"
        }  # fmt: skip

    def test_books_that_do_not_agree_are_refused_unless_told_otherwise(self, live, tmp_path):
        back_up(live, tmp_path / "copy", silent)
        with closing(sqlite3.connect(tmp_path / "copy")) as conn, conn:
            conn.execute("update organizations set balance = balance + 1")
        checksum.forget(tmp_path / "copy")
        with pytest.raises(UncleanBackup, match="its balance is"):
            put_back(tmp_path / "copy", live)
        self.assert_untouched(live)
        assert not put_back(tmp_path / "copy", live, even_unclean=True).audit.clean

    def test_what_is_no_backup_is_refused(self, live, tmp_path):
        (tmp_path / "text").write_text("Hello " * 1000)
        (tmp_path / "empty").touch()
        rows(tmp_path / "other", "create table t (a)")
        for name, words in (
            ("text", "is not a database"),
            ("empty", "is not a backup of Risala"),
            ("other", "is not a backup of Risala"),
            ("none", "There is no file"),
            ("risala.db", "is the database itself"),
        ):
            with pytest.raises(StorageUnusable, match=words):
                put_back(tmp_path / name, live)
        self.assert_untouched(live)

    def test_a_damaged_backup_is_refused(self, live, tmp_path):
        back_up(live, tmp_path / "copy", silent)
        damage(tmp_path / "copy")
        checksum.forget(tmp_path / "copy")
        with pytest.raises(StorageUnusable, match="is damaged"):
            put_back(tmp_path / "copy", live)
        self.assert_untouched(live)

    def test_one_of_a_newer_version_is_refused(self, live, tmp_path):
        back_up(live, tmp_path / "copy", silent)
        with closing(sqlite3.connect(tmp_path / "copy")) as conn, conn:
            conn.execute("update _sqlite_migrations set name = 'v9.9_new' where id = 1")
        checksum.forget(tmp_path / "copy")
        with pytest.raises(StorageUnusable, match="newer Risala"):
            put_back(tmp_path / "copy", live)
        self.assert_untouched(live)

    def test_one_of_an_older_version_is_brought_up_to_date(self, live, tmp_path):
        open_writer(tmp_path / "old", schema.migrate).close()
        with stones.migrations():
            assert put_back(tmp_path / "old", live).audit.clean
            applied = {row[0] for row in rows(live, "select name from _sqlite_migrations")}
        assert stones.LATER in applied
