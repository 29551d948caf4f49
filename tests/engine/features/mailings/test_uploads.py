"""Uploaded files: whole or not at all, private, found by their owner alone, and removed in time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from risala.engine.features.tables import uploads as module
from risala.engine.features.tables.uploads import WAITING_MAX, Uploads
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.ids import IdSource
from risala.engine.model.records.people.organizations import STORED_FULL

OURS, OTHERS = "org_1", "org_2"
DAY_MS = 86_400_000


class Clock:
    def __init__(self) -> None:
        self.ms = 1_767_225_600_000

    def now_ms(self) -> int:
        return self.ms


class Desk:
    """Uploads, and the names of those that mailings hold."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.held: set[str] = set()
        self.room = 10**9
        self.folder = folder / "mailings"
        self.uploads = self.again()

    def again(self) -> Uploads:
        """As after a restart."""
        data_dir = self.folder.parent
        ids = IdSource(self.clock)
        return Uploads(
            data_dir, self.clock, ids, lambda: self.held, lambda _: self.room, inline=True
        )

    @property
    def files(self) -> set[str]:
        return {each.name for each in self.folder.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def _chunks(*chunks: bytes):
    for each in chunks:
        yield each


async def test_an_upload_is_private_and_its_owners_over_a_restart(desk):
    upload = await desk.uploads.receive(OURS, _chunks(b"name;", b"number"), "C:\\lists\\écoles.csv")
    path = desk.again().path_of(upload, OURS)
    assert path.read_bytes() == b"name;number"
    assert desk.again().find(upload, OURS).name == "écoles.csv"
    assert {os.stat(desk.folder / each).st_mode & 0o777 for each in desk.files} == {0o600}
    assert os.stat(desk.folder).st_mode & 0o777 == 0o700
    for stranger in (upload, "upl_1", "../risala", upload.replace("upl", "mlg")):
        with pytest.raises(NotFound):
            desk.uploads.path_of(stranger, OTHERS)


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        ("/tmp/می\u200cخواهم.csv", "می\u200cخواهم.csv"),
        ("a\u202evsc.exe\x00\x1b", "avsc.exe"),
        ("\u200b\x07", ""),
        ("b" * 300, "b" * 100),
    ],
)
async def test_an_upload_is_called_as_any_name_is(desk, called, shown):
    upload = await desk.uploads.keep(OURS, b"1", called)
    assert desk.uploads.find(upload, OURS).name == shown


async def test_an_upload_has_one_reader(desk):
    upload = await desk.uploads.keep(OURS, b"1", "a.csv")
    with desk.uploads.used(upload, OURS) as found:
        assert found.id == upload
        with pytest.raises(Conflict, match="used already"), desk.uploads.used(upload, OURS):
            raise AssertionError("read twice")
        desk.clock.ms += 2 * DAY_MS
        await desk.uploads.tidy()
    with pytest.raises(NotFound), desk.uploads.used(upload, OTHERS):
        raise AssertionError("another's")
    with desk.uploads.used(upload, OURS):
        pass  # the reader before has failed, or the list was full
    desk.held.add(upload)
    with pytest.raises(Conflict, match="Upload the file again"), desk.uploads.used(upload, OURS):
        raise AssertionError("a mailing has it")


async def test_nothing_is_left_of_a_file_that_is_too_large_or_cut_off(desk, monkeypatch):
    monkeypatch.setattr(module, "FILE_BYTES_MAX", 10)
    with pytest.raises(Invalid) as caught:
        await desk.uploads.receive(OURS, _chunks(b"123456", b"78901"), "a.csv")
    assert caught.value.code == "file_too_large"

    async def cut():
        yield b"1"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await desk.uploads.receive(OURS, cut(), "a.csv")
    assert desk.files == set()


async def test_too_many_uploads_of_one_organization_are_refused(desk):
    made = [await desk.uploads.keep(OURS, b"1", "a") for _ in range(WAITING_MAX)]
    with pytest.raises(Conflict):
        await desk.uploads.keep(OURS, b"1", "a")
    await desk.uploads.keep(OTHERS, b"1", "a")
    desk.held.add(made[0])
    await desk.uploads.keep(OURS, b"1", "a")
    await desk.uploads.drop(made[1])
    await desk.uploads.keep(OURS, b"1", "a")


async def test_what_no_mailing_needs_is_removed_after_a_day(desk):
    held, free = [await desk.uploads.keep(OURS, b"1", "a") for _ in range(2)]
    desk.uploads.beside(free, "rows").write_text("[]")
    desk.held.add(held)
    desk.clock.ms += DAY_MS - 1
    await desk.uploads.tidy()
    assert len(desk.files) == 5
    desk.clock.ms += 1
    await desk.uploads.tidy()
    assert desk.files == {f"{held}.file", f"{held}.json"}


async def test_files_that_wait_count_against_what_an_organization_may_store(desk):
    desk.room = 10
    await desk.uploads.keep(OURS, b"12345", "a.csv")
    used = await desk.uploads.keep(OURS, b"12345", "b.csv")
    assert await desk.uploads.waiting(OURS) == (2, 10)
    with pytest.raises(Conflict, match=STORED_FULL):
        await desk.uploads.keep(OURS, b"1", "c.csv")
    await desk.uploads.keep(OTHERS, b"1", "theirs.csv")
    desk.held.add(used)  # it is a mailing's now, and counted there
    await desk.uploads.keep(OURS, b"1", "d.csv")
