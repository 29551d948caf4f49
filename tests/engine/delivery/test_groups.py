"""Delivery in groups: leased, answered and told together, and each message alone in its fate."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import trio
from structlog.testing import capture_logs

from risala.engine.delivery import attempt_writer
from risala.engine.delivery.worker.calls import LATE_S, SPARE_S
from risala.engine.model.lines import Kind
from risala.engine.wiring.foundation import DATABASE
from risala.plugins.contract import (
    RECEIPTS_SOON_MAX,
    Accepted,
    NotStoredError,
    Receipt,
    ReceiptState,
    Throttled,
)
from risala.plugins.testing.fake_driver import FakeDriver, FakePoster

SUBMIT_S = 10.0
BOTH = pytest.mark.parametrize("kind", [FakeDriver, FakePoster])


class Witness(FakePoster):
    """Looks at what is on the disk when something is posted to it, or acknowledged by it.

    Another connection sees what is committed, and nothing else.
    """

    def watch(self, folder):
        self.seen, self.stored = [], []
        self.path = folder / DATABASE

    def ask(self, query, *values):
        with closing(sqlite3.connect(self.path)) as conn:
            return conn.execute(query, values).fetchone()[0]

    def post(self, segment, answered):
        leased = "SELECT count(*) FROM timeline WHERE message_id = ? AND kind = ?"
        self.seen.append(self.ask(leased, segment.message_id, Kind.ATTEMPT.value))
        super().post(segment, answered)

    def receipt_soon(self, carrier_id):
        def stored(is_stored):
            assert is_stored
            known = "SELECT count(*) FROM messages WHERE status = 'delivered'"
            self.stored.append(self.ask(known))

        receipt = Receipt(carrier_id, ReceiptState.DELIVERED, "stat:DELIVRD")
        self.context.receipt_soon(receipt, stored)


FAST = 100_000.0
"""Messages a second: the throttle holds nothing up."""


FEW = 8
"""Commits beside those that a test counts: of the engine's own accord, and the operator's."""


async def send_many(house, count):
    return [await house.send(f"hello {number}") for number in range(count)]


async def gate_and_send(house, count):
    """Messages that all wait when their carrier opens again."""
    await house.gateway.perform("carriers.pause", {"carrier": "fake"})
    sent = await send_many(house, count)
    await house.gateway.perform("carriers.resume", {"carrier": "fake"})
    return sent


@BOTH
async def test_a_group_is_never_larger_than_the_window(open_house, carrier, quick, kind):
    driver = kind(window_max=7)
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        for message_id in await gate_and_send(house, 60):
            await house.wait_status(message_id, "sent")
    assert driver.in_flight_peak == 7
    assert len(driver.submitted) == 60


@BOTH
async def test_nor_than_the_throttles_tokens(open_house, carrier, quick, kind):
    driver = kind(window_max=50)
    times = []
    driver.always = lambda segment: (
        times.append(trio.current_time()) or Accepted(segment.message_id)
    )
    async with open_house(carrier(rate_per_s=10), drivers={"fake": driver}) as house:
        for message_id in await gate_and_send(house, 30):
            await house.wait_status(message_id, "sent")
    for begin in times:
        assert sum(begin <= at < begin + 1 for at in times) <= 11


async def test_an_answer_and_the_next_lease_are_one_commit(open_house, carrier, quick):
    """A message that was taken makes room at once, and not only when that is on the disk.

    With a window of one nothing else shares a commit. Which of two tasks goes first is the loop's
    own dice, so that it is not all of the forty.
    """
    driver = FakePoster(window_max=1)
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        journal = house.gateway.services.recorder.journal
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        sent = await send_many(house, 40)
        before = journal.statistics()
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        for message_id in sent:
            await house.wait_status(message_id, "sent")
        after = journal.statistics()
        shared = (after.units - before.units) - (after.commits - before.commits)
        assert shared >= 10


async def test_what_waits_is_leased_and_written_together(open_house, carrier, quick):
    driver = FakePoster(window_max=50)
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        journal = house.gateway.services.recorder.journal
        driver.hold()
        before = journal.statistics().commits
        sent = await gate_and_send(house, 50)
        await driver.wait_submitted(50)
        leased = journal.statistics().commits
        assert leased - before <= 50 + FEW
        driver.let_go()
        for message_id in sent:
            await house.wait_status(message_id, "sent")
        assert journal.statistics().commits - leased <= FEW


async def test_nothing_leaves_and_nothing_is_acknowledged_before_it_is_on_disk(
    open_house, carrier, quick, tmp_path
):
    driver = Witness(window_max=20)
    driver.watch(tmp_path)
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        for message_id in await gate_and_send(house, 20):
            await house.wait_status(message_id, "sent")
        assert driver.seen == [1] * 20
        for number in range(1, 21):
            driver.receipt_soon(str(number))
        await trio.testing.wait_all_tasks_blocked()
        assert driver.stored == [20] * 20


async def test_a_receipt_in_the_same_turn_finds_its_answer(open_house, carrier, quick):
    driver = FakePoster(window_max=20)
    heard = []

    def tell_at_once(segment):
        receipt = Receipt(segment.message_id, ReceiptState.DELIVERED, "stat:DELIVRD")
        driver.context.receipt_soon(receipt, heard.append)
        return Accepted(segment.message_id)

    driver.always = tell_at_once
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        for message_id in await gate_and_send(house, 20):
            await house.wait_status(message_id, "delivered")
            lines = [entry.line.kind for entry in house.gateway.show_message(message_id)[1]]
            assert lines[-2:] == [Kind.SENT, Kind.DELIVERED]
        await trio.testing.wait_all_tasks_blocked()
        assert heard == [True] * 20


async def test_one_that_cannot_be_written_takes_no_neighbours(open_house, carrier, quick, tmp_path):
    driver = FakePoster(window_max=20)
    driver.hold()
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        sent = await gate_and_send(house, 10)
        await driver.wait_submitted(10)
        bad = sent[4]
        with closing(sqlite3.connect(tmp_path / DATABASE)) as conn:
            conn.execute(
                "CREATE TRIGGER bug BEFORE UPDATE ON message WHEN new.status = 2"
                f" AND new.id = '{bad}' BEGIN SELECT raise(ABORT, 'a bug'); END"
            )
        with capture_logs() as logs:
            driver.let_go()
            for message_id in sent:
                if message_id != bad:
                    await house.wait_status(message_id, "sent")
        assert house.status(bad) == "processing"
        bugs = [entry["message_id"] for entry in logs if entry["event"] == "lane.bug"]
        assert bugs == [bad]
        assert await house.wait_status(await house.send(), "sent") == "sent"


async def test_one_of_which_a_listener_cannot_be_told_takes_no_neighbours(
    open_house, carrier, quick
):
    driver = FakePoster(window_max=20)
    driver.hold()
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        sent = await gate_and_send(house, 10)
        await driver.wait_submitted(10)

        def listener(event):
            if event.message_id == sent[4]:
                raise RuntimeError("a bug in a listener")

        with capture_logs() as logs, house.gateway.services.recorder.life.hear(listener):
            driver.let_go()
            for message_id in sent[:4] + sent[5:]:
                await house.wait_status(message_id, "sent")
            await trio.testing.wait_all_tasks_blocked()
        assert house.status(sent[4]) == "sent"
        assert "recorder.bug" in [entry["event"] for entry in logs]
        assert house.engine._board.lanes["fake"].in_flight == 0


async def test_a_bug_met_while_a_receipt_is_stored_is_logged_and_told(open_house, quick, tmp_path):
    driver = FakePoster()
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        with closing(sqlite3.connect(tmp_path / DATABASE)) as conn:
            conn.execute(
                "CREATE TRIGGER bug BEFORE UPDATE ON message WHEN new.status = 3"
                " BEGIN SELECT raise(ABORT, 'a bug'); END"
            )
        stored = []
        receipt = Receipt("1", ReceiptState.DELIVERED, "stat:DELIVRD")
        with capture_logs() as logs:
            driver.context.receipt_soon(receipt, stored.append)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(NotStoredError):
                await driver.context.receipt(receipt)
        assert stored == [False]
        bugs = [entry for entry in logs if entry["event"] == "receipts.bug"]
        assert [entry["carrier"] for entry in bugs] == ["fake", "fake"]
        assert "a bug" in str(bugs[0]["exc_info"])
        trace = house.engine._board.lanes["fake"].standing.trace
        assert "could not be stored: IntegrityError" in trace[-1].text


@pytest.mark.slow
async def test_receipts_that_wait_for_the_disk_have_a_bound(open_house, quick):
    driver = FakePoster()
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        stored = []
        for number in range(RECEIPTS_SOON_MAX):
            receipt = Receipt(f"r{number}", ReceiptState.DELIVERED, "stat:DELIVRD")
            driver.context.receipt_soon(receipt, stored.append)
        with pytest.raises(NotStoredError):
            driver.context.receipt_soon(receipt, stored.append)
        await trio.testing.wait_all_tasks_blocked()
        assert stored == [True] * RECEIPTS_SOON_MAX
        assert RECEIPTS_SOON_MAX > attempt_writer.GROUP_MAX
        driver.context.receipt_soon(receipt, stored.append)


async def test_what_is_throttled_keeps_its_place_and_the_others_theirs(open_house, carrier, quick):
    driver, slow = FakePoster(window_max=20), {"hello 3", "hello 4", "hello 9"}

    def answer(segment):
        is_slow = segment.text in slow and segment.attempt == 1
        return Throttled("ESME_RTHROTTLED") if is_slow else Accepted(segment.message_id)

    driver.always = answer
    async with open_house(carrier(rate_per_s=FAST), drivers={"fake": driver}) as house:
        for message_id in await gate_and_send(house, 20):
            await house.wait_status(message_id, "sent")
    assert {segment.text for segment in driver.submitted[20:]} == slow
    assert len(driver.submitted) == 23


# -- drivers that are posted to, and do not do as they should ------------------------------------


class Silent(FakePoster):
    """Never answers what it is posted, until it is asked to; then twice."""

    def post(self, segment, answered):
        self.submitted.append(segment)
        self.answered = answered


async def test_a_post_without_an_answer_is_uncertain_and_its_place_is_free(open_house, quick):
    driver = Silent(window_max=1, submit_s=SUBMIT_S)
    async with open_house(drivers={"fake": driver}) as house:
        first = await house.send()
        await trio.sleep(SUBMIT_S + SPARE_S + 1)
        assert house.timeline(first)[-1] == ("processing", None)
        lane = house.engine._board.lanes["fake"]
        assert (lane.in_flight, lane.silent) == (0, 1)
        await trio.sleep(LATE_S)
        assert lane.silent == 0


async def test_an_answer_after_all_is_used_once(open_house, quick):
    driver = Silent(window_max=1, submit_s=SUBMIT_S)
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await trio.sleep(SUBMIT_S + SPARE_S + 1)
        with capture_logs() as logs:
            driver.answered(Accepted("1"))
            driver.answered(Accepted("2"))
            assert await house.wait_status(message_id, "sent") == "sent"
        assert [entry["event"] for entry in logs].count("driver.answered_twice") == 1
        assert house.gateway.show_message(message_id)[0].provider_message_id == "1"


class Broken(FakePoster):
    def post(self, segment, answered):
        raise RuntimeError("a bug in a driver")


async def test_a_post_that_raises_is_uncertain(open_house, quick):
    driver = Broken()
    async with open_house(drivers={"fake": driver}) as house:
        with capture_logs() as logs:
            message_id = await house.send()
            await house.wait_status(message_id, "processing")
            await trio.testing.wait_all_tasks_blocked()
        assert house.timeline(message_id)[-1] == ("processing", None)
        assert "driver.submit_failed" in [entry["event"] for entry in logs]
