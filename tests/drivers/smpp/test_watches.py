"""Receipts that end no message are counted and told, and nothing is told of those that do."""

import pytest

from risala.drivers.smpp.watches import WORDS_MAX, QuietWatch, ReceiptWatch
from risala.sms.receipt import Receipt, ReceiptState

FINAL = Receipt("1", ReceiptState.DELIVERED, "DELIVRD err:000")
UNDER_WAY = Receipt("1", ReceiptState.ENROUTE, "ENROUTE err:000")


def unknown(word: str) -> Receipt:
    return Receipt("1", ReceiptState.ENROUTE, f"{word} err:000", is_understood=False)


@pytest.fixture
def news() -> list[str]:
    return []


@pytest.fixture
def watch(news) -> ReceiptWatch:
    return ReceiptWatch(news.append)


def test_receipts_that_end_messages_say_nothing(watch, news):
    for at_s in range(1000):
        watch.took(FINAL, at_s)
    assert (watch.attention, dict(watch.details), news) == ("", {}, [])


def test_a_word_that_nobody_knows_is_told_with_its_count(watch, news):
    for at_s in range(100):
        watch.took(FINAL, at_s)
        watch.took(unknown("BOUNCED"), at_s)
    assert "BOUNCED (100)" in watch.attention
    assert "receipt_states" in watch.attention
    assert watch.details == {"receipts_unfinal": 100}
    assert [line.count("BOUNCED (1") for line in news] == [1, 1, 1]  # the 1st, 10th and 100th


def test_too_many_words_are_counted_as_one(watch):
    for number in range(2 * WORDS_MAX):
        watch.took(unknown(f"W{number}"), 0)
    assert f"(OTHER WORDS) ({WORDS_MAX})" in watch.attention


def test_ten_dropped_in_an_hour_are_told(watch, news):
    for at_s in range(200):
        watch.took(FINAL, at_s)
    for at_s in range(9):
        watch.dropped(at_s)
    assert not watch.attention
    watch.dropped(9)
    assert "dropped in this hour: 10" in watch.attention
    assert watch.details == {"receipts_dropped": 10}


def test_a_tenth_of_an_hours_receipts_is_told(watch):
    for at_s in range(9):
        watch.took(FINAL, at_s)
    watch.dropped(10)
    assert "dropped" in watch.attention
    watch.took(FINAL, 3700)
    assert not watch.attention


def test_ten_of_an_hour_that_only_say_under_way(watch, news):
    for at_s in range(10):
        watch.took(UNDER_WAY, at_s)
    assert "under way: 10" in watch.attention
    watch.took(FINAL, 11)
    assert not watch.attention
    assert news[-1] == "The carrier's receipts end messages again."


# A carrier that brings nothing, though its links answer.


def test_it_is_due_while_receipts_are_awaited():
    watch = QuietWatch(100)
    assert not watch.is_due(1000), "nothing was accepted: nothing is awaited"
    watch.accepted(1000)
    watch.accepted(1090)
    assert not watch.is_due(1099)
    assert watch.is_due(1100)
    watch.came()
    assert not watch.is_due(5000)


def test_each_time_in_vain_takes_twice_as_long_and_the_second_is_told():
    watch = QuietWatch(100)
    watch.accepted(0)
    watch.bound_again(100)
    assert not watch.attention
    assert not watch.is_due(299)
    assert watch.is_due(300)
    watch.bound_again(300)
    assert "no receipts or messages" in watch.attention
    assert not watch.is_due(699)
    assert watch.came()
    assert not watch.attention


def test_it_can_be_switched_off():
    watch = QuietWatch(0)
    watch.accepted(0)
    assert not watch.is_due(1e9)
