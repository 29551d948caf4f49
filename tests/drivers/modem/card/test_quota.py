"""What a SIM may send in a day and a month: counted on disk before a segment leaves."""

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import examples
from risala.drivers.modem.card.quota import Quota
from risala.drivers.modem.card.tally import QuotaTally
from risala.plugins.contract import Accepted, HealthState, NotStoredError, Refused, Scope, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

NOW_MS = 1_795_176_000_000  # 2026-11-20 12:00:00 UTC
DAY_MS = 86_400_000
HOUR_MS = 3_600_000


# -- pure --------------------------------------------------------------------------------------


def test_a_day_and_the_next():
    quota = Quota(2)
    for _ in range(2):
        assert not quota.refuses(segment(), NOW_MS)
        quota.count(segment(), NOW_MS)
    assert quota.refuses(segment(), NOW_MS)
    assert quota.day_is_over(NOW_MS)
    assert not quota.day_is_over(NOW_MS + DAY_MS)
    assert quota.segments == 0
    assert quota.next_day_s(NOW_MS) == 12 * 3600


def test_a_code_between_two_parts_strands_nothing():
    quota = Quota(4)
    part = {"message_id": "m1", "total": 3}
    assert not quota.refuses(segment(number=1, **part), NOW_MS)
    quota.count(segment(number=1, **part), NOW_MS)
    for _ in range(2):
        assert not quota.refuses(segment(), NOW_MS)
        quota.count(segment(), NOW_MS)
    for number_ in (2, 3):
        assert not quota.day_is_over(NOW_MS)
        assert not quota.refuses(segment(number=number_, **part), NOW_MS)
        quota.count(segment(number=number_, **part), NOW_MS)
    assert quota.day_is_over(NOW_MS)


def test_a_message_that_was_given_up_keeps_no_day_open():
    quota = Quota(1)
    quota.count(segment(number=1, total=3), NOW_MS)
    assert not quota.day_is_over(NOW_MS)
    assert quota.day_is_over(NOW_MS + 600_000)


def test_a_message_longer_than_a_day_goes_in_a_day_of_its_own():
    quota = Quota(2)
    assert not quota.refuses(segment(number=1, total=5), NOW_MS)
    quota.count(segment(), NOW_MS)
    assert quota.refuses(segment(number=1, total=5), NOW_MS)


def test_recipients_of_a_month():
    quota = Quota(None, 2)
    for recipient in ("+22236000001", "+22236000002"):
        quota.count(segment(recipient=recipient), NOW_MS)
    assert not quota.refuses_recipient(segment(recipient="+22236000001"), NOW_MS)
    assert quota.refuses_recipient(segment(recipient="+22236000003"), NOW_MS)
    assert quota.refuses_recipient(segment(recipient="+22236000003"), NOW_MS + DAY_MS)
    assert not quota.refuses_recipient(segment(recipient="+22236000003"), NOW_MS + 11 * DAY_MS)


def test_a_clock_that_goes_back_takes_nothing_away():
    quota = Quota(2)
    quota.count(segment(), NOW_MS)
    quota.count(segment(), NOW_MS)
    assert not quota.day_is_over(NOW_MS - 400 * DAY_MS)
    quota.count(segment(), NOW_MS - 400 * DAY_MS)
    assert quota.day_is_over(NOW_MS)


def test_what_did_not_leave_is_given_back():
    quota = Quota(1, 1)
    counted = quota.count(segment(), NOW_MS)
    quota.give_back(counted)
    assert (quota.segments, quota.recipients) == (0, 0)
    assert not quota.refuses_recipient(segment(recipient="+22246000000"), NOW_MS)


# -- written down ------------------------------------------------------------------------------


class Book:
    """A tally over notes, and the next one after a crash."""

    def __init__(self, *limits: int | None) -> None:
        self.limits = limits
        self.now_ms = NOW_MS
        self.context = RecordingContext()
        self.restart()

    def restart(self, sim: str = "sim-a") -> None:
        self.tally = QuotaTally(self.context, lambda: self.now_ms, *self.limits)
        self.tally.take_sim(sim)

    @property
    def quota(self) -> Quota:
        return self.tally.quota


async def test_counts_outlive_a_restart():
    book = Book(10, 500)
    for number in range(3):
        await book.tally.count(segment(recipient=f"+2223600000{number}"))
    book.restart()
    assert book.quota.segments == 0  # no day has begun
    assert not book.quota.day_is_over(NOW_MS)
    assert (book.quota.segments, book.quota.recipients) == (3, 3)
    assert not book.quota.refuses_recipient(segment(recipient="+22236000002"), NOW_MS)


async def test_more_recipients_than_a_note_holds():
    book = Book(None, 450)
    for number in range(450):
        await book.tally.count(segment(recipient=f"+22236{number:06}"))
    assert all(len(text) <= 4096 for text in book.context.notes.values())
    book.restart()
    assert book.quota.refuses_recipient(segment(recipient="+22246000000"), NOW_MS)
    assert not book.quota.refuses_recipient(segment(recipient="+22236000449"), NOW_MS)
    assert book.quota.recipients == 450


async def test_recipients_are_not_written_down_where_they_are_not_limited():
    book = Book(10)
    await book.tally.count(segment())
    assert "36123456" not in repr(book.context.notes)
    assert book.quota.recipients is None


async def test_past_days_and_months_are_struck():
    book = Book(10, 10)
    await book.tally.count(segment())
    book.now_ms += DAY_MS
    await book.tally.count(segment())
    assert [key for key in book.context.notes if "day" in key] == ["quota/sim-a/day/2026-11-21"]
    book.now_ms += 30 * DAY_MS
    await book.tally.count(segment(recipient="+22246000000"))
    assert "2026-11" not in repr(book.context.notes)
    assert "36123456" not in repr(book.context.notes)
    book.restart("sim-b")
    book.now_ms += 60 * DAY_MS
    book.restart("sim-c")
    await book.tally.count(segment())
    assert not [key for key in book.context.notes if "sim-a/" in key]


async def test_each_sim_has_its_own():
    book = Book(2)
    for _ in range(2):
        await book.tally.count(segment())
    book.tally.take_sim("sim-b")
    assert not book.quota.day_is_over(NOW_MS)
    await book.tally.count(segment())
    book.tally.take_sim("sim-a")
    assert book.quota.day_is_over(NOW_MS)


async def test_a_sim_that_does_not_tell_who_it_is_is_taken_for_the_last():
    book = Book(1)
    await book.tally.count(segment())
    book.restart("")
    assert book.quota.day_is_over(NOW_MS)
    book.tally.take_sim("")
    assert book.quota.day_is_over(NOW_MS)


async def test_what_cannot_be_written_down_is_not_counted_and_put_right_later():
    book = Book(5, 5)
    await book.tally.count(segment())
    book.context.note_refusals = 1
    with pytest.raises(NotStoredError):
        await book.tally.count(segment(recipient="+22246000000"))
    assert (book.quota.segments, book.quota.recipients) == (1, 1)
    await book.tally.count(segment())
    book.restart()
    assert not book.quota.day_is_over(NOW_MS)
    assert (book.quota.segments, book.quota.recipients) == (2, 1)


@settings(deadline=None, max_examples=examples(50))
@given(st.lists(st.sampled_from(["send", "back", "crash", "refuse", "day", "sim"]), max_size=40))
def test_a_crash_never_forgets_a_segment_that_left(steps):
    """Whatever happens, the count is at least what left on this day by this SIM."""

    async def play() -> None:
        book = Book(1000, 1000)
        left: dict[tuple[str, int], int] = {}
        sim = "sim-a"
        for step in steps:
            key = (sim, book.now_ms)
            match step:
                case "send":
                    await book.tally.count(segment(recipient=f"+2223{len(left):07}"))
                    left[key] = left.get(key, 0) + 1
                case "back":
                    book.tally.give_back(await book.tally.count(segment()))
                case "crash":
                    book.restart(sim)
                case "refuse":
                    book.context.note_refusals = 1
                    with pytest.raises(NotStoredError):
                        await book.tally.count(segment())
                case "day":
                    book.now_ms += DAY_MS
                case "sim":
                    sim = "sim-b" if sim == "sim-a" else "sim-a"
                    book.tally.take_sim(sim)
        book.restart(sim)
        book.quota.day_is_over(book.now_ms)
        assert book.quota.segments >= left.get((sim, book.now_ms), 0)

    trio.run(play)


# -- at a modem --------------------------------------------------------------------------------


async def test_segments_per_day(autojump_clock, modem, new_line):
    async with new_line(modem, segments_per_day_max=3, check_every_s=600).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        for number in (1, 2):
            part = segment(message_id="m2", number=number, total=2)
            assert isinstance(await line.driver.submit(part), Accepted)
        assert line.context.healths[-1].state is HealthState.DOWN
        assert "used up" in line.context.healths[-1].text
        assert isinstance(await line.driver.submit(segment()), Unsent)
        line.shift_ms = 13 * HOUR_MS
        await trio.sleep(13 * 3600)
        assert line.context.healths[-1].state is HealthState.UP
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_a_message_does_not_begin_that_would_not_end_today(autojump_clock, modem, new_line):
    async with new_line(modem, segments_per_day_max=3, check_every_s=600).run() as line:
        await line.driver.submit(segment())
        outcome = await line.driver.submit(segment(number=1, total=3))
        assert isinstance(outcome, Unsent)
        assert line.context.healths[-1].state is HealthState.DOWN
        assert len(modem.submits) == 1


async def test_recipients_per_month(autojump_clock, modem, new_line):
    async with new_line(modem, recipients_per_month_max=1).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        outcome = await line.driver.submit(segment(recipient="+22246000000"))
        assert isinstance(outcome, Refused)
        assert outcome.scope is Scope.CARRIER
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_the_day_is_used_up_also_after_a_restart(autojump_clock, modem, new_line):
    async with new_line(modem, segments_per_day_max=1).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
    again = new_line(modem, line.context.notes, segments_per_day_max=1)
    async with again.run(HealthState.DOWN) as line:
        await line.context.wait_until(lambda it: "used up" in it.healths[-1].text)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        modem.replies["AT[+]CIMI"] = "609109999999999\r\nOK"  # another SIM
        await modem.say("RDY")
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)
    assert not any("609101234567890" in key for key in line.context.notes)


async def test_it_is_on_disk_before_the_segment_leaves(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        seen = []
        modem.replies[r"AT\+CMGS=.*"] = lambda _: seen.append(dict(line.context.notes)) or "> "
        modem.cmgs = lambda _: None  # and then the power goes
        with trio.move_on_after(1):
            await line.driver.submit(segment())
        assert [text for key, text in seen[0].items() if "/day/" in key] == ["1"]


async def test_what_cannot_be_written_down_does_not_leave(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        line.context.note_refusals = 1
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Unsent)
        assert modem.submits == []
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert line.details["segments_today"] == 1


async def test_what_had_no_prompt_is_not_counted(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CMGS=.*"] = "+CMS ERROR: 500"
    async with new_line(modem).run() as line:
        await line.driver.submit(segment())
        assert line.details["segments_today"] == 0
        modem.replies.clear()
        modem.cmgs = lambda _: "+CMS ERROR: 38"  # the network saw it
        await line.driver.submit(segment())
        assert line.details["segments_today"] == 1


async def test_what_waited_too_long_for_its_turn_does_not_leave(autojump_clock, modem, new_line):
    """Its submit said that nothing was sent: so it must be."""
    async with new_line(modem, send_timeout_s=5).run() as line:
        line.context.gate = trio.Event()
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Unsent)
        line.context.gate.set()
        await trio.sleep(30)
        assert modem.submits == []
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert len(modem.submits) == 1


async def test_nor_what_waited_while_others_had_the_modem(autojump_clock, modem, new_line):
    async with new_line(modem, send_timeout_s=5, check_every_s=1).run() as line:
        asked = trio.Event()
        modem.replies[r"AT\+COPS\?"] = lambda _: asked.set()  # and no word
        await asked.wait()
        assert isinstance(await line.driver.submit(segment()), Unsent)
        await trio.sleep(200)
        assert modem.submits == []
        assert line.details["segments_today"] == 0
        modem.replies.clear()
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)
