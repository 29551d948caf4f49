"""``kill -9`` in the middle of a mailing: each person gets one message, and the report says so."""

from __future__ import annotations

import pytest
from proofs.crashes.mailings import live_mailings

pytestmark = [pytest.mark.slow, pytest.mark.long]

KILLS = 6
PEOPLE = 120


async def test_a_mailing_that_is_killed_reaches_each_person_once(tmp_path):
    told: list[str] = []

    def tell(_: int, strike: str, __: str) -> None:
        told.append(strike)

    result = await live_mailings(tmp_path, 3, KILLS, tell, size=PEOPLE, taken=(3, 20))
    assert len(told) == result.kills.total() == KILLS
    tally = result.tally
    assert tally.people >= tally.messages >= PEOPLE
    assert (tally.lost, tally.doubled, tally.mischarged, tally.misreported) == (0, 0, 0, 0)
