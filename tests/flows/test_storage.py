"""A database that is lost or damaged under the running service, as its operator meets it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

pytestmark = pytest.mark.slow


def not_ready(service) -> str:
    answer = service.get("/readyz")
    assert answer.status_code == 503
    return answer.json()["data"]["reasons"][0]


def journal_of(service) -> tuple[int, dict]:
    doctor = service.command("doctor", "--json")
    found = {check["name"]: check for check in json.loads(doctor.stdout)["checks"]}
    return doctor.returncode, found


def test_a_removed_database_stops_everything_until_it_is_put_back(premises):
    service = premises.running(premises.simulator())
    account = service.organization()
    kept = service.send(account, body="before").json()["messageId"]
    service.wait_status(account, kept, "delivered")

    database, away = service.data / "risala.db", service.data.parent / "away.db"
    database.rename(away)
    refused = service.send(account, body="into the void", idempotencyKey="key-of-the-void")
    assert refused.status_code == 503
    assert not_ready(service) == "the database was removed while the service runs"
    status, found = journal_of(service)
    assert status == 1
    assert found["journal"]["state"] == found["database"]["state"] == "fail"
    backup = service.command("backup", str(service.data.parent / "void.db"))
    assert backup.returncode == 1
    assert "There is no database" in backup.stderr or "was removed" in backup.stderr
    assert service.get("/healthz").status_code == 200
    service.stop()

    start = service.command("serve", "--port", "0")
    assert start.returncode == 1
    assert "there was one: put it back, or restore a backup" in start.stderr
    assert not database.exists()
    away.rename(database)
    service.restart()
    service.wait_status(account, kept, "delivered")
    service.assert_books_agree()


def test_damaged_pages_stop_acceptance_whoever_reads_them(premises):
    service = premises.running(premises.simulator())
    account = service.organization()
    assert service.send(account, body="before").status_code == 200
    service.wait_settled()
    service.stop()
    database = service.data / "risala.db"
    with closing(sqlite3.connect(database)) as conn:
        (page,) = conn.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'hour_count'"
        ).fetchone()
    with open(database, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    service.restart()
    audit = service.command("audit")  # reads all but the counts
    assert audit.returncode == 0
    assert service.send(account, body="needs the counts").status_code == 503
    assert "the database is damaged" in not_ready(service)
    assert service.send(account, body="still").status_code == 503
    audit = service.command("audit")
    status, found = journal_of(service)
    assert status == 1
    assert "is damaged" in found["database"]["text"]
    assert "Nothing is accepted: the database is damaged" in found["journal"]["text"]
    metrics = service.get("/metrics").text
    assert "risala_storage_well 0.0" in metrics
