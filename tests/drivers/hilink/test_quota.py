"""The day of a stick's SIM."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.drivers.hilink.stick_line import running

from risala.drivers.hilink.quota import StickQuota
from risala.plugins.contract import Accepted, Cause, NotStoredError, Refused, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

DAY_MS = 86_400_000
NOON_MS = round(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)
OVER = "The SIM's segments of today are used up (segments_per_day_max = 3)."


class Clock:
    def __init__(self) -> None:
        self.ms = NOON_MS

    def __call__(self) -> int:
        return self.ms


async def test_a_day_is_used_up_until_midnight_also_after_a_restart():
    context, now_ms = RecordingContext("stick"), Clock()
    quota = StickQuota(context, 3, now_ms)
    await quota.count(2)
    assert quota.declines(1) is None
    two = quota.declines(2)
    assert two is not None
    assert two.text.startswith("2 of the SIM's 3 segments of today are used up")
    await quota.count(1)
    again = StickQuota(context, 3, now_ms)
    declined = again.declines(1)
    assert declined is not None
    assert (declined.text, again.attention) == (OVER, OVER)
    assert declined.until_ms == NOON_MS + DAY_MS // 2
    now_ms.ms += DAY_MS
    assert (again.today, again.declines(3), again.attention) == (0, None, None)
    assert again.declines(9) is None, "on a day with nothing in it"


async def test_what_did_not_leave_is_given_back_and_what_is_not_stored_is_not_counted():
    context = RecordingContext("stick")
    quota = StickQuota(context, 3, Clock())
    await quota.count(3)
    quota.give_back(3)
    assert quota.today == 0
    context.note_refusals = 1
    with pytest.raises(NotStoredError):
        await quota.count(1)
    assert quota.today == 0


async def test_without_a_limit_nothing_is_written():
    context = RecordingContext("stick")
    quota = StickQuota(context, None, Clock())
    await quota.count(1)
    assert (quota.today, quota.declines(99), context.notes) == (0, None, {})


async def test_a_stick_sends_no_more_than_its_day():
    async with running(segments_per_day_max=2) as (stick, driver, context):
        assert isinstance(await driver.submit(segment()), Accepted)
        stick.device.behaviour.fails_sends = True
        assert isinstance(await driver.submit(segment()), Refused), "it counts all the same"
        over = await driver.submit(segment())
        assert isinstance(over, Unsent)
        assert over.cause is Cause.QUOTA_USED
        assert driver.declines("+22236123456", 1) is not None
        await context.wait_until(lambda it: it.healths[-1].details.get("segments_today") == 2)
    details = context.healths[-1].details
    assert details["segments_per_day_max"] == 2
    assert str(details["attention"]).startswith("The SIM's segments of today are used up")
    assert stick.count("sms/send-sms") == 2


async def test_what_the_disk_refuses_does_not_leave():
    async with running(segments_per_day_max=2) as (stick, driver, context):
        context.note_refusals = 1
        outcome = await driver.submit(segment())
    assert isinstance(outcome, Unsent)
    assert stick.count("sms/send-sms") == 0
