"""A line that gives no reports, or has used up its quota, says so, with its limit."""

import pytest

from risala.drivers.modem.card.limits import declined, refusal
from risala.drivers.modem.card.quota import Quota
from risala.plugins.contract import Accepted, Choosy, HealthState
from risala.plugins.testing.conformance import segment

NOW_MS = 1_795_176_000_000  # 2026-11-20 12:00:00 UTC
HOUR_MS = 3_600_000
MIDNIGHT_MS = NOW_MS + 12 * HOUR_MS
DECEMBER_MS = MIDNIGHT_MS + 10 * 24 * HOUR_MS
OTHER = "+22246000000"


async def test_a_line_without_reports(autojump_clock, modem, new_line):
    modem.replies = {r"AT\+CNMI=\?": "ERROR", r"AT\+CNMI=\d,\d,\d,[12].*": "ERROR"}
    async with new_line(modem).run() as line:
        told = line.context.healths[-1]
        assert told.state is HealthState.UP
        assert not told.receipts
        assert told.text.endswith(
            "It gives no delivery reports, because the modem does not pass them on."
        )
        assert (
            told.details["attention"]
            == "It gives no delivery reports, because the modem does not pass them on."
        )


async def test_a_line_that_is_not_to_ask_for_reports(autojump_clock, modem, new_line):
    async with new_line(modem, reports=False).run() as line:
        told = line.context.healths[-1]
        assert not told.receipts
        assert told.text.endswith("It gives no delivery reports (reports = false).")
        assert told.details["attention"] is None


async def test_a_line_with_reports(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        told = line.context.healths[-1]
        assert told.receipts
        assert "reports" not in told.text
        assert told.details["attention"] is None


async def test_a_month_that_is_used_up_shows_with_its_limit(autojump_clock, modem, new_line):
    async with new_line(modem, recipients_per_month_max=1).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        told = line.context.healths[-1]
        assert told.state is HealthState.UP  # the one that it knows still goes
        words = "The SIM's recipients of this month are used up (recipients_per_month_max = 1)"
        assert f"{words}: messages to further ones wait until 2026-12-01 (UTC)." in told.text
        assert words in told.details["attention"]
        assert told.details["recipients_per_month_max"] == 1
        assert isinstance(line.driver, Choosy)
        assert line.driver.declines(segment().recipient, 1) is None
        no = line.driver.declines(OTHER, 1)
        assert no is not None
        assert (no.text, no.until_ms) == (f"{words}.", DECEMBER_MS)
        line.shift_ms = DECEMBER_MS - NOW_MS
        assert line.driver.declines(OTHER, 1) is None


async def test_a_day_that_is_used_up_shows_with_its_limit(autojump_clock, modem, new_line):
    async with new_line(modem, segments_per_day_max=2, check_every_s=600).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert line.driver.declines(OTHER, 1) is None
        assert line.driver.declines(OTHER, 2) is not None
        assert line.driver.declines(OTHER, 1) is None  # who only asks ends no day
        assert line.context.healths[-1].state is HealthState.UP
        no = line.driver.declines(OTHER, 2, is_next=True)
        assert no is not None
        assert no.until_ms == MIDNIGHT_MS
        told = line.context.healths[-1]
        assert told.state is HealthState.DOWN
        assert told.text == (
            "1 of the SIM's 2 segments of today are used up (segments_per_day_max = 2), and the "
            "next message needs more; it goes on at midnight UTC."
        )
        assert told.details["segments_per_day_max"] == 2


async def test_a_modem_that_is_not_ready_declines_nothing(new_line, modem):
    assert new_line(modem, segments_per_day_max=1).driver.declines(OTHER, 1) is None


@pytest.mark.parametrize(
    ("now_ms", "days"), [(NOW_MS, 10.5), (DECEMBER_MS, 31), (DECEMBER_MS - 1000, 1 / 86400)]
)
def test_until_the_next_month(now_ms, days):
    assert Quota.next_month_s(now_ms) == days * 86400


def test_what_is_declined_is_what_a_submit_is_refused():
    for quota in (Quota(2), Quota(None, 1), Quota(2, 1), Quota()):
        for recipient in ("+22236000001", OTHER, "+22236000001"):
            for total in (1, 3):
                one = segment(recipient=recipient, total=total)
                said = declined(quota, recipient, total, NOW_MS, is_next=False)
                assert (said is None) == (refusal(quota, one, NOW_MS) is None)
            quota.count(segment(recipient=recipient), NOW_MS)
