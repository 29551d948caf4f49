"""What a mailing waits for, and that it goes on as soon as that is over."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import trio
from tests.engine.features.mailings.people_tables import number, table

from risala.engine.features.mailings import mailing_sending
from risala.engine.features.mailings.records import MailingState, MailingWait, RowState
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.features.tables.records import RowFault
from risala.engine.model.states import PRIORITY_CODE, PRIORITY_MAILING

QUEUED_MAX, ROOM_MIN = 100, 10
SOON_S = 1
"""An event wakes a mailing: it does not look around for the length of an alarm's wait."""


async def _until_waiting(desk, made, wait: MailingWait):
    return await desk.when(made.id, lambda mailing: mailing.wait is wait)


async def _set(desk, **values):
    await desk.house.gateway.perform("org.set", {"organization_id": desk.organization_id, **values})


@pytest.mark.slow
async def test_an_empty_balance_is_waited_for(open_desk, quick):
    async with open_desk(balance="1") as desk:
        made = await desk.start(5)
        await _until_waiting(desk, made, MailingWait.BALANCE)
        assert desk.counts(made.id) == (3, 0, 0, 2, 0)
        await trio.sleep(300)
        assert desk.counts(made.id) == (3, 0, 0, 2, 0)
        began_s = trio.current_time()
        topped = {"organization_id": desk.organization_id, "amount": "10"}
        await desk.house.gateway.perform("topup", topped)
        done = await desk.until(made.id, MailingState.DONE)
        assert trio.current_time() - began_s < SOON_S
        assert done.wait is None
        assert [to for to, _ in desk.messages()] == [number(n) for n in range(1, 6)]
        assert await desk.house.balance() == "8.50"


@pytest.mark.slow
async def test_a_spend_cap_is_waited_for_until_midnight(open_desk, quick, leap):
    async with open_desk() as desk:
        await _set(desk, spend_cap="1")
        made = await desk.start(5)
        waiting = await _until_waiting(desk, made, MailingWait.SPEND_CAP)
        assert waiting.accepted == 2
        midnight = datetime(2026, 1, 2, tzinfo=ZoneInfo("Africa/Nouakchott"))
        assert waiting.again_at == midnight.timestamp() * 1000
        await leap(23 * 3600)
        assert desk.service.mailing(made.id).accepted == 2
        await leap(3600 + 60)
        assert desk.service.mailing(made.id).accepted == 4
        began_s = trio.current_time()
        await _set(desk, spend_cap=None)
        await desk.until(made.id, MailingState.DONE)
        assert trio.current_time() - began_s < SOON_S


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zone", "opens"), [("Africa/Nouakchott", 8 * 3600), ("Asia/Tokyo", 23 * 3600)]
)
async def test_it_sends_in_its_hours(open_desk, quick, leap, zone, opens):
    """It is midnight in Nouakchott, and nine in the morning in Tokyo."""
    async with open_desk() as desk:
        await _set(desk, time_zone=zone)
        made = await desk.start(2, from_hour=8, to_hour=9)
        waiting = await _until_waiting(desk, made, MailingWait.HOURS)
        assert waiting.again_at == pytest.approx(1_767_225_600_000 + opens * 1000, abs=1)
        await leap(opens - 60)
        assert not desk.messages()
        await leap(120)
        await desk.until(made.id, MailingState.DONE)


async def test_other_hours_and_times_count_at_once(open_desk, quick):
    async with open_desk() as desk:
        now_ms = desk.house.clock.now_ms()
        made = await desk.start(2, send_at=now_ms + 86_400_000)
        waiting = await _until_waiting(desk, made, MailingWait.SEND_AT)
        assert waiting.again_at == now_ms + 86_400_000
        await desk.service.change(made.id, {"send_at": None, "from_hour": 8})
        await _until_waiting(desk, made, MailingWait.HOURS)
        began_s = trio.current_time()
        await desk.service.change(made.id, {"from_hour": 0})
        await desk.until(made.id, MailingState.DONE)
        assert trio.current_time() - began_s < SOON_S


async def test_a_time_to_send_is_waited_for(open_desk, quick, leap):
    async with open_desk() as desk:
        made = await desk.start(2, send_at=desk.house.clock.now_ms() + 3600_000)
        await leap(3590)
        assert not desk.messages()
        await leap(20)
        await desk.until(made.id, MailingState.DONE)


async def test_a_suspended_organization_is_waited_for(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.start(1, pace=1)
        await desk.until(made.id, MailingState.DONE)
        made = await desk.start(3, pace=60)
        await desk.when(made.id, lambda mailing: mailing.accepted == 1)
        of = {"organization_id": desk.organization_id}
        await desk.house.gateway.perform("org.suspend", of)
        await _until_waiting(desk, made, MailingWait.SUSPENDED)
        await trio.sleep(100)
        assert desk.counts(made.id) == (2, 0, 0, 1, 0)
        await desk.house.gateway.perform("org.resume", of)
        await desk.until(made.id, MailingState.DONE)


async def test_a_denied_sender_is_waited_for(open_desk, quick):
    async with open_desk() as desk:
        perform = desk.house.gateway.perform
        asked = {"organization_id": desk.organization_id, "name": "SCHOOL", "description": "Us"}
        sender = await perform("sender.request", asked)
        made = await desk.draft(table(3))
        await desk.service.change(made.id, {"sender": "SCHOOL", "pace": 60})
        await desk.service.start(made.id)
        await desk.when(made.id, lambda mailing: mailing.accepted == 1)
        reason = {"sender_id": sender["id"], "reason": "misleading"}
        await perform("sender.deny", reason)
        await _until_waiting(desk, made, MailingWait.SENDER)
        assert desk.counts(made.id) == (2, 0, 0, 1, 0)
        await desk.service.stop(made.id)
        assert desk.counts(made.id) == (2, 0, 0, 1, 0)


async def test_the_organizations_limit_is_kept(open_desk, quick):
    async with open_desk() as desk:
        await _set(desk, sms_per_s=2)
        made = await desk.start(7)
        await _until_waiting(desk, made, MailingWait.LIMIT)
        began_s = trio.current_time()
        await desk.until(made.id, MailingState.DONE)
        assert 2 <= trio.current_time() - began_s <= 4
        assert len(desk.messages()) == 7


@pytest.mark.slow
async def test_its_pace_is_kept_in_any_minute(open_desk, carrier, quick):
    async with open_desk(carrier(rate_per_s=1000)) as desk:
        times: list[float] = []
        made = await desk.draft(table(50))
        await desk.service.change(made.id, {"pace": 20})
        with desk.house.gateway.services.recorder.life.hear(
            lambda event: times.append(event.at) if event.status == "processing" else None
        ):
            await desk.service.start(made.id)
            await desk.until(made.id, MailingState.DONE)
            await desk.house.driver.wait_submitted(50)
        assert len(times) == 50
        assert all(times[n + 20] - times[n] >= 60_000 for n in range(30))
        assert times[-1] - times[0] < 49 * 3100


async def test_who_opts_out_after_the_check_gets_nothing(open_desk, quick):
    async with open_desk() as desk:
        of = {"organization_id": desk.organization_id}
        perform = desk.house.gateway.perform
        await perform("inbound.opt_outs", {**of, "heeds": True})
        await perform("inbound.opt_out", {**of, "number": number(1)})
        made = await desk.draft(table(3))
        assert desk.counts(made.id) == (2, 1, 0, 0, 0)
        await perform("inbound.opt_out", {**of, "number": number(2)})
        await desk.service.start(made.id)
        await desk.until(made.id, MailingState.DONE)
        assert [to for to, _ in desk.messages()] == [number(3)]
        rows = (await desk.service.rows(made.id, RowState.REFUSED, 0, 9)).rows
        assert [(row.number, row.fault) for row in rows] == [(number(2), RowFault.OPTED_OUT)]


@pytest.fixture
def small_queue(monkeypatch):
    monkeypatch.setattr(mailing_sending, "QUEUED_MAX", QUEUED_MAX)
    monkeypatch.setattr(mailing_sending, "ROOM_MIN", ROOM_MIN)


async def test_a_pause_holds_back_all_but_a_full_queue(open_desk, carrier, quick, small_queue):
    count = QUEUED_MAX + 2 * ROOM_MIN
    async with open_desk(carrier(rate_per_s=1000)) as desk:
        gateway = desk.house.gateway
        await gateway.perform("carriers.pause", {"carrier": "fake"})
        made = await desk.start(count)
        await _until_waiting(desk, made, MailingWait.QUEUE)
        assert desk.service.mailing(made.id).accepted == QUEUED_MAX
        queued = gateway.services.repositories.part(MailingRepository).queued
        assert queued(desk.organization_id, PRIORITY_MAILING, 2000) == QUEUED_MAX
        await desk.house.send("single")
        await desk.house.send("code", priority=PRIORITY_CODE)
        await desk.service.pause(made.id)
        await gateway.perform("carriers.resume", {"carrier": "fake"})
        await desk.house.driver.wait_submitted(QUEUED_MAX + 2)
        # Each starts by itself: within a window their order is that of their tasks.
        assert {"code", "single"} < set(desk.texts[: desk.house.driver.window_max])
        await trio.sleep(100)
        assert desk.counts(made.id) == (2 * ROOM_MIN, 0, 0, QUEUED_MAX, 0)
        began_s = trio.current_time()
        await desk.service.go_on(made.id)
        await desk.until(made.id, MailingState.DONE)
        assert trio.current_time() - began_s < SOON_S
        assert len({to for to, _ in desk.messages()}) == count + 1


async def test_a_queue_that_empties_is_filled_again_at_once(open_desk, carrier, quick, small_queue):
    count = QUEUED_MAX + 5 * ROOM_MIN
    async with open_desk(carrier(rate_per_s=10)) as desk:
        began_s = trio.current_time()
        made = await desk.start(count)
        await desk.until(made.id, MailingState.DONE)
        await desk.house.driver.wait_submitted(count)
        assert trio.current_time() - began_s == pytest.approx(count / 10, abs=1)


async def test_two_organizations_take_turns(open_desk, quick):
    async with open_desk() as desk:
        mine = await desk.start(5, pace=60)
        other = (await desk.house.organization()).organization_id
        desk.organization_id = other
        theirs = await desk.start(5)
        await desk.until(theirs.id, MailingState.DONE)
        assert desk.service.mailing(mine.id).state is MailingState.SENDING
        await desk.until(mine.id, MailingState.DONE)


async def test_a_stopped_mailing_sends_no_more(open_desk, quick):
    async with open_desk() as desk:
        made = await desk.start(5, pace=60)
        await desk.when(made.id, lambda mailing: mailing.accepted == 2)
        stopped = await desk.service.stop(made.id)
        assert (stopped.state, stopped.ready) == (MailingState.STOPPED, 3)
        await trio.sleep(300)
        assert len(desk.messages()) == 2
