"""The log of requests: written aside, bounded, and harmless when it cannot be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from risala.config.kinds import RequestLogSection
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.features.request_log import stored as requests
from risala.engine.features.request_log.records import RequestFilter
from risala.engine.features.request_log.service import AGAIN_S, WRITE_EVERY_S, RequestLog
from risala.engine.features.request_log.stored import RequestRepository
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import NotedRequest, Principal
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode

MINE = Principal("org_mine", "key_mine", KeyType.SECRET, Mode.LIVE)
OTHER = Principal("org_mine", "key_other", KeyType.SECRET, Mode.LIVE)
THEIRS = Principal("org_theirs", "key_theirs", KeyType.SECRET, Mode.LIVE)
ALL = RequestFilter("org_mine")
DAY_S = 86_400

OpenLog = Callable[..., RequestLog]


@pytest.fixture
def clock() -> TrioClock:
    return TrioClock()


@pytest.fixture
def ids(clock) -> IdSource:
    return IdSource(clock)


@pytest.fixture
def open_log(tmp_path: Path, clock: TrioClock) -> OpenLog:
    def open_one(**settings) -> RequestLog:
        stored = RequestRepository(tmp_path, inline=True)
        return RequestLog(RequestLogSection(**settings), stored, clock, SetAsideItems().loop("log"))

    return open_one


@pytest.fixture
def ask(ids):
    """``ask(log, principal, **fields)``: a request is answered; its id."""

    def answer(log: RequestLog, principal: Principal = MINE, **fields) -> str:
        values = {
            "method": "POST",
            "path": "/api/sms",
            "status": 200,
            "took_s": 0.0123,
            "address": "203.0.113.7",
            "asked": b'{"to":"+22236123456","body":"hello"}',
            "answered": b'{"messageId":"sms_1"}',
            **fields,
        }
        request_id = ids.new("req")
        if log.has_room(principal):
            log.note(NotedRequest(principal, request_id, **values))
        return request_id

    return answer


async def test_a_request_is_written_a_moment_after_it_was_answered(
    open_log, ask, autojump_clock: MockClock
):
    log = open_log()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        request_id = ask(log)
        await trio.sleep(WRITE_EVERY_S * 2)
        found = await log.one(request_id)
        nursery.cancel_scope.cancel()
    assert found is not None
    assert (found.method, found.path, found.status) == ("POST", "/api/sms", 200)
    assert (found.took_ms, found.address, found.made) == (12.3, "203.0.113.7", "sms_1")
    assert found.asked == {"to": "…3456", "body": "‹5›"}
    await log.close()


async def test_pages_go_on_by_id_and_filter(open_log, ask, autojump_clock):
    log = open_log()
    made = []
    for number in range(6):
        await trio.sleep(1)
        made.append(ask(log, path=f"/api/{number % 2}", status=200 if number < 4 else 429))
    ask(log, OTHER)
    ask(log, THEIRS)
    await log.flush()

    async def page(wanted: RequestFilter, **where) -> tuple[list[str], str | None, str | None]:
        found = await log.page(
            wanted, before=where.get("before"), after=where.get("after"), limit=2
        )
        return [each.request_id for each in found.requests], found.newer, found.older

    mine = RequestFilter("org_mine", "key_mine")
    first = await page(mine)
    assert first == ([made[5], made[4]], None, made[4])
    second = await page(mine, before=first[2])
    assert second == ([made[3], made[2]], made[3], made[2])
    assert (await page(mine, before=second[2]))[2] is None
    assert await page(mine, after=second[1]) == ([made[5], made[4]], None, made[4])
    throttled = RequestFilter("org_mine", "key_mine", least=400, most=499)
    assert (await page(throttled))[0] == [made[5], made[4]]
    assert (await page(RequestFilter("org_mine", "key_mine", path="/api/0")))[0] == made[4:1:-2]
    assert (await page(RequestFilter("org_mine", made="sms_1")))[1] is None
    assert len((await page(RequestFilter(None)))[0]) == 2
    await log.close()


async def test_requests_are_counted_by_day_and_answer(
    open_log, ask, clock, autojump_clock, tmp_path
):
    log, mine = open_log(), RequestFilter("org_mine", "key_mine")
    assert await log.answered(mine, [0, 1]) == ()  # no file yet
    first = clock.now_ms()
    for status in (200, 302, 404, 503):
        await trio.sleep(1)
        ask(log, status=status)
    await trio.sleep(10)
    second = clock.now_ms()
    ask(log, status=429)
    ask(log, OTHER)
    ask(log, THEIRS)
    await log.flush()
    starts = [first, second, second + 60_000]
    days = await log.answered(mine, starts)
    assert [(each.at, each.successful, each.refused, each.failed) for each in days] == [
        *((first, 2, 1, 1), (second, 0, 1, 0), (second + 60_000, 0, 0, 0)),
    ]
    cut = requests.answered(tmp_path / requests.FILE, mine, starts, counted_max=2)
    assert [each.at for each in cut] == starts[1:]
    await log.close()


async def test_what_does_not_fit_is_dropped_and_counted(open_log, ask, autojump_clock):
    log = open_log(a_second_max=3)
    for _ in range(5):
        ask(log)
    ask(log, THEIRS)
    await log.flush()
    assert (log.statistics().kept, log.statistics().dropped) == (3, 3)
    assert log.dropped("org_mine", "key_mine") == 2
    assert log.dropped("org_mine", "key_other") == 0
    assert log.dropped(None, None) == 3
    await log.close()


async def test_a_log_that_is_switched_off_writes_nothing(open_log, ask, tmp_path):
    log = open_log(enabled=False)
    ask(log)
    await log.flush()
    assert log.statistics().dropped == 0
    assert not (tmp_path / requests.FILE).exists()
    await log.close()


async def test_what_is_old_is_forgotten(open_log, ask, autojump_clock):
    log = open_log(keep_days=2)
    old = ask(log)
    await log.flush()
    await trio.sleep(1.5 * DAY_S)
    young = ask(log)
    await log.flush()
    await trio.sleep(DAY_S)
    assert await log.one(old) is None  # though it still lies in the file
    await log.flush()
    page = await log.page(ALL, before=None, after=None, limit=10)
    assert [each.request_id for each in page.requests] == [young]
    await log.close()


async def test_where_nothing_comes_what_is_old_goes_too(open_log, ask, autojump_clock, tmp_path):
    log = open_log(keep_days=1)
    ask(log)
    await log.flush()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        await trio.sleep(2 * DAY_S)
        nursery.cancel_scope.cancel()
    await log.close()
    with closing(sqlite3.connect(tmp_path / requests.FILE)) as conn, conn:
        assert conn.execute("SELECT count(*) FROM request").fetchone() == (0,)
    conn.close()


async def test_a_file_that_is_too_large_loses_its_oldest(open_log, ask, autojump_clock, tmp_path):
    log = open_log(size_max_mb=1, a_second_max=10_000)
    for _ in range(8):
        await trio.sleep(1)
        for _ in range(400):
            last = ask(log, answered=b'{"idempotencyKey":"' + b"n" * 250 + b'"}')
        await log.flush()
    assert await log.one(last) is not None
    await log.close()
    with closing(sqlite3.connect(tmp_path / requests.FILE)) as conn, conn:
        (left,) = conn.execute("SELECT count(*) FROM request").fetchone()
    conn.close()
    assert 400 < left < 3200
    assert (tmp_path / requests.FILE).stat().st_size < 1_500_000


async def test_a_broken_file_stops_the_log_alone_and_says_so(
    open_log, ask, autojump_clock, tmp_path
):
    path = tmp_path / requests.FILE
    path.write_bytes(b"no database at all " * 500)
    log = open_log()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        ask(log)
        await trio.sleep(WRITE_EVERY_S * 2)
        assert log.statistics().ailment == f"The file {path} is not a database."
        assert log.statistics().dropped == 1
        page = await log.page(ALL, before=None, after=None, limit=10)
        assert page.requests == ()
        path.unlink()
        ask(log)
        await trio.sleep(AGAIN_S + WRITE_EVERY_S)
        assert log.statistics().ailment is None
        assert log.statistics().kept == 1
        nursery.cancel_scope.cancel()
    await log.close()


async def test_a_disk_that_is_nearly_full_is_left_to_the_database(
    open_log, ask, autojump_clock, monkeypatch
):
    monkeypatch.setattr(requests, "SPARE_BYTES", 1 << 62)
    log = open_log()
    ask(log)
    await log.flush()
    assert "nearly full" in (log.statistics().ailment or "")
    assert log.statistics().dropped == 1
    await log.close()


async def test_a_file_of_another_version_is_made_anew(open_log, ask, tmp_path, autojump_clock):
    with closing(sqlite3.connect(tmp_path / requests.FILE)) as conn, conn:
        conn.execute("CREATE TABLE request (what TEXT)")
        conn.execute("PRAGMA user_version = 77")
    conn.close()
    log = open_log()
    request_id = ask(log)
    await log.flush()
    assert await log.one(request_id) is not None
    await log.close()


async def test_an_organization_is_forgotten(open_log, ask, autojump_clock):
    log = open_log()
    mine, theirs = ask(log), ask(log, THEIRS)
    await log.flush()
    waiting = ask(log)
    await log.forget("org_mine")
    await log.flush()
    assert await log.one(mine) is None
    assert await log.one(waiting) is None
    assert await log.one(theirs) is not None
    await log.close()


async def test_a_writing_in_its_thread_holds_nobody_up(tmp_path, ask):
    log = RequestLog(
        RequestLogSection(), RequestRepository(tmp_path), TrioClock(), SetAsideItems().loop("log")
    )
    async with trio.open_nursery() as nursery:
        request_id = ask(log)
        nursery.start_soon(log.flush)
        await wait_all_tasks_blocked()
        assert log.has_room(MINE)
    assert await log.one(request_id) is not None
    await log.close()


async def test_pages_are_read_by_an_index(open_log, ask, autojump_clock, tmp_path):
    log = open_log()
    ask(log)
    await log.flush()
    await log.close()
    conn = sqlite3.connect(tmp_path / requests.FILE)
    for where, index in (
        ("id >= ? AND organization_id = ? AND key_id = ? AND id < ?", "request_by_organization"),
        ("id >= ? AND organization_id = ? AND made = ? AND id < ?", "request_by_made"),
    ):
        plan = conn.execute(
            f"EXPLAIN QUERY PLAN SELECT * FROM request WHERE {where} ORDER BY id DESC LIMIT 3",
            ("", "org", "x", "z"),
        ).fetchall()
        assert index in plan[0][3], plan
        assert len(plan) == 1, plan
    conn.close()


async def test_a_text_that_no_file_can_keep_costs_nobody_their_notes(open_log, ask, autojump_clock):
    log = open_log()
    theirs = ask(log, THEIRS)
    mine = ask(log, asked=b'{"to":"+2223612345\\ud800","body":"hello"}', status=400)
    await log.flush()
    assert await log.one(theirs) is not None
    assert (await log.one(mine)).asked == {"to": "…345\ufffd", "body": "‹5›"}
    await log.close()
