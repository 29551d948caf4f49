"""The round of endpoints: what it remembers is bounded by how many there are."""

from __future__ import annotations

import heapq

from risala.engine.rules.webhooks.queues import SPARE, Lanes, Widths

HOUR_MS = 3_600_000
DAY_MS = 86_400_000
EVENTS = 1000


def test_a_retry_that_waits_leaves_nothing_behind_with_each_event():
    lanes = Lanes(Widths(per_endpoint=8, prompt=8, patient=4))
    lanes.expect("whe_0", HOUR_MS)  # another endpoint's turn comes before that retry
    lanes.expect("whe_1", DAY_MS)
    for now_ms in range(1, EVENTS):
        lanes.expect("whe_1", now_ms)
        lane = lanes.take(now_ms)
        lanes.start(lane, now_ms)
        lanes.finish(lane, now_ms, ok=True, prompt=True)
        assert lanes.take(now_ms) is lane
        lanes.rest(lane, DAY_MS)
        assert lanes.next_due() == HOUR_MS
    assert len(lanes._sleeping) <= 2 * 2 + SPARE
    assert heapq.heappop(lanes._sleeping) == (HOUR_MS, "whe_0")
    assert heapq.heappop(lanes._sleeping) == (DAY_MS, "whe_1")


def test_what_sleeps_is_woken_in_its_order_after_the_stale_is_forgotten():
    lanes = Lanes(Widths(per_endpoint=8, prompt=8, patient=4))
    lanes.expect("whe_2", 500)
    most = 0
    for due_at in range(EVENTS, 0, -1):  # ever earlier: each leaves the one before it behind
        lanes.expect("whe_1", due_at)
        most = max(most, len(lanes._sleeping))
    assert most == 2 * 2 + SPARE
    assert lanes.next_due() == 1
    first = lanes.take(1)
    assert first.endpoint_id == "whe_1"
    lanes.rest(first, None)
    assert lanes.next_due() == 500


def started(lanes, *seqs, endpoint_id="whe_1"):
    """A lane with these deliveries under way, which stands in the round."""
    lanes.expect(endpoint_id, 0)
    for seq in seqs:
        lane = lanes.take(0)
        lanes.start(lane, seq)
    return lane


def test_a_lane_stands_in_the_round_once_however_often_it_is_put_there():
    lanes = Lanes(Widths(per_endpoint=8, prompt=8, patient=4))
    lane = started(lanes, 1)
    lanes.finish(lane, 1, ok=True, prompt=True)
    assert lanes.take(0) is lane
    lanes.rest(lane, None)
    assert lanes.take(0) is None
    assert len(lanes) == 0


def test_a_lane_that_failed_while_it_stood_in_line_is_taken_from_the_other_pool():
    lanes = Lanes(Widths(per_endpoint=8, prompt=1, patient=1))
    lane = started(lanes, 1)
    lanes.finish(lane, 1, ok=False, prompt=True)
    lanes.expect("whe_2", DAY_MS)  # another endpoint sleeps
    assert lanes.take(0) is lane
    lanes.start(lane, 2)
    assert list(lane.in_flight.values()) == [False]


def test_attempts_that_were_not_made_leave_their_room_and_come_again():
    lanes = Lanes(Widths(per_endpoint=8, prompt=8, patient=4))
    lane = started(lanes, 1, 2)
    assert lanes.in_flight == 2
    lanes.leave(lane, 1, 400)
    assert lanes.in_flight == 1
    assert lanes.take(0) is lane
    lanes.rest(lane, None)  # the other attempt is still under way
    assert lanes.next_due() is None
    lanes.leave(lane, 2, 500)
    assert (lanes.in_flight, lanes.next_due()) == (0, 500)
