"""Who is told of an alert, how often, and what becomes of it over a restart."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime

import pytest
import trio
from standardwebhooks import Webhook

from cases import first
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.plugins.contract import HealthState

MINUTE_S = 60
HOUR_S = 3600
LOOKED_S = 600
"""Hours pass by as much, with a look at each."""
DAY_MS = 86_400_000
OPERATOR, SPARE = "amina@example.com", "spare@example.com"
DOWN = ReceiverFault("NOT_CONNECTED", "The connection failed.")


def told(watched):
    """What was mailed to the operator, by its subjects."""
    return [mail.subject for mail in watched.mails.sent if mail.to == OPERATOR]


def called(watched):
    return [(body["type"], body["alert"]["kind"]) for body in watched.ops.bodies()]


async def break_and_mend(watched):
    watched.driver.set_health(HealthState.DOWN)
    await trio.sleep(10 * MINUTE_S)
    watched.driver.set_health(HealthState.UP)
    await trio.sleep(10 * MINUTE_S)


@pytest.mark.slow
async def test_operators_are_told_in_their_language_once_and_when_it_is_over(
    watched, autojump_clock
):
    await watched.do("user.create", email="ar@example.com", operator=True, language="ar")
    await watched.do("user.create", email="customer@example.com")
    await break_and_mend(watched)
    by_reader = Counter(mail.to for mail in watched.mails.sent)
    assert by_reader == {OPERATOR: 2, "ar@example.com": 2, SPARE: 2}
    assert told(watched) == ["Risala: fake is down", "Risala: over: fake is down"]
    of = {mail.to: mail for mail in watched.mails.sent[:3]}
    assert of["ar@example.com"].subject == "تنبيه من Risala: \u2068fake\u2069: الوصلة مقطوعة"
    assert of[SPARE].subject == "Risala\u00a0: fake\u00a0: liaison coupée"
    assert "https://sms.example/operator/overview" in of[OPERATOR].text
    assert "The link of the carrier fake is down. The fake link is down." in of[OPERATOR].text
    (over,) = [mail.text for mail in watched.mails.sent[3:] if mail.to == OPERATOR]
    assert re.search("after (9|10) minutes", over)


async def test_the_operators_address_is_called_with_a_signature(watched, autojump_clock):
    await break_and_mend(watched)
    assert called(watched) == [("alert.raised", "carrier_down"), ("alert.over", "carrier_down")]
    first = watched.ops.calls[0]
    secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    at = int(first.headers["webhook-timestamp"])
    assert abs(at * 1000 - watched.clock.now_ms()) < DAY_MS
    signed = Webhook(secret).sign(first.headers["webhook-id"], _moment(at), first.body.decode())
    assert first.headers["webhook-signature"] == signed
    raised, over = watched.ops.bodies()
    assert raised["id"] == "alert_1_raised" == first.headers["webhook-id"]
    assert over["id"] == "alert_1_over"
    assert raised["alert"]["overAt"] is None
    assert over["alert"]["overAt"] is not None
    assert raised["alert"]["text"].startswith("The link of the carrier fake is down")


def _moment(at_s):
    return datetime.fromtimestamp(at_s, UTC)


@pytest.mark.slow
async def test_a_call_that_fails_is_made_again_also_after_a_restart(
    open_watched, autojump_clock, leap
):
    async with open_watched() as watched:
        watched.ops.plan[:] = [DOWN, ReceiverAnswer(500, None, "")]
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(7 * MINUTE_S)
        assert called(watched) == [("alert.raised", "carrier_down")] * 2
    async with open_watched() as watched:
        await leap(HOUR_S, LOOKED_S)
        assert called(watched)[2] == ("alert.raised", "carrier_down")
        ids = [call.headers["webhook-id"] for call in watched.ops.calls[:3]]
        assert len({*ids}) == 1


@pytest.mark.slow
async def test_a_call_that_is_cut_off_by_a_stop_is_made_again(open_watched, autojump_clock, leap):
    async with open_watched() as watched:
        watched.ops.hangs = True
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(7 * MINUTE_S)
        assert called(watched) == [("alert.raised", "carrier_down")]
        watched.ops.hangs = False  # for the next one; this one hangs until the stop
    async with open_watched() as watched:
        await trio.sleep(MINUTE_S // 2)
        assert called(watched) == [("alert.raised", "carrier_down")] * 2
        await leap(HOUR_S, LOOKED_S)
        assert called(watched)[2:] == [("alert.over", "carrier_down")]


async def test_a_call_waits_no_longer_where_the_clock_is_set_back(watched, autojump_clock):
    watched.ops.plan[:] = [DOWN, DOWN]
    watched.driver.set_health(HealthState.DOWN)
    await trio.sleep(6 * MINUTE_S + 10)
    assert len(watched.ops.calls) == 2  # at once, and after five seconds
    watched.clock.ahead_ms -= DAY_MS
    await trio.sleep(7 * MINUTE_S)  # the wait is five minutes, with jitter
    ids = [call.headers["webhook-id"] for call in watched.ops.calls]
    assert ids.count("alert_1_raised") == 3


@pytest.mark.slow
async def test_a_call_to_an_address_that_was_taken_away_is_dropped(
    open_watched, autojump_clock, leap
):
    async with open_watched() as watched:
        watched.ops.plan[:] = [DOWN]
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(6 * MINUTE_S + 2)
        assert len(watched.ops.calls) == 1
    async with open_watched(webhook_url=()) as watched:
        await leap(HOUR_S, LOOKED_S)
    async with open_watched(webhook_url=("https://other.example/",)) as watched:
        await leap(HOUR_S, LOOKED_S)
        assert len(watched.ops.calls) == 1


@pytest.mark.slow
async def test_a_restart_neither_raises_again_nor_forgets(open_watched, autojump_clock, leap):
    async with open_watched() as watched:
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(10 * MINUTE_S)
        assert told(watched) == ["Risala: fake is down"]
    for _ in range(3):
        async with open_watched() as watched:
            watched.driver.set_health(HealthState.DOWN)
            await leap(HOUR_S, LOOKED_S)
            assert told(watched) == ["Risala: fake is down"]
    async with open_watched() as watched:  # its link is up now
        await leap(HOUR_S, LOOKED_S)
        assert told(watched) == ["Risala: fake is down", "Risala: over: fake is down"]
        assert len(await watched.alerts()) == 1
    assert called(watched) == [("alert.raised", "carrier_down"), ("alert.over", "carrier_down")]


@pytest.mark.slow
@pytest.mark.parametrize("hours", first(1, [4, 12]))
async def test_a_lane_that_flaps_is_told_of_ever_more_seldom(watched, autojump_clock, hours):
    for _ in range(3 * hours):  # ten minutes down, ten minutes up
        await break_and_mend(watched)
    raised = [subject for subject in told(watched) if "over" not in subject]
    assert 1 <= len(raised) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("times", first(1, [10, 30]))
async def test_a_lane_that_is_never_down_for_long_is_not_told_of(watched, autojump_clock, times):
    for _ in range(times):
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(2 * MINUTE_S)
        watched.driver.set_health(HealthState.UP)
        await trio.sleep(2 * MINUTE_S)
    assert told(watched) == []


@pytest.mark.slow
async def test_what_is_muted_is_listed_and_told_only_where_it_goes_on(watched, autojump_clock):
    mute = await watched.do("alert.mute", kind="carrier_down", subject="fake", minutes=60)
    await break_and_mend(watched)
    (alert,) = await watched.alerts()
    assert (alert["isOpen"], alert["toldAt"], alert["isMuted"]) == (False, None, True)
    watched.driver.set_health(HealthState.DOWN)
    await trio.sleep(20 * MINUTE_S)
    assert told(watched) == []
    await trio.sleep(30 * MINUTE_S)  # the mute is over, the fault is not
    assert told(watched) == ["Risala: fake is down"]
    with pytest.raises(Exception, match="no mute"):
        await watched.do("alert.unmute", mute_id=mute["id"] + "9")


@pytest.mark.slow
async def test_an_unmuted_alert_is_told_of_at_the_next_look(watched, autojump_clock):
    mute = await watched.do("alert.mute", kind="lane_down", minutes=600)
    assert mute["kind"] == "carrier_down", "lane_down is its name of before 1.0"
    watched.driver.set_health(HealthState.DOWN)
    await trio.sleep(20 * MINUTE_S)
    assert told(watched) == []
    await watched.do("alert.unmute", mute_id=mute["id"])
    await trio.sleep(2 * MINUTE_S)
    assert told(watched) == ["Risala: fake is down"]
    assert (await watched.do("alert.list"))["mutes"] == []


async def test_who_sees_to_it_is_noted_once(watched, autojump_clock):
    watched.driver.set_health(HealthState.DOWN)
    await trio.sleep(7 * MINUTE_S)
    (alert,) = await watched.alerts(open=True)
    first = await watched.do("alert.acknowledge", alert_id=alert["id"])
    again = await watched.do("alert.acknowledge", alert_id=alert["id"])
    assert first["acknowledgedBy"] == "risala"
    assert again["acknowledgedAt"] == first["acknowledgedAt"]


@pytest.mark.slow
async def test_what_is_for_the_page_alone_and_what_is_off(open_watched, autojump_clock):
    async with open_watched(page_only=["carrier_down"], off=["quota_low"]) as watched:
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(7 * MINUTE_S)
        assert await watched.open_kinds() == ["carrier_down"]
        watched.say(segments_today=99, segments_per_day_max=100)
        await trio.sleep(7 * MINUTE_S)
        assert await watched.open_kinds() == []
        assert told(watched) == []
        assert watched.ops.calls == []


@pytest.mark.slow
async def test_what_is_switched_off_while_it_is_raised_is_over(open_watched, autojump_clock):
    async with open_watched() as watched:
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(7 * MINUTE_S)
        assert await watched.open_kinds() == ["carrier_down"]
    async with open_watched(off=["carrier_down"]) as watched:
        watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(20 * MINUTE_S)
        assert await watched.open_kinds() == []


@pytest.mark.slow
async def test_without_a_mailer_nothing_is_owed_by_mail(open_watched, autojump_clock):
    async with open_watched(mailer=False) as watched:
        await break_and_mend(watched)
        reader = watched.gateway.services.repositories._store.reader
        assert reader.execute("SELECT count(*) FROM mails").fetchone()[0] == 0
        assert len(watched.ops.calls) == 2


@pytest.mark.slow
async def test_history_is_kept_for_its_days_and_within_its_bound(
    watched, autojump_clock, monkeypatch
):
    monkeypatch.setattr(alerts, "KEPT_MAX", 500)
    now_ms = watched.clock.now_ms()

    def unit(conn):
        for n in range(alerts.KEPT_MAX + 50):
            raised = alerts.raise_one(conn, AlertKind.CARRIER_DOWN, "old", {}, now_ms + n)
            alerts.end(conn, raised.seq, {}, now_ms + n)
        alerts.raise_one(conn, AlertKind.QUEUE_OLD, "open", {}, now_ms)
        alerts.forget_old(conn, now_ms, now_ms)

    await watched.commit(unit)
    reader = watched.gateway.services.repositories._store.reader
    count = "SELECT count(*), min(over_at) FROM alerts WHERE over_at IS NOT NULL"
    assert reader.execute(count).fetchone() == (alerts.KEPT_MAX, now_ms + 50)
    await watched.commit(lambda conn: alerts.forget_old(conn, now_ms + 10**9, now_ms))
    assert reader.execute(count).fetchone()[0] == 0
    assert len(await watched.alerts(open=True)) == 1


@pytest.mark.slow
async def test_what_befalls_a_hundred_at_once_is_no_hundred_mails(watched, autojump_clock):
    now_ms = watched.clock.now_ms()
    for n in range(40):
        await watched.codes(now_ms + n * 100, 35, 0, start=f"+222{4000 + n}")
    await trio.sleep(6 * MINUTE_S)
    assert len(await watched.alerts(kind="codes_abused", open=True)) == 40
    assert len(told(watched)) == 10
    assert len(watched.ops.calls) == 10
    await trio.sleep(30 * MINUTE_S)
    assert len(told(watched)) == 10


async def test_what_one_driver_says_of_itself_hides_nothing(watched, autojump_clock):
    watched.say(sim_balance=float("nan"), sim_balance_is="low", segments_today=float("inf"))
    await watched.send(to="+22226123456")
    await trio.sleep(6 * MINUTE_S)
    assert "numbers_unserved" in await watched.open_kinds()
    (alert,) = await watched.alerts(kind="sim_balance_low")
    assert alert["facts"] == {"balance": None}


async def test_the_list_goes_on_page_by_page(watched):
    now_ms = watched.clock.now_ms()

    def unit(conn):
        for n in range(5):
            alerts.raise_one(conn, AlertKind.CARRIER_DOWN, f"lane-{n}", {}, now_ms)

    await watched.commit(unit)
    page = await watched.do("alert.list", limit=3)
    assert [each["subject"] for each in page["alerts"]] == ["lane-4", "lane-3", "lane-2"]
    rest = await watched.do("alert.list", limit=3, before=page["next"])
    assert [each["subject"] for each in rest["alerts"]] == ["lane-1", "lane-0"]
    assert (rest["next"], rest["open"]) == (None, 5)
    json.dumps(rest)
