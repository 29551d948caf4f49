"""The search for what answers a challenge."""

import pytest

from risala.client import UnreadableAnswerError, solve_challenge
from risala.engine.features.challenges.rules import Challenge, is_solved

ASKED = {
    "id": "CAAAAHhyaXNhbGEuLi4uLi4uLi4uLi4uLi4uLi4u",
    "algorithm": "SHA-256",
    "bits": 8,
    "parts": 16,
    "validSeconds": 120,
}


def test_the_references_example_is_found():
    nonce = "158.521.302.255.76.450.325.15.552.295.154.8.97.87.193.266"
    assert solve_challenge(ASKED) == {"id": ASKED["id"], "nonce": nonce}


@pytest.mark.parametrize("bits", [1, 3, 9, 10])
def test_the_service_takes_what_is_found(bits):
    answer = solve_challenge({**ASKED, "bits": bits})
    assert is_solved(Challenge(answer["id"], bits), answer["nonce"])


@pytest.mark.parametrize(
    "other",
    [
        *({"id": None}, {"algorithm": "SHA-3"}, {"bits": 33}, {"bits": 0}, {"bits": "8"}),
        *({"parts": 65}, {"parts": 0}, {"parts": None}),
    ],
)
def test_what_it_does_not_know_is_refused_at_once(other):
    with pytest.raises(UnreadableAnswerError, match="cannot solve"):
        solve_challenge({**ASKED, **other})
    with pytest.raises(UnreadableAnswerError):
        solve_challenge({})
