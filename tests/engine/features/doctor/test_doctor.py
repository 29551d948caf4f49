"""Each thing that the doctor looks at, well and ill."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import stones
from risala.config.alerts import AlertsSection
from risala.config.model import HttpSection, Settings
from risala.config.smpp_server import SmppServerSection
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.features.backup.stored.backup import back_up
from risala.engine.features.doctor import machine, stored
from risala.engine.features.doctor.examine import examine
from risala.engine.journal.store.opening import open_reader, refuse_foreign
from risala.engine.journal.upkeep import backup_note
from risala.engine.journal.upkeep.upgrade.upgrade import forecast
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import Finding, Grade, Patient
from risala.engine.model.records.carriers.state import (
    Carrier,
    CarrierCondition,
    FileValues,
    ServedNumbers,
)
from risala.engine.model.records.upkeep.service import BackupNote
from stones import StonesMove, write_stones

NOW_MS = 1_767_225_600_000


def silent(*_: object) -> None:
    pass


@pytest.fixture
def book(tmp_path, open_book):
    tmp_path.chmod(0o700)
    book = open_book(tmp_path / "risala.db")
    (tmp_path / "risala.db").chmod(0o600)
    return book


@pytest.fixture
def patient(tmp_path, book) -> Patient:
    return Patient(tmp_path, NOW_MS, running=False)


def found(patient: Patient, name: str) -> Finding:
    [check] = [check for check in examine(patient, silent) if check.name == name]
    return check


def with_settings(patient: Patient, **sections: Any) -> Patient:
    return replace(patient, known_settings=Settings.model_construct(**sections))


def lane(name: str = "mattel", state: str = "up", gate: str = "open", **more: Any) -> Carrier:
    return Carrier(
        name=name,
        carrier=name,
        driver="fake",
        state=state,
        text="",
        gate=gate,
        rate_max_per_s=1,
        condition=CarrierCondition("up", {}),
        numbers=ServedNumbers((), ()),
        priority=0,
        weight=1,
        file=FileValues(1, 1),
        override=None,
        queue=0,
        queue_is_longer=False,
        oldest=None,
        **more,
    )


def test_a_key_that_others_may_read(patient, tmp_path):
    key = tmp_path / "tls.pem"
    key.write_text("")
    http = HttpSection.model_construct(tls_certificate=key)
    for mode, state in ((0o600, Grade.OK), (0o644, Grade.WARN)):
        key.chmod(mode)
        assert found(with_settings(patient, http=http), "tls keys").state is state


def test_a_service_that_cannot_tell_how_it_is_is_not_called_well(patient):
    told = {"journal": {"ailment": "The disk that holds the database is full."}}
    untold = replace(patient, running=True, untold="The database cannot be read.")
    assert found(untold, "standing").state is Grade.FAIL
    assert found(untold, "standing").text.endswith("its state: The database cannot be read.")
    names = {check.name for check in examine(untold, silent)}
    assert names.isdisjoint({"journal", "carriers", "loop"})  # nothing is said that nobody knows
    assert found(replace(untold, statistics=told), "journal").state is Grade.FAIL


def test_all_is_well(patient, book):
    book.organization()
    checks = examine(replace(patient, running=True, carriers=(lane(),)), silent)
    ill = [check for check in checks if check.state is Grade.FAIL]
    assert ill == []
    assert len({check.name for check in checks}) == len(checks) >= 10
    for check in checks:
        assert check.text.endswith(".")


def test_a_directory_that_is_not_there_is_no_failure(tmp_path):
    checks = examine(Patient(tmp_path / "none", NOW_MS, running=False), silent)
    assert [check.state for check in checks] == [Grade.WARN, Grade.OK]


@pytest.mark.parametrize("name", ["", "risala.db"])
def test_rights(patient, name):
    (patient.data_dir / name).chmod(0o755)
    check = found(patient, "directory")
    assert check.state is Grade.WARN
    assert "chmod go-rwx" in check.text


@pytest.mark.parametrize(
    ("kind", "state"),
    [("ext4", Grade.OK), ("tmpfs", Grade.WARN), ("nfs4", Grade.FAIL)],
)
def test_file_systems(patient, monkeypatch, kind, state):
    monkeypatch.setattr(machine, "filesystem_of", lambda *_: kind)
    assert found(patient, "file system").state is state


@pytest.mark.parametrize(
    ("free", "state"),
    [(10_000_000, Grade.FAIL), (500_000_000, Grade.WARN), (50_000_000_000, Grade.OK)],
)
def test_disk(patient, monkeypatch, free, state):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert found(patient, "disk").state is state


def test_a_wal_that_nothing_is_folded_in_of_is_told(patient, monkeypatch):
    (patient.data_dir / "risala.db-wal").write_bytes(b"x" * 1000)
    assert "wal" not in {each.name for each in examine(patient, lambda *_: None)}
    monkeypatch.setattr(machine, "WAL_WARN_BYTES", 1000)
    told = found(patient, "wal")
    assert told.state is Grade.WARN
    assert "risala.db-wal has grown" in told.text


def test_the_disk_is_low_from_where_the_settings_say(patient, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2_000_000_000))
    limits = AlertsSection(disk_free_bytes=3_000_000_000)
    assert found(with_settings(patient, alerts=limits), "disk").state is Grade.WARN


def test_a_backup_that_is_old_or_was_never_made(patient, book):
    assert [check for check in examine(patient, silent) if check.name == "backup"] == []
    book.organization()
    assert found(patient, "backup").state is Grade.OK
    later = replace(patient, now_ms=NOW_MS + 40 * 3_600_000)
    assert (
        "There is no backup, although there has been data for 40 hours"
        in found(later, "backup").text
    )
    backup_note.write(patient.data_dir, BackupNote(NOW_MS + 3_600_000, 1))
    assert "39 hours ago" in found(later, "backup").text
    backup_note.write(patient.data_dir, BackupNote(later.now_ms, 1))
    assert found(later, "backup").state is Grade.OK


def test_alerts_that_are_open(patient, book):
    assert found(patient, "alerts").state is Grade.OK
    given = (AlertKind.QUEUE_OLD, "+2223", {}, NOW_MS)
    book.unit(lambda conn: alerts.raise_one(conn, *given) is not None)
    check = found(patient, "alerts")
    assert (check.state, check.text[:9]) == (Grade.WARN, "1 is open")


def test_who_holds_the_data(patient):
    assert found(patient, "service").state is Grade.WARN
    assert found(replace(patient, pid=1), "service").state is Grade.FAIL
    running = found(replace(patient, running=True, pid=1), "service")
    assert running == Finding("service", Grade.OK, "The service runs as process 1 and answers.")


@pytest.mark.parametrize(
    ("version", "words"),
    [((3, 40, 1), "harmless here"), ((3, 51, 3), "SQLite 3.51.3."), ((3, 53, 0), "3.53.0.")],
)
def test_sqlite(version, words):
    check = machine.sqlite(version)
    assert check.state is Grade.OK
    assert words in check.text


def test_a_clock_that_was_set_back(patient, book):
    book.organization()
    assert found(patient, "clock").state is Grade.OK
    assert found(replace(patient, now_ms=NOW_MS - 1000), "clock").state is Grade.OK
    book.now_ms += 60_000
    book.accept(book.organization())
    check = found(patient, "clock")
    assert check.state is Grade.FAIL
    assert "was set back" in check.text
    assert found(replace(patient, now_ms=0), "clock").state is Grade.FAIL


def test_the_queue(patient, book):
    assert found(patient, "queue").text == "No due message is waiting."
    assert found(patient, "mail").text == "No mail is stuck."
    organization = book.organization()
    book.accept(organization)
    book.accept(organization, due_at=NOW_MS + 10**9)
    running = replace(patient, running=True)
    assert found(patient, "queue").state is Grade.WARN  # until the service is started
    assert found(running, "queue").text == "1 due messages wait, the oldest for 0 s."
    later = replace(running, now_ms=NOW_MS + 301_000)
    assert found(later, "queue").state is Grade.WARN


def test_a_damaged_database(patient, book):
    page = book.one("select rootpage from sqlite_schema where name = 'entry'")
    book.close()
    with open(patient.data_dir / "risala.db", "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    check = found(patient, "database")
    assert check.state is Grade.FAIL
    assert "restore a backup" in check.text
    (patient.data_dir / "risala.db").write_bytes(b"nonsense" * 1000)
    assert found(patient, "database").state is Grade.FAIL


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("CREATE INDEX mine ON message (status)", "it has the index 'mine', which"),
        ("CREATE VIEW mine AS SELECT 1", "it has the view 'mine', which"),
        (
            "CREATE TRIGGER mine AFTER INSERT ON message BEGIN SELECT 1; END",
            "it has the trigger 'mine', which",
        ),
        ("DROP TRIGGER audit_log_no_delete", "it lacks the trigger 'audit_log_no_delete'"),
    ],
)
def test_what_would_block_a_restore_is_named(patient, book, tmp_path, made, named):
    assert found(patient, "schema").state is Grade.OK
    book.close()
    with closing(sqlite3.connect(tmp_path / "risala.db")) as conn:
        conn.execute(made)
    check = found(patient, "schema")
    assert check.state is Grade.WARN
    assert named in check.text
    back_up(tmp_path / "risala.db", tmp_path / "copy.db", silent)
    with closing(open_reader(tmp_path / "copy.db")) as conn, pytest.raises(StorageUnusable):
        refuse_foreign(conn, tmp_path / "copy.db")


@pytest.mark.parametrize(
    ("carriers", "state"),
    [
        ((), Grade.FAIL),
        ((lane(),), Grade.OK),
        ((lane(state="down"),), Grade.FAIL),
        ((lane(), lane("b", state="down")), Grade.WARN),
        ((lane(gate="paused"),), Grade.WARN),
        ((lane(), lane("b", gate="leaving")), Grade.OK),
        ((lane(details={"attention": "Top it up."}),), Grade.WARN),
        ((lane(details={"attention": None}),), Grade.OK),
    ],
)
def test_carriers(patient, carriers, state):
    assert found(replace(patient, running=True, carriers=carriers), "carriers").state is state


@pytest.mark.parametrize(
    ("journal", "state"),
    [
        ({"units": 5, "commits": 2, "last_error": None}, Grade.OK),
        ({"last_error": "database or disk is full"}, Grade.WARN),
        ({"queue_peak": 90, "queue_max": 100, "last_error": None}, Grade.WARN),
    ],
)
def test_the_journal(patient, journal, state):
    ill = replace(patient, running=True, statistics={"journal": journal})
    assert found(ill, "journal").state is state


def test_open_files(patient, monkeypatch):
    for limit, state in ((1024, Grade.WARN), (65536, Grade.OK), (None, Grade.WARN)):
        monkeypatch.setattr(machine, "file_limit", lambda _, limit=limit: limit)
        assert found(patient, "open files").state is state
    monkeypatch.undo()
    assert machine.file_limit(None) >= 256
    assert machine.file_limit(2**22 + 1) is None  # beyond the largest pid


def test_it_changes_nothing(patient, book):
    book.close()
    before = {path.name: path.read_bytes() for path in Path(patient.data_dir).iterdir()}
    examine(patient, silent)
    assert {path.name: path.read_bytes() for path in Path(patient.data_dir).iterdir()} == before


def test_what_held_the_service_up_is_told_with_the_worst_of_it(patient):
    times = [
        {"at": "2026-01-01T00:00:00.000Z", "for_s": 2.5, "carriers": [], "where": "a/b.py:1 in f"},
        {
            "at": "2026-01-02T00:00:00.000Z",
            "for_s": 20,
            "carriers": ["one", "two"],
            "where": "here",
        },
    ]

    def loop(*latest: dict[str, Any]) -> Finding:
        statistics = {"loop": {"blockages": len(latest), "latest": list(latest)}}
        return found(replace(patient, running=True, statistics=statistics), "loop")

    assert loop().state is Grade.OK
    stop = {"at": "2026-01-03T00:00:00.000Z", "for_s": 60.1}
    stopped = {"loop": {"blockages": 0, "latest": [], "stops": 2, "lastStop": stop}}
    told = found(replace(patient, running=True, statistics=stopped), "loop")
    assert told.state is Grade.OK
    assert "stopped from outside 2 times, last on 2026-01-03T00:00:00.000Z for 60.1 s" in told.text
    for part in ("once", "2.5 s", "other than a driver", "a/b.py:1 in f"):
        assert part in loop(times[0]).text
    assert loop(*times).state is Grade.WARN
    for part in ("2 times", "2026-01-02", "20 s", "the driver of one or two", "here"):
        assert part in loop(*times).text


@pytest.mark.parametrize("ailment", ["The database was removed. Restore.", None])
def test_what_the_service_knows_of_its_storage(patient, ailment):
    patient = replace(patient, running=True, statistics={"journal": {"ailment": ailment}})
    check = found(patient, "journal")
    assert check.state is (Grade.FAIL if ailment else Grade.OK)
    if ailment:
        assert check.text == "Nothing is accepted: the database was removed. Restore."


def test_a_database_that_was_there(tmp_path):
    tmp_path.chmod(0o700)
    patient = Patient(tmp_path, NOW_MS, running=False)
    assert found(patient, "database").state is Grade.WARN
    (tmp_path / "made-risala").write_text("")
    check = found(patient, "database")
    assert check.state is Grade.FAIL
    assert "put it back, or restore a backup" in check.text


class TestVersion:
    @pytest.fixture
    def old(self, tmp_path, monkeypatch) -> Iterator[Patient]:
        tmp_path.chmod(0o700)
        ahead = partial(forecast, moves=[StonesMove()])
        monkeypatch.setattr(stored, "forecast", ahead)
        with stones.migrations():
            write_stones(tmp_path / "risala.db", 3)
            yield Patient(tmp_path, NOW_MS, running=False)

    def test_a_database_of_before_is_told_with_what_it_takes(self, old):
        check = found(old, "version")
        assert check.state is Grade.WARN
        assert check.text.startswith("The database is of an older version. The next start upgrades")
        assert " MB of disk space; " in check.text
        names = {check.name for check in examine(old, silent)}
        assert "queue" not in names, "its rows are not where today's are"

    def test_too_little_room_for_it_is_a_failure(self, old, monkeypatch):
        full = partial(stored.forecast, free_bytes=lambda _: 1_000_000)
        monkeypatch.setattr(stored, "forecast", full)
        check = found(old, "version")
        assert (check.state, "only 1 MB are free. Free some space" in check.text) == (
            Grade.FAIL,
            True,
        )

    def test_a_service_that_is_at_it_says_how_far_it_is(self, old):
        sentence = "The database is being upgraded to this version: moving rows, 43 %."
        busy = replace(old, running=True, pid=7, upgrading=sentence)
        assert found(busy, "service") == Finding("service", Grade.WARN, sentence)
        names = {check.name for check in examine(busy, silent)}
        assert not names & {"carriers", "version", "queue"}

    def test_one_of_today_says_nothing_of_it(self, patient):
        assert "version" not in {check.name for check in examine(patient, silent)}


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ({"kept": 7, "dropped": 0, "ailment": None}, None),
        ({"kept": 7, "dropped": 12, "ailment": None}, "12 requests are missing"),
        ({"kept": 0, "dropped": 3, "ailment": "The disk is full."}, "The disk is full."),
    ],
)
def test_a_log_of_requests_that_is_ill_is_told(patient, requests, told):
    ill = replace(patient, running=True, statistics={"requests": requests})
    said = [each for each in examine(ill, silent) if each.name == "request log"]
    assert [each.state for each in said] == ([] if told is None else [Grade.WARN])
    assert told is None or told in said[0].text


SINK = {"name": "log", "state": "running", "text": "", "behind": 0, "missed": 0, "missedAt": None}


@pytest.mark.parametrize(
    ("sinks", "told"),
    [
        ([], []),
        ([SINK], [(Grade.OK, "All accept their events.")]),
        (
            [{**SINK, "state": "failing", "text": "It is down.", "behind": 7}, SINK],
            [(Grade.WARN, "The event sink log accepts nothing, and 7 events wait: It is down.")],
        ),
        (
            [{**SINK, "missed": 3, "missedAt": "2026-01-01T00:00:00.000Z"}],
            [
                (
                    Grade.WARN,
                    "The event sink log lost 3 events, the last on 2026-01-01T00:00:00.000Z",
                )
            ],
        ),
    ],
)
def test_how_event_sinks_do_is_told(patient, sinks, told):
    seen = replace(patient, running=True, statistics={"sinks": sinks})
    said = [each for each in examine(seen, silent) if each.name == "event sinks"]
    assert [each.state for each in said] == [state for state, _ in told]
    assert all(each.text.startswith(text) for each, (_, text) in zip(said, told, strict=True))


def test_a_policy_that_failed_is_told(patient):
    well = {"name": "words", "failed": 0, "last_error": None}
    ill = {**well, "failed": 3, "last_error": "It took longer than 1 s."}
    for policies, state, text in (
        ([well], Grade.OK, "All policies answer."),
        ([well, ill], Grade.WARN, "The policy words failed 3 times since the start, and those"),
    ):
        seen = replace(patient, running=True, statistics={"policies": policies})
        (said,) = [each for each in examine(seen, silent) if each.name == "policies"]
        assert said.state is state
        assert said.text.startswith(text)


@pytest.mark.parametrize(
    ("settings", "state"),
    [
        ({"enabled": True}, Grade.OK),
        ({"enabled": True, "bind": ["localhost:2775", "[::1]:2775"]}, Grade.OK),
        ({"enabled": True, "bind": [], "tls_bind": ["0.0.0.0:3550"]}, Grade.OK),
        ({"enabled": True, "bind": ["0.0.0.0:2775"]}, Grade.WARN),
    ],
)
def test_smpp_that_crosses_the_network_as_it_is(patient, settings, state):
    server = SmppServerSection.model_validate(settings)
    assert found(with_settings(patient, smpp_server=server), "smpp server").state is state


def test_an_smpp_server_that_is_closed_is_nobodys_matter(patient):
    assert "smpp server" not in [check.name for check in examine(patient, silent)]
