"""What is wrong is told once, and once more when it is over: a test for each alert."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
import trio

from risala.engine.features.standby.copy_check import NAME
from risala.engine.features.standby.service import second_machine
from risala.engine.features.trail_heads.service import TrailHeads
from risala.engine.journal.upkeep import backup_note
from risala.engine.model.records.upkeep.service import BackupNote
from risala.plugins.contract import HealthState, ReceiptState

MINUTE_S = 60
HOUR_S = 3600
HOUR_MS = 3_600_000
LOOKED_S = 600
"""Hours pass by as much, with a look at each; every fifth also sees what changes slowly."""
SOON_S = 6 * MINUTE_S
"""By then each look was taken, also those that come at every fifth."""


async def told_of(watched, kind):
    """The alerts of a kind, and whether each is over."""
    return [(each["subject"], not each["isOpen"]) for each in await watched.alerts(kind=kind)]


@pytest.mark.slow
async def test_a_carrier_is_down_or_sick_for_longer_than_a_moment(watched, autojump_clock, leap):
    watched.driver.set_health(HealthState.DOWN)
    await trio.sleep(4 * MINUTE_S)
    assert await told_of(watched, "carrier_down") == []
    await leap(HOUR_S, LOOKED_S)
    assert await told_of(watched, "carrier_down") == [("fake", False)]
    watched.driver.set_health(HealthState.SICK)
    await leap(HOUR_S, LOOKED_S)
    assert await told_of(watched, "carrier_down") == [("fake", False)]
    watched.driver.set_health(HealthState.UP)
    await leap(HOUR_S, LOOKED_S)
    assert await told_of(watched, "carrier_down") == [("fake", True)]


@pytest.mark.slow
async def test_a_due_message_waits_too_long(watched, autojump_clock):
    await watched.do("carriers.pause", carrier="fake")
    await watched.send()
    await trio.sleep(9 * MINUTE_S)
    assert await told_of(watched, "queue_old") == []
    await trio.sleep(5 * MINUTE_S)
    assert await told_of(watched, "queue_old") == [("+2223", False)]
    await watched.do("carriers.resume", carrier="fake")
    await trio.sleep(2 * SOON_S)
    assert await told_of(watched, "queue_old") == [("+2223", True)]


async def test_what_a_suspended_organization_has_in_the_queue_is_no_fault(
    watched, autojump_clock, leap
):
    await watched.do("carriers.pause", carrier="fake")
    await watched.send()
    await watched.do("org.suspend", organization_id=watched.principal.organization_id)
    await leap(HOUR_S, LOOKED_S)
    assert await told_of(watched, "queue_old") == []


@pytest.mark.slow
async def test_a_carrier_that_gave_receipts_gives_none(watched, autojump_clock, leap):
    watched.driver.delivers = True
    await watched.send()
    await trio.sleep(2 * MINUTE_S)
    watched.driver.delivers = False
    await leap(2 * HOUR_S, LOOKED_S)  # nothing is sent, so that nothing is missing
    for _ in range(60):
        await watched.send()
    await trio.sleep(20 * MINUTE_S)
    assert await told_of(watched, "receipts_missing") == []
    await trio.sleep(20 * MINUTE_S)
    assert await told_of(watched, "receipts_missing") == [("fake", False)]
    await leap(3 * HOUR_S, LOOKED_S)  # quiet hours prove nothing
    assert await told_of(watched, "receipts_missing") == [("fake", False)]
    await watched.driver.receipt("50")
    await trio.sleep(2 * SOON_S)
    assert await told_of(watched, "receipts_missing") == [("fake", True)]


@pytest.mark.slow
async def test_a_carrier_that_never_gave_receipts_owes_none(watched, autojump_clock, leap):
    for _ in range(60):
        await watched.send()
    await leap(2 * HOUR_S, LOOKED_S)
    assert await told_of(watched, "receipts_missing") == []


async def sends_without_end(watched, count=60, state=ReceiptState.ENROUTE):
    """So many messages, each with a receipt that does not end it."""
    for _ in range(count):
        await watched.send()
    await trio.sleep(2 * MINUTE_S)
    for number in range(len(watched.driver.submitted) - count, len(watched.driver.submitted)):
        await watched.driver.receipt(str(number + 1), state)


async def ends_one(watched):
    watched.driver.delivers = True
    await watched.send()
    await trio.sleep(2 * MINUTE_S)
    watched.driver.delivers = False


@pytest.mark.slow
async def test_a_carrier_that_ended_messages_ends_none_for_a_day(
    open_watched, autojump_clock, leap
):
    async with open_watched() as watched:
        await ends_one(watched)
        await leap(30 * HOUR_S)  # nothing is sent, so that nothing can end
        await sends_without_end(watched)
        await leap(23 * HOUR_S)
        assert await told_of(watched, "ends_missing") == []
    async with open_watched() as watched:  # it is known still that it ended some
        await sends_without_end(watched)
        await leap(23 * HOUR_S)
        assert await told_of(watched, "ends_missing") == []
        await leap(2 * HOUR_S)
        (alert,) = await watched.alerts(kind="ends_missing")
        assert (alert["isOpen"], alert["subject"]) == (True, "fake")
        assert (alert["facts"]["accepted"], alert["facts"]["count"]) == (60, 60)
        assert alert["title"]["en"] == "fake ends no messages"
    async with open_watched() as watched:  # a restart ends nothing either
        await leap(2 * HOUR_S, LOOKED_S)
        assert await told_of(watched, "ends_missing") == [("fake", False)]
        await ends_one(watched)
        await trio.sleep(2 * SOON_S)
        assert await told_of(watched, "ends_missing") == [("fake", True)]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["never ended one", "few", "paused", "down", "no receipts"])
async def test_nothing_is_said_of_ends_that_could_not_come(watched, autojump_clock, leap, how):
    if how != "never ended one":
        await ends_one(watched)
    await sends_without_end(watched, 49 if how == "few" else 60)
    if how == "no receipts":
        await ends_one(watched)
        for _ in range(60):
            await watched.send()
    elif how == "paused":
        await watched.do("carriers.pause", carrier="fake")
    elif how == "down":
        watched.driver.set_health(HealthState.DOWN)
    await leap(26 * HOUR_S)
    assert await told_of(watched, "ends_missing") == []
    missing = [("fake", False)] if how == "no receipts" else []
    assert [each for each in await told_of(watched, "receipts_missing") if not each[1]] == missing


async def usual_hours(watched, leap, hours=15):
    """The traffic and the codes of some hours, all as usual; the hour that follows."""
    first = watched.clock.now_ms() // HOUR_MS
    for hour in range(first, first + hours):
        await watched.traffic(hour, 100, 95)
        await watched.codes(hour * HOUR_MS, 60, 48)
    watched.clock.ahead_ms += (hours - 1) * HOUR_MS
    await leap(HOUR_S, LOOKED_S)
    return first + hours


@pytest.mark.slow
async def test_less_arrives_with_a_network_than_usual(open_watched, autojump_clock, leap):
    async with open_watched(rate_hours=1) as watched:
        hour = await usual_hours(watched, leap)
        await watched.traffic(hour, 100, 40)
        await leap(2 * HOUR_S, LOOKED_S)
        assert await told_of(watched, "delivery_low") == [("mattel", False)]
        (alert,) = await watched.alerts(kind="delivery_low")
        assert alert["facts"] == {"share": 0.4, "usual_share": 0.95, "count": 100, "hours": 1}
        assert "Of 100 messages to Mattel" in alert["text"]["en"]
        assert "40%" in alert["text"]["en"]
        await leap(2 * HOUR_S, LOOKED_S)  # nobody writes: nothing can be said
        assert await told_of(watched, "delivery_low") == [("mattel", False)]
        await watched.traffic(hour + 4, 100, 96)
        await leap(2 * HOUR_S, LOOKED_S)
        assert await told_of(watched, "delivery_low") == [("mattel", True)]


@pytest.mark.slow
async def test_fewer_codes_are_entered_with_a_network_than_usual(
    open_watched, autojump_clock, leap
):
    async with open_watched(rate_hours=1) as watched:
        hour = await usual_hours(watched, leap)
        await watched.codes(hour * HOUR_MS, 60, 20)
        await leap(2 * HOUR_S, LOOKED_S)
        assert await told_of(watched, "approval_low") == [("mattel", False)]
        await watched.codes((hour + 2) * HOUR_MS, 60, 48)
        await leap(2 * HOUR_S, LOOKED_S)
        assert await told_of(watched, "approval_low") == [("mattel", True)]


@pytest.mark.slow
async def test_codes_to_one_beginning_are_asked_for_and_never_entered(
    watched, autojump_clock, leap
):
    await watched.codes(watched.clock.now_ms(), 60, 30, start="+2223700")
    await watched.codes(watched.clock.now_ms() + 1000, 40, 2, start="+2224655")
    await trio.sleep(SOON_S)
    assert await told_of(watched, "codes_abused") == [("+2224655", False)]
    await leap(2 * HOUR_S, LOOKED_S)
    assert await told_of(watched, "codes_abused") == [("+2224655", True)]


@pytest.mark.slow
async def test_a_prefix_has_as_many_digits_behind_the_code_of_every_country(
    open_watched, autojump_clock
):
    async with open_watched(countries=("US", "MR")) as watched:
        await watched.codes(watched.clock.now_ms(), 30, 0, start="+2224655")
        await watched.codes(watched.clock.now_ms() + 1000, 30, 30, start="+2224656")
        await watched.codes(watched.clock.now_ms() + 2000, 20, 0, start="+121355501")
        await watched.codes(watched.clock.now_ms() + 3000, 20, 0, start="+121355502")
        await trio.sleep(SOON_S)
        told = await told_of(watched, "codes_abused")
        assert sorted(told) == [("+12135", False), ("+2224655", False)]


@pytest.mark.slow
async def test_an_organization_that_sends_has_little_left(watched, autojump_clock):
    mine = {"organization_id": watched.principal.organization_id}
    await watched.do("org.set", low_balance="2000", **mine)
    await trio.sleep(SOON_S)
    assert await told_of(watched, "balance_low") == []  # it sends nothing
    await watched.send()
    await trio.sleep(SOON_S)
    assert await told_of(watched, "balance_low") == [(mine["organization_id"], False)]
    await watched.do("topup", amount="5000", **mine)
    await trio.sleep(3 * SOON_S)
    assert await told_of(watched, "balance_low") == [(mine["organization_id"], True)]


async def test_the_balance_of_a_sim_is_low(watched, autojump_clock):
    watched.say(sim_balance=7.0, sim_balance_is="low")
    await trio.sleep(SOON_S)
    assert await told_of(watched, "sim_balance_low") == [("fake", False)]
    watched.say(sim_balance=200.0, sim_balance_is="fine")
    await trio.sleep(2 * SOON_S)
    assert await told_of(watched, "sim_balance_low") == [("fake", True)]


async def test_the_quota_of_a_sim_is_nearly_used_up(watched, autojump_clock):
    watched.say(segments_today=89, segments_per_day_max=100)
    await trio.sleep(SOON_S)
    assert await told_of(watched, "quota_low") == []
    watched.say(segments_today=95, segments_per_day_max=100)
    await trio.sleep(SOON_S)
    assert await told_of(watched, "quota_low") == [("fake", False)]
    watched.say(segments_today=0, segments_per_day_max=100)
    await trio.sleep(2 * SOON_S)
    assert await told_of(watched, "quota_low") == [("fake", True)]


async def test_other_figures_hold_from_the_next_look_on(watched, autojump_clock):
    await trio.sleep(SOON_S)
    assert await told_of(watched, "disk_low") == []
    watched.retune(disk_free_bytes=10**18, hold_s=1)
    await trio.sleep(SOON_S)
    assert await told_of(watched, "disk_low") == [(None, False)]
    assert any("disk is nearly full" in mail.subject for mail in watched.mails.sent)
    watched.retune(off=("disk_low",))
    await trio.sleep(2 * SOON_S)
    assert await told_of(watched, "disk_low") == [(None, True)]
    told = len(watched.mails.sent), len(watched.ops.calls)
    watched.retune(disk_free_bytes=10**18, mail=False, page_only=("disk_low",))
    await trio.sleep(SOON_S)
    latest, _ = await told_of(watched, "disk_low")
    assert latest == (None, False)
    assert (len(watched.mails.sent), len(watched.ops.calls)) == told
    watched.retune(disk_free_bytes=10**18, mail=False)
    await trio.sleep(SOON_S)  # it is told of now, by a call alone
    assert (len(watched.mails.sent), len(watched.ops.calls)) == (told[0], told[1] + 1)


async def test_the_disk_is_nearly_full(open_watched, autojump_clock):
    async with open_watched(disk_free_bytes=10**18) as watched:
        await trio.sleep(SOON_S)
        assert await told_of(watched, "disk_low") == [(None, False)]
    async with open_watched(disk_free_bytes=1_000_000) as watched:
        await trio.sleep(2 * SOON_S)
        assert await told_of(watched, "disk_low") == [(None, True)]


@pytest.mark.slow
async def test_the_last_backup_is_old(open_watched, autojump_clock, leap):
    async with open_watched(backup_age_h=3) as watched:
        await leap(4 * HOUR_S, LOOKED_S)
        (alert,) = await watched.alerts(kind="backup_old")
        assert alert["title"]["en"] == "There is no backup"
        backup_note.write(watched.data_dir, BackupNote(watched.clock.now_ms(), 1))
        await trio.sleep(3 * SOON_S)
        assert await told_of(watched, "backup_old") == [(None, True)]
        await leap(4 * HOUR_S, LOOKED_S)
        latest, _ = await watched.alerts(kind="backup_old")
        assert latest["title"]["en"] == "The last backup is 3 hours old"


async def test_nothing_reaches_the_standby_any_more(watched, autojump_clock):
    shipping = watched.gateway.services.part(second_machine).status
    await trio.sleep(SOON_S)
    assert await told_of(watched, "standby_behind") == []  # there is none
    shipping.begin()
    await trio.sleep(4 * MINUTE_S)
    assert await told_of(watched, "standby_behind") == []
    await trio.sleep(3 * MINUTE_S)
    (alert,) = await watched.alerts(kind="standby_behind")
    assert (alert["isOpen"], alert["title"]["en"]) == (True, "The standby is 6 minutes behind")
    for _ in range(2 * SOON_S // 10):
        shipping.reached(trio.current_time())
        await trio.sleep(10)
    assert await told_of(watched, "standby_behind") == [(None, True)]


async def test_a_standby_s_copy_cannot_be_restored(watched, autojump_clock):
    def tried(fault):
        note = {"at": watched.clock.now_ms(), "fault": fault}
        (watched.data_dir / NAME).write_text(json.dumps(note))

    tried("A piece is damaged.")
    await trio.sleep(3 * SOON_S)
    assert await told_of(watched, "standby_copy") == []  # there is none any more
    watched.gateway.services.part(second_machine).status.begin()
    await trio.sleep(3 * SOON_S)
    (alert,) = await watched.alerts(kind="standby_copy")
    assert (alert["isOpen"], "cannot be restored" in alert["title"]["en"]) == (True, True)
    tried(None)
    await trio.sleep(3 * SOON_S)
    assert [over for _, over in await told_of(watched, "standby_copy")] == [True]


async def test_somebody_changes_the_audit_trail(watched, autojump_clock):
    trail = TrailHeads(watched.gateway.services)
    await trail.look_due()
    await trio.sleep(SOON_S)
    assert await told_of(watched, "trail_broken") == []
    with closing(sqlite3.connect(watched.data_dir / "risala.db")) as conn, conn:
        (guard,) = conn.execute(
            "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_log'"
            " AND sql LIKE '%UPDATE%'"
        ).fetchone()
        conn.execute(f"DROP TRIGGER {guard.split()[2]}")
        conn.execute("UPDATE audit_log SET who = 'nobody' WHERE seq = 1")
        conn.execute(guard)
    await trail.look_due()
    await trio.sleep(SOON_S)
    assert await told_of(watched, "trail_broken") == []  # it looks once a day
    trail = TrailHeads(watched.gateway.services)  # as after a day
    await trail.look_due()
    await trio.sleep(SOON_S)
    (alert,) = await watched.alerts(kind="trail_broken")
    assert alert["isOpen"]
    assert "line 1" in alert["text"]["en"].lower()
    await trail.look_due()  # a broken trail is looked at each time, and stays one
    assert watched.gateway.services.trail.faults


async def test_messages_wait_whose_numbers_nobody_serves(watched, autojump_clock):
    message_id = await watched.send(to="+22226123456")
    await trio.sleep(SOON_S)
    (alert,) = await watched.alerts(kind="numbers_unserved")
    assert alert["facts"] == {"count": 1, "numbers": "+22226"}
    await watched.do("message.cancel", message_id=message_id)
    await trio.sleep(2 * SOON_S)
    assert await told_of(watched, "numbers_unserved") == [(None, True)]


@pytest.mark.slow
async def test_messages_come_in_that_nobody_gets(watched, autojump_clock):
    await watched.come_in("hello")
    await trio.sleep(SOON_S)
    assert await told_of(watched, "inbound_unserved") == []  # nobody wants any
    mine = {"organization_id": watched.principal.organization_id}
    await watched.do("inbound.route", keyword="vote", **mine)
    await watched.come_in("VOTE for me")
    await trio.sleep(SOON_S)
    assert await told_of(watched, "inbound_unserved") == [("1234", False)]
    watched.clock.ahead_ms += 24 * HOUR_MS
    await trio.sleep(HOUR_S)
    assert await told_of(watched, "inbound_unserved") == [("1234", True)]


@pytest.mark.slow
async def test_too_many_answers_are_errors(watched, autojump_clock, leap):
    watched.answers[200] += 1000
    await trio.sleep(SOON_S)
    watched.answers[500] += 19  # too few to get up for
    await trio.sleep(SOON_S)
    assert await told_of(watched, "errors") == []
    watched.answers.update({200: 100, 500: 15, 503: 15})
    await trio.sleep(2 * MINUTE_S)
    assert await told_of(watched, "errors") == [(None, False)]
    await leap(HOUR_S, LOOKED_S)
    assert await told_of(watched, "errors") == [(None, True)]


@pytest.mark.slow
async def test_the_clock_is_set(watched, autojump_clock, leap):
    await trio.sleep(SOON_S)
    watched.clock.ahead_ms -= 2 * HOUR_MS
    await trio.sleep(2 * MINUTE_S)
    (alert,) = await watched.alerts(kind="clock_jumped")
    assert alert["title"]["en"] == "The clock was set back by 2 hours"
    await leap(2 * HOUR_S, LOOKED_S)
    assert await told_of(watched, "clock_jumped") == [(None, True)]
    watched.clock.ahead_ms += 30_000  # less than anybody would notice
    await trio.sleep(SOON_S)
    assert await told_of(watched, "clock_jumped") == [(None, True)]


async def test_a_clock_that_was_set_back_while_nothing_ran_is_noticed(open_watched, autojump_clock):
    async with open_watched() as watched:
        await watched.send()
        watched.clock.ahead_ms -= 2 * HOUR_MS
    async with open_watched() as watched:
        await trio.sleep(SOON_S)
        assert await told_of(watched, "clock_jumped") == [(None, False)]
