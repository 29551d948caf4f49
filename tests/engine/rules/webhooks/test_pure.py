"""The parts that decide and know nothing else: the schedule, the lanes, the feed."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.rules.webhooks.queues import Lanes, Widths
from risala.engine.rules.webhooks.schedule import (
    RETRY_AFTER_MAX_S,
    TRIES_MAX,
    WAITS_S,
    AnswerVerdict,
    ReceiverAnswer,
    ReceiverFault,
    decide,
    retry_after_s,
)

NOW_MS = 1_767_225_600_000


def test_the_schedule_is_the_contracts():
    minute, hour = 60, 3600
    assert (
        5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour,
    ) == WAITS_S  # fmt: skip


@given(st.integers(100, 599), st.integers(1, 30), st.floats(0, 1), st.text(max_size=80))
def test_every_answer_is_decided(status, tries, jitter, header):
    verdict = decide(ReceiverAnswer(status, header, "x"), tries, NOW_MS, jitter)
    assert verdict.state == (
        "delivered" if 200 <= status < 300
        else "failed" if status == 410 or tries >= TRIES_MAX
        else "pending"
    )  # fmt: skip
    assert verdict.gone == (status == 410)
    if verdict.state == "pending":
        wait_s = (verdict.due_at - NOW_MS) / 1000
        least = WAITS_S[tries - 1]
        assert least <= wait_s <= max(least * 1.1, RETRY_AFTER_MAX_S) + 0.001


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None), ("", None), ("abc", None), ("0", 0), ("120", 120), ("9" * 60, 86_400),
        ("0" * 12 + "9", 9),
        ("9" * 65, None), ("9" * 64, 86_400), ("1.5", None), ("-1", None), ("٣", None),
        (formatdate(NOW_MS / 1000 + 90, usegmt=True), 90),
        (formatdate(NOW_MS / 1000 - 90, usegmt=True), 0),
        (formatdate(NOW_MS / 1000 + 10**7, usegmt=True), 86_400),
        ("Fri, 99 Foo 2026 25:61:61 GMT", None),
    ],
)  # fmt: skip
def test_retry_after(text, seconds):
    assert retry_after_s(text, NOW_MS) == seconds


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (410, "HTTP 410: the endpoint no longer exists."),
        (411, "HTTP 411"),
        (299, None),
        (300, "HTTP 300: redirects are not followed."),
        (301, "HTTP 301: redirects are not followed."),
        (399, "HTTP 399: redirects are not followed."),
        (400, "HTTP 400"),
        (199, "HTTP 199"),
        (200, None),
        (500, "HTTP 500"),
    ],
)
def test_what_follows_from_each_answer(status, error):
    verdict = decide(ReceiverAnswer(status, None, "said"), 2, NOW_MS, 0.5)
    if error is None:
        assert verdict == AnswerVerdict("delivered", NOW_MS, status, None, "said")
    elif status == 410:
        assert verdict == AnswerVerdict("failed", NOW_MS, 410, error, "said", gone=True)
    else:
        assert verdict == AnswerVerdict("pending", NOW_MS + 315_000, status, error, "said")


def test_a_receiver_that_asks_for_a_longer_wait_gets_it():
    verdict = decide(ReceiverAnswer(503, "120", ""), 1, NOW_MS, 0.0)
    assert verdict.due_at == NOW_MS + 120_000
    at = formatdate(NOW_MS / 1000 + 90, usegmt=True)
    assert decide(ReceiverAnswer(503, at, ""), 1, NOW_MS, 0.0).due_at == NOW_MS + 90_000
    assert decide(ReceiverAnswer(503, "1", ""), 1, NOW_MS, 0.0).due_at == NOW_MS + 5000
    assert decide(ReceiverAnswer(503, None, ""), 1, NOW_MS, 0.0).due_at == NOW_MS + 5000


def test_a_date_without_a_zone_is_of_utc_and_one_with_another_is_of_that():
    assert retry_after_s("Thu, 01 Jan 2026 00:01:30 -0000", NOW_MS) == 90
    assert retry_after_s("Thu, 01 Jan 2026 01:01:30 +0100", NOW_MS) == 90


def test_a_failure_that_was_the_last_ends_it():
    fault = ReceiverFault("TLS", "Bad certificate.")
    assert decide(fault, TRIES_MAX, NOW_MS, 0.0) == AnswerVerdict(
        "failed", NOW_MS, None, "TLS: Bad certificate.", None
    )
    assert decide(fault, TRIES_MAX - 1, NOW_MS, 0.0).state == "pending"


def test_a_fault_says_what_it_is():
    verdict = decide(ReceiverFault("TLS", "Bad certificate."), 1, NOW_MS, 0.0)
    assert (verdict.error, verdict.status, verdict.due_at) == (
        "TLS: Bad certificate.", None, NOW_MS + 5000,
    )  # fmt: skip


# -- lanes -------------------------------------------------------------------------------------


def drain(lanes: Lanes, now: int = 0, each: int = 1000) -> list[str]:
    """Start whatever may start; each endpoint has so many deliveries due."""
    started = []
    while (lane := lanes.take(now)) is not None:
        seq = sum(name == lane.endpoint_id for name in started)
        if seq >= each:
            lanes.rest(lane, None)
            continue
        lanes.start(lane, len(started) + 1000 * len(lane.in_flight))
        started.append(lane.endpoint_id)
    return started


def test_turns_go_round_endpoints():
    lanes = Lanes(Widths(per_endpoint=8, prompt=5, patient=2))
    for name in "abc":
        lanes.expect(name, 0)
    assert drain(lanes) == ["a", "b", "c", "a", "b"]


def test_nobody_is_looked_at_before_its_time():
    lanes = Lanes(Widths(8, 5, 2))
    lanes.expect("a", 50)
    lanes.expect("a", 70)
    assert lanes.take(49) is None
    assert lanes.next_due() == 50
    lane = lanes.take(50)
    assert lane.endpoint_id == "a"
    lanes.rest(lane, 60)
    assert lanes.next_due() == 60
    lanes.expect("a", 55)
    assert lanes.next_due() == 55


def test_an_endpoint_that_is_done_is_forgotten():
    lanes = Lanes(Widths(8, 5, 2))
    lanes.expect("a", 0)
    lane = lanes.take(0)
    lanes.start(lane, 1)
    assert lanes.take(0) is lane
    lanes.rest(lane, None)
    lanes.finish(lane, 1, ok=True, prompt=True)
    lanes.rest(lanes.take(0), None)
    assert (len(lanes), lanes.in_flight, lanes.take(9)) == (0, 0, None)


def test_widths_grow_with_success_and_fall_with_failure():
    lanes = Lanes(Widths(4, 100, 50))
    lanes.expect("a", 0)
    seq = 0
    for width in (2, 3, 4, 4):
        lane = lanes.take(0)
        assert lane.width == width
        lanes.start(lane, seq)
        lanes.finish(lane, seq, ok=True, prompt=True)
        seq += 1
    lane = lanes.take(0)
    lanes.start(lane, seq)
    lanes.finish(lane, seq, ok=False, prompt=True)
    assert (lane.width, lane.prompt) == (1, False)


def test_the_failing_fill_their_own_slots_only():
    lanes = Lanes(Widths(8, 4, 2))
    for n in range(10):
        lanes.expect(f"dead{n}", 0, prompt=False)
    assert len(drain(lanes)) == 2
    lanes.expect("sound", 0)
    assert drain(lanes) == ["sound", "sound"]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), max_size=60))
def test_slots_are_never_lost(steps):
    lanes = Lanes(Widths(3, 4, 2))
    under_way = []
    for seq, (name, ok, prompt) in enumerate(steps):
        lanes.expect(str(name), 0)
        lane = lanes.take(0)
        if lane is not None:
            lanes.start(lane, seq)
            under_way.append((lane, seq))
        elif under_way:
            lanes.finish(*under_way.pop(0), ok=ok, prompt=prompt)
        assert lanes.in_flight == len(under_way) <= 6
    while under_way:
        lanes.finish(*under_way.pop(), ok=True, prompt=True)
    assert lanes.in_flight == 0


def test_one_that_failed_before_begins_with_one_attempt_at_once():
    lanes = Lanes(Widths(8, 9, 9))
    lanes.expect("dead", 0, prompt=False)
    lanes.expect("sound", 0)
    assert sorted(drain(lanes)) == ["dead", "sound", "sound"]


def test_an_attempt_that_was_not_made_says_nothing_of_its_endpoint():
    lanes = Lanes(Widths(8, 1, 1))
    lanes.expect("a", 0)
    lane = lanes.take(0)
    lanes.start(lane, 1)
    width = lane.width
    lanes.rest(lanes.take(0) or lane, None)
    lanes.leave(lane, 1, 50)
    assert (lane.width, lane.prompt, lanes.in_flight) == (width, True, 0)


def test_an_endpoint_under_way_is_not_forgotten():
    lanes = Lanes(Widths(8, 9, 9))
    lanes.expect("a", 0)
    lane = lanes.take(0)
    lanes.start(lane, 1)
    lanes.rest(lanes.take(0), None)
    assert len(lanes) == 1
    lanes.finish(lane, 1, ok=False, prompt=False)
    lanes.rest(lanes.take(0), None)
    assert len(lanes) == 1, "a failing one is remembered as one"
