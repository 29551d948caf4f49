"""Events as lines in files: whole ones, on the disk, each file of a bounded size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from risala.drivers.sinks.plugin import JsonlSettings, JsonlSink
from risala.plugins.sink import SinkEvent, SinkUnavailableError


def event(seq: int) -> SinkEvent:
    identity = f"evt_{seq}"
    body = json.dumps({"id": identity, "text": "سلام"}, ensure_ascii=False)
    return SinkEvent(seq, identity, "sms.sent", 0, "org_1", False, body)


def sink(folder: Path, **settings: int) -> JsonlSink:
    return JsonlSink("log", JsonlSettings(folder=folder, **settings))


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


async def test_events_are_lines_of_a_file_that_is_its_owners_alone(tmp_path):
    folder = tmp_path / "a" / "b"
    await sink(folder).take([event(1), event(2)])
    await sink(folder).take([event(3)])
    assert ids(folder / "log.jsonl") == ["evt_1", "evt_2", "evt_3"]
    assert (folder / "log.jsonl").stat().st_mode & 0o777 == 0o600


async def test_heads_of_the_audit_trail_have_a_file_of_their_own(tmp_path):
    large = sink(tmp_path, rotate_bytes=1000, keep=1)
    (tmp_path / "log.heads").write_bytes(b'{"seq":1}\n{"se')
    await large.take_audit_head('{"seq":2}')
    for seq in range(1, 100):
        await large.take([event(seq)])
    assert (tmp_path / "log.heads").read_text() == '{"seq":1}\n{"seq":2}\n'
    blocked = sink(tmp_path / "log.heads")
    with pytest.raises(SinkUnavailableError, match=r"log\.heads"):
        await blocked.take_audit_head('{"seq":3}')


async def test_half_a_line_of_before_is_taken_away(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":"evt_1"}\n{"id":"ev')
    await sink(tmp_path).take([event(2)])
    assert ids(path) == ["evt_1", "evt_2"]
    path.write_bytes(b'{"id' + b"x" * 100_000)  # not a whole line in it
    await sink(tmp_path).take([event(3)])
    assert ids(path) == ["evt_3"]


async def test_a_large_file_is_put_aside_and_the_oldest_go(tmp_path):
    large = sink(tmp_path, rotate_bytes=1000, keep=2)
    for seq in range(1, 200):
        await large.take([event(seq)])
    aside = sorted(tmp_path.glob("log-*.jsonl"))
    assert len(aside) == 2
    kept = [each for path in (*aside, tmp_path / "log.jsonl") for each in ids(path)]
    assert kept == [f"evt_{seq}" for seq in range(200 - len(kept), 200)]
    assert all(1000 <= path.stat().st_size < 1100 for path in aside)


async def test_what_cannot_be_written_is_told_and_comes_again(tmp_path):
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(SinkUnavailableError, match=r"log\.jsonl cannot be written: Is a directory"):
        await sink(tmp_path).take([event(1)])
