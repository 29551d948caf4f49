"""The session's machine: its table row by row."""

from __future__ import annotations

import pytest

from risala.engine.model.states import SessionState
from risala.engine.rules.verification import (
    TABLE,
    CodeVerdict,
    Trigger,
    diagram,
    judge,
)
from risala.engine.rules.verification import VerificationSession as Session

OVER = 1_000


@pytest.mark.parametrize(
    ("session", "matches", "now_ms", "verdict"),
    [
        (
            Session(SessionState.PENDING, 0, 5, OVER),
            True,
            999,
            CodeVerdict(True, Trigger.CODE_MATCHED),
        ),
        (
            Session(SessionState.PENDING, 3, 5, OVER),
            False,
            999,
            CodeVerdict(False, Trigger.CODE_WRONG),
        ),
        (
            Session(SessionState.PENDING, 4, 5, OVER),
            False,
            999,
            CodeVerdict(False, Trigger.LAST_CODE_WRONG),
        ),
        (
            Session(SessionState.PENDING, 4, 5, OVER),
            True,
            999,
            CodeVerdict(True, Trigger.CODE_MATCHED),
        ),
        (
            Session(SessionState.PENDING, 0, 5, OVER),
            True,
            1000,
            CodeVerdict(False, Trigger.TIME_OVER),
        ),
        (
            Session(SessionState.PENDING, 0, 1, OVER),
            False,
            0,
            CodeVerdict(False, Trigger.LAST_CODE_WRONG),
        ),
        (
            Session(SessionState.PENDING, 5, 5, OVER),
            False,
            999,
            CodeVerdict(False, Trigger.LAST_CODE_WRONG),
        ),
        (
            Session(SessionState.PENDING, 4, 5, OVER),
            False,
            1001,
            CodeVerdict(False, Trigger.TIME_OVER),
        ),
        (Session(SessionState.APPROVED, 0, 5, OVER), True, 0, CodeVerdict(False, None)),
        (Session(SessionState.EXPIRED, 0, 5, OVER), True, 0, CodeVerdict(False, None)),
        (Session(SessionState.CANCELED, 5, 5, OVER), True, 0, CodeVerdict(False, None)),
    ],
)
def test_judging_a_guess(session, matches, now_ms, verdict):
    assert judge(session, matches=matches, now_ms=now_ms) == verdict


def test_only_a_pending_session_ever_moves():
    assert {state for state, _ in TABLE} == {SessionState.PENDING}
    assert {trigger for _, trigger in TABLE} == set(Trigger)


def test_the_diagram_has_every_move_and_every_end():
    assert diagram().split("\n") == [
        "stateDiagram-v2",
        "    [*] --> pending: POST /api/verify/send (verify.sent)",
        "    pending --> approved: the code matches (verify.approved)",
        "    pending --> pending: a wrong code, attempts remain",
        "    pending --> canceled: a wrong code, the last attempt (verify.failed: max_attempts)",
        "    pending --> expired: the expiry period passes (verify.failed: expired)",
        "    pending --> canceled: the SMS cannot be sent (verify.failed: delivery_failed)",
        "    pending --> canceled: explicit cancel (verify.failed: canceled)",
        "    approved --> [*]",
        "    expired --> [*]",
        "    canceled --> [*]",
    ]
