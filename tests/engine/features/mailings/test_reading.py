"""Tables are read in a process of its own, which has bounds."""

import io
import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pytest
import trio
import trio.testing

from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.features.mailings import checking as mailing_checking
from risala.engine.features.mailings.checking import BUSY_PAUSE, PIECE_S
from risala.engine.features.tables import reading
from risala.engine.features.tables.reading import (
    ReadRequest,
    SheetFault,
    part_of,
    read,
    write_workbook,
)
from risala.engine.features.tables.records import Chosen, Recognised
from risala.engine.model.errors import Overloaded, StorageFailed

LIST = "Nom;Tél;Frais\nBâ;22123456;5\nLy;12;6\n".encode("cp1252")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture
def asked(tmp_path):
    def asks(octets, **values):
        path = tmp_path / "upl_1.file"
        path.write_bytes(octets)
        rows_path = tmp_path / "upl_1.rows"
        return ReadRequest(
            owner=values.pop("owner", "org_1"),
            path=path,
            rows_path=rows_path,
            countries=("MR",),
            **values,
        )

    return asks


def rows_of(request):
    return [json.loads(line) for line in request.rows_path.read_text().splitlines()]


def names(folder):
    return sorted(each.name for each in folder.iterdir())


async def test_a_table_is_read(asked, tmp_path):
    request = asked(LIST, text="{{nom}}: {{frais}}")
    result = await read(request)
    assert result.rows == 2
    assert result.recognised == Recognised(
        encoding="windows-1252",
        separator=";",
        sheet=None,
        sheets=(),
        has_header=True,
        columns=("Nom", "Tél", "Frais"),
        number_column=1,
    )
    assert rows_of(request) == [
        [2, '["Bâ","22123456","5"]', "+22222123456", None, None, 1],
        [3, '["Ly","12","6"]', None, "number", "Tél", 0],
    ]
    assert names(tmp_path) == ["upl_1.file", "upl_1.rows"]
    assert request.rows_path.stat().st_mode & 0o777 == 0o600


async def test_it_is_read_again_as_chosen(asked):
    await read(asked(LIST))
    request = asked(LIST, chosen=Chosen(has_header=False, number_column=1))
    assert (await read(request)).rows == 3
    assert len(rows_of(request)) == 3


@pytest.mark.parametrize(
    ("octets", "code"),
    [
        (b"", "empty_file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "not_a_table"),
        (b"Tel\n22123456\n33\x00123456\n", "nul_characters"),
        (b"Tel;Nom\n22123456;a\n33123456;=A1\n", "formula_without_value"),
        (b"PK\x03\x04" + bytes(99), "broken_workbook"),
    ],
)
async def test_a_bad_file_is_one_sentence_and_leaves_nothing(asked, tmp_path, octets, code):
    (tmp_path / "upl_1.rows").write_text("of an earlier reading")
    with pytest.raises(SheetFault) as raised:
        await read(asked(octets))
    assert (raised.value.path, raised.value.code) == ("file", code)
    assert str(raised.value).endswith(".")
    assert str(raised.value).count(". ") == 0
    assert names(tmp_path) == ["upl_1.file"]


def bomb():
    """A small workbook whose one sheet has a word of a quarter of a gigabyte."""
    book = openpyxl.Workbook()
    out, bomb = io.BytesIO(), io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if not info.filename.endswith("sheet1.xml"):
                new.writestr(info.filename, old.read(info))
        with new.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'<worksheet xmlns="{MAIN}"><cols>'.encode())
            sheet.write(b'<c a="')
            for _ in range(300):
                sheet.write(bytes(1_000_000).replace(b"\0", b"x"))
            sheet.write(b'"/></cols></worksheet>')
    return bomb.getvalue()


@pytest.mark.slow
async def test_a_bomb_ends_with_its_own_process(asked, tmp_path):
    octets = bomb()
    assert len(octets) < 500_000
    with pytest.raises(SheetFault) as raised:
        await read(asked(octets))
    assert raised.value.code == "too_big"
    assert names(tmp_path) == ["upl_1.file"]


async def test_what_takes_too_long_is_ended(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "READ_MAX_S", 0)
    with pytest.raises(SheetFault) as raised:
        await read(asked(LIST))
    assert raised.value.code == "too_big"
    assert names(tmp_path) == ["upl_1.file"]


async def test_a_reader_that_is_not_waited_for_ends(asked, tmp_path):
    request = asked(b"")
    request.path.unlink()
    os.mkfifo(request.path)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, request)
        # The reader waits for the other end of the pipe: it has begun.
        pipe = await trio.to_thread.run_sync(os.open, request.path, os.O_WRONLY)
        nursery.cancel_scope.cancel()
    with pytest.raises(BrokenPipeError):
        os.write(pipe, b"x")
    os.close(pipe)
    assert names(tmp_path) == ["upl_1.file"]


def environments_of_children():
    """Of the readers among this process's children."""
    tasks = Path("/proc/self/task").iterdir()
    children = [each for task in tasks for each in (task / "children").read_text().split()]
    found = [Path(f"/proc/{each}/environ").read_bytes() for each in children]
    return [each for each in found if b"PYTHONUTF8" in each]


async def test_the_service_gives_no_secret_to_it(asked, tmp_path, monkeypatch):
    monkeypatch.setenv("RISALA_SECRET", "s3cret")
    request = asked(b"")
    request.path.unlink()
    os.mkfifo(request.path)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, request)
        pipe = await trio.to_thread.run_sync(os.open, request.path, os.O_WRONLY)
        ours = environments_of_children()
        os.close(pipe)
        nursery.cancel_scope.cancel()
    assert ours
    assert b"s3cret" not in b"".join(ours)


async def test_a_machine_without_room_for_it(asked, monkeypatch):
    monkeypatch.setattr(reading.sys, "executable", "/nonexistent/python")
    with pytest.raises(Overloaded):
        await read(asked(LIST))


async def test_a_folder_that_cannot_be_written_to(asked, tmp_path):
    request = asked(LIST)
    part_of(request.rows_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageFailed):
        await read(request)
    assert names(tmp_path) == ["upl_1.file"]


async def test_a_report_is_written_as_a_workbook(tmp_path):
    lines, out = tmp_path / "cells", tmp_path / "report.xlsx"
    lines.write_text('["Nom", "Tél"]\n["=1+1", "+22222123456"]\n')
    await write_workbook(lines, out, "org_1")
    assert [*openpyxl.load_workbook(out).active.values] == [
        ("Nom", "Tél"),
        ("=1+1", "+22222123456"),
    ]
    assert names(tmp_path) == ["cells", "report.xlsx"]
    assert out.stat().st_mode & 0o777 == 0o600


async def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(StorageFailed):
        await write_workbook(tmp_path / "missing", tmp_path / "report.xlsx", "org_1")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("sends_s", "per_s", "least_s", "most_s"),
    [
        (0.0, 1, PIECE_S - 0.05, PIECE_S),
        (60.0, 1000, PIECE_S - 0.05, PIECE_S),
        (60.0, 3000, BUSY_PAUSE * 0.05, BUSY_PAUSE * 0.05),
        (0.3, 3000, 0.3, 0.3 + 2 * PIECE_S),
    ],
    ids=["nobody sends", "few send", "many send", "many send for a while"],
)
async def test_whoever_sends_has_the_time_between_two_pieces(
    autojump_clock, sends_s, per_s, least_s, most_s
):
    """A piece took 0.05 s: 1,667 messages a second take a quarter of the time."""
    intake = SimpleNamespace(accepted=0)
    sources = SimpleNamespace(intake=intake, set_aside=SetAsideItems())
    checking = mailing_checking.MailingChecking(sources, None, inline=True)

    async def send() -> None:
        with trio.move_on_after(sends_s):
            while True:
                await trio.sleep(0.01)
                intake.accepted += per_s // 100

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        began_s = trio.current_time()
        await checking._rest(0.05)
        took_s = trio.current_time() - began_s
        nursery.cancel_scope.cancel()
    assert least_s - 0.001 <= took_s <= most_s + 0.001


async def test_a_reader_is_left_for_others(asked, tmp_path, monkeypatch, autojump_clock):
    begun = []

    async def run(told):
        begun.append(json.loads(told)["do"])
        await trio.sleep_forever()

    monkeypatch.setattr(reading, "_run", run)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, asked(LIST))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(read, asked(LIST))
        nursery.start_soon(write_workbook, tmp_path / "a", tmp_path / "b", "org_1")
        await trio.testing.wait_all_tasks_blocked()
        assert begun == ["read"]
        nursery.start_soon(write_workbook, tmp_path / "a", tmp_path / "c", "org_2")
        await trio.testing.wait_all_tasks_blocked()
        assert begun == ["read", "write"]
        nursery.cancel_scope.cancel()
