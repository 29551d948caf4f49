"""The disk fails at each call that the store makes, while the service runs."""

from __future__ import annotations

import errno

import pytest

from bad_machine import SHORT, Call, Files
from patience import until

pytestmark = pytest.mark.slow
MORE = """
[sinks.archive]
sink = "jsonl"
begin = "start"
[sinks.archive.jsonl]
folder = "{data}/events"
rotate_bytes = 1000
keep = 1
"""
"""Files that are put aside and removed after every few messages."""


def write_archive(stand):
    """A file with everything of the organization, as its owner asks for it; how it ended."""
    whose = {"organization_id": stand.account.organization_id}
    asked = stand.service.perform("export.ask", **whose)["id"]

    def ended():
        found = stand.service.perform("export.show", export_id=asked)
        return found if found["state"] != "writing" else None

    return until(ended, "the archive is written, or is not to be")


def test_renames_fail(stand, make_machine, tmp_path):
    with stand.trial("renames_fail") as trial:
        trial.send_quietly()
        with stand.machine.failing(Call.RENAME, errno.EIO):
            until(lambda: trial.send() and trial.log("sink.failed"), "a file is to be put aside")
            trial.saw_log("sink.failed", "reason")
            trial.saw_doctor("event sinks")
            assert write_archive(stand)["reason"] == "broken"
            trial.saw_log("exporting.failed", "reason")
        elsewhere = make_machine(tmp_path)
        with elsewhere.failing(Call.RENAME, errno.EIO):
            target = str(tmp_path / "copy.db")
            trial.saw_command("backup", target, environment=elsewhere.environment)
        assert [*tmp_path.iterdir()] == []
        trial.wait_whole()
        trial.saw_log("sink.recovered")
        assert write_archive(stand)["state"] == "ready"


def test_unlinks_fail(stand):
    with stand.trial("unlinks_fail") as trial:
        made = write_archive(stand)["id"]
        file = stand.service.data / "exports" / f"{made}.zip"
        with stand.machine.failing(Call.UNLINK, errno.EIO):
            stand.service.perform("export.delete", export_id=made)
            trial.saw_log("exporting.untidy", "reason")
            until(lambda: trial.send() and trial.log("sink.failed"), "a file is to be removed")
            trial.saw_log("sink.failed", "reason")
        assert file.exists()
        trial.wait_whole()
        trial.saw_log("sink.recovered")
        write_archive(stand)
        assert not file.exists()


def test_truncates_fail(stand):
    with stand.trial("truncates_fail") as trial:
        with stand.machine.failing(Call.TRUNCATE, errno.EIO):
            for _ in range(3):
                trial.send()
            stand.service.command("audit")
        trial.wait_whole()


def test_full(stand):
    with stand.trial("disk_full") as trial:
        trial.send_quietly()
        with stand.machine.failing(Call.WRITE, errno.ENOSPC):
            for _ in range(3):
                trial.send()
            trial.saw_not_ready()
            trial.saw_log("storage.failed", "reason")
            trial.saw_doctor("journal")
        trial.wait_whole()
        trial.saw_log("storage.recovered")


@pytest.mark.parametrize(
    ("row", "call", "error", "files"),
    [
        ("write_fails", Call.WRITE, errno.EIO, Files.WAL),
        ("mounted_read_only", Call.WRITE, errno.EROFS, Files.ANY),
        ("sync_fails", Call.SYNC, errno.EIO, Files.WAL),
    ],
)
def test_a_disk_that_refuses(stand, row, call, error, files):
    with stand.trial(row) as trial:
        with stand.machine.failing(call, error, files):
            for _ in range(3):
                trial.send()
            trial.saw_not_ready()
            trial.saw_log("storage.failed", "reason")
        trial.wait_whole()
        trial.saw_log("storage.recovered")


def test_short_writes(stand):
    with stand.trial("short_writes") as trial:
        with stand.machine.failing(Call.WRITE, SHORT):
            for _ in range(5):
                trial.send()
        trial.wait_whole()


def test_short_writes_and_then_full(stand):
    with stand.trial("short_then_full") as trial:
        with stand.machine.failing(Call.WRITE, errno.ENOSPC, Files.WAL, after=1):
            trial.send()
            trial.saw_log("storage.failed", "reason")
        trial.wait_whole()


def test_new_files_cannot_be_opened(stand):
    with stand.trial("open_fails") as trial:
        with stand.machine.failing(Call.OPEN, errno.EMFILE):
            for _ in range(3):
                trial.send()
        trial.wait_whole()


@pytest.mark.long
def test_reads_fail(stand):
    with stand.trial("read_fails") as trial:
        trial.send_quietly()
        stand.service.stop()
        stand.service.restart()
        with stand.machine.failing(Call.READ, errno.EIO):
            for _ in range(3):
                trial.send()
            trial.saw_not_ready()
            trial.saw_log("storage.failed", "reason")
            trial.saw_doctor("journal")
            trial.saw_doctor("standing")
        trial.send()  # what was met is not forgotten, though it can be read by now
        stand.service.stop()
        stand.service.restart()
        trial.wait_whole()
