"""When somebody who signed in is out again."""

import pytest

from risala.engine.model.people import SessionKind
from risala.engine.rules.people.lifetimes import IDLE_MS, is_over

IDLE = IDLE_MS[SessionKind.CUSTOMER]


@pytest.mark.parametrize(
    ("used_at", "expires_at", "now_ms", "over"),
    [
        (0, 1000, 999, False),
        (0, 1000, 1000, True),
        (500, 10 * IDLE, 500 + IDLE - 1, False),
        (500, 10 * IDLE, 500 + IDLE, True),
    ],
)
def test_a_session_ends_at_its_time_or_when_nobody_uses_it(used_at, expires_at, now_ms, over):
    assert is_over(SessionKind.CUSTOMER, used_at, expires_at, now_ms) is over


def test_an_operators_is_shorter():
    assert is_over(SessionKind.OPERATOR, 0, 10 * IDLE, 12 * 3_600_000)
    assert not is_over(SessionKind.CUSTOMER, 0, 10 * IDLE, 12 * 3_600_000)
