"""When a call is made again: decided by itself, without a socket or a clock."""

from __future__ import annotations

import pytest

from risala.client.errors import (
    LostAnswerError,
    NotReachedError,
    OutcomeUnknownError,
    RisalaError,
    UnreadableAnswerError,
    refusal,
)
from risala.client.retrying import Retrying, Tries

OURS = {"code": "SERVICE_UNAVAILABLE", "message": "Full.", "data": {}, "requestId": "req_1"}
UNKNOWN = OURS | {"data": {"code": "OUTCOME_UNKNOWN", "idempotencyKey": "idk_1"}}


def tries(*, is_repeatable: bool = True, chance: float = 1.0, **told: float) -> Tries:
    return Tries(Retrying(**told), 0.0, is_repeatable=is_repeatable, chance=lambda: chance)


def ours(status: int, retry_after_s: float | None = None) -> RisalaError:
    return refusal(status, OURS | {"code": "WORD", "status": status}, retry_after_s)


def test_waits_are_doubled_up_to_the_longest():
    it = tries(first_wait_s=0.2, wait_max_s=1.0)
    assert [it.wait_s(NotReachedError("down"), 0.0) for _ in range(5)] == [0.2, 0.4, 0.8, 1.0, 1.0]


def test_a_wait_is_drawn_at_random_below_that():
    assert tries(chance=0.25, first_wait_s=0.2).wait_s(NotReachedError("down"), 0.0) == 0.05


@pytest.mark.parametrize("is_repeatable", [True, False])
@pytest.mark.parametrize(
    "error",
    [NotReachedError("down"), ours(408), ours(429), refusal(429, None), refusal(503, OURS)],
)
def test_what_did_nothing_is_always_made_again(error, is_repeatable):
    assert tries(is_repeatable=is_repeatable).wait_s(error, 0.0) > 0


LOST = [
    LostAnswerError("lost"),
    refusal(502, None),
    refusal(503, "<html>"),
    refusal(504, None),
    refusal(503, UNKNOWN),
]


@pytest.mark.parametrize("error", LOST, ids=lambda error: f"{type(error).__name__} {error}"[:40])
def test_what_may_have_been_done_is_made_again_only_where_that_changes_nothing(error):
    assert tries().wait_s(error, 0.0) > 0
    with pytest.raises(type(error)) as raised:
        tries(is_repeatable=False).wait_s(error, 0.0)
    assert raised.value.is_maybe_done


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 409, 413, 415])
def test_what_would_be_refused_again_is_not_made_again(status):
    with pytest.raises(RisalaError) as raised:
        tries().wait_s(ours(status), 0.0)
    assert not raised.value.is_maybe_done


@pytest.mark.parametrize("error", [ours(500), UnreadableAnswerError("a page")])
def test_what_another_attempt_would_not_mend_ends_the_call(error):
    with pytest.raises(type(error)) as raised:
        tries().wait_s(error, 0.0)
    assert raised.value.is_maybe_done


def test_retry_after_is_waited_for_and_a_little_longer():
    assert tries(chance=0.5, first_wait_s=0.2).wait_s(ours(429, 3.0), 0.0) == pytest.approx(3.1)


def test_a_retry_after_that_is_too_long_is_told_at_once():
    with pytest.raises(RisalaError) as raised:
        tries(retry_after_max_s=30).wait_s(ours(429, 31.0), 0.0)
    assert raised.value.retry_after_s == 31.0


def test_no_wait_goes_beyond_the_deadline():
    it = tries(deadline_s=10)
    assert it.wait_s(ours(503, 5.0), 0.0) > 5
    with pytest.raises(RisalaError):
        it.wait_s(ours(503, 5.0), 5.0)


def test_an_attempt_ends_with_the_deadline():
    it = tries(deadline_s=20, attempt_s=15)
    assert [it.limit_s(now) for now in (0.0, 5.0, 12.0, 25.0)] == [15.0, 15.0, 8.0, 0.0]


def test_an_earlier_attempt_is_not_forgotten_when_the_last_never_left():
    it = tries(deadline_s=10)
    it.wait_s(LostAnswerError("lost"), 0.0)
    with pytest.raises(LostAnswerError) as raised:
        it.wait_s(NotReachedError("down"), 10.0)
    assert raised.value.is_maybe_done
    assert isinstance(raised.value.__cause__, NotReachedError)


@pytest.mark.parametrize(
    ("status", "is_maybe_done"), [(400, False), (402, False), (401, True), (403, True), (503, True)]
)
def test_a_refusal_settles_what_became_of_a_lost_attempt_or_does_not(status, is_maybe_done):
    """The service looks a key up after the API key and before the balance: `Insufficient balance`
    says that the first attempt was not carried out, `no such API key` says nothing of it."""
    it = tries(deadline_s=10)
    it.wait_s(LostAnswerError("lost"), 0.0)
    with pytest.raises(RisalaError) as raised:
        it.wait_s(ours(status), 10.0)
    assert raised.value.is_maybe_done is is_maybe_done


def test_an_outcome_that_is_unknown_is_one_of_its_own():
    error = refusal(503, UNKNOWN)
    assert isinstance(error, OutcomeUnknownError)
    assert error.data["idempotencyKey"] == "idk_1"
