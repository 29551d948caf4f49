"""No window of any length has more in it than its limit, and no day costs more than its cap."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from tests.simulation.house import (
    CODES_PER_ORGANIZATION,
    CODES_PER_PHONE,
    SMS_PER_S,
    SPEND_CAP,
    House,
)
from tests.simulation.world import World

from risala.engine.model.numbers import FORGOTTEN

HOUR_MS = 3_600_000
SPAN_MS = 3000
"""In which sends are counted: short enough that a customer in a hurry would break the limit."""


def limits(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """Not where somebody has set the clock: the windows are the wall's."""
    if world.clock_was_set:
        return
    by_phone: dict[tuple[str, str], list[int]] = {}
    by_organization: dict[str, list[int]] = {}
    # Each delivery counts as a code, whatever its channel.
    query = "SELECT organization_id, recipient, created_at FROM messages WHERE kind = 'code'"
    for row in conn.execute(query):
        by_organization.setdefault(row[0], []).append(row[2])
        if row[1] != FORGOTTEN:  # whoever is forgotten is counted anew after a start
            by_phone.setdefault((row[0], row[1]), []).append(row[2])
    for which, times in by_phone.items():
        if _most_within(times, HOUR_MS) > CODES_PER_PHONE:
            yield f"{which} got more than {CODES_PER_PHONE} codes within an hour"
    for organization, times in by_organization.items():
        if _most_within(times, HOUR_MS) > CODES_PER_ORGANIZATION:
            yield f"{organization} sent more than {CODES_PER_ORGANIZATION} codes within an hour"
    second = house.organizations[1]
    times = [
        row[0]
        for row in conn.execute(
            "SELECT created_at FROM messages WHERE organization_id = ? AND kind = 'sms'", (second,)
        )
    ]
    for start in times:
        sent = sum(1 for at in times if start <= at < start + SPAN_MS)
        # A bucket is full again after a start: what it held is not on the disk.
        births = sum(1 for at in world.births_ms if start <= at < start + SPAN_MS)
        if sent > SMS_PER_S * (SPAN_MS / 1000 + 1 + births):
            yield f"{second} sent {sent} within {SPAN_MS} ms, {births} starts among them"
    spent = conn.execute(
        "SELECT -sum(amount) FROM ledger WHERE organization_id = ?"
        " AND kind IN ('charge', 'refund')",
        (second,),
    ).fetchone()[0]
    if (spent or 0) > SPEND_CAP * (1 + world.past.gaps):  # of each day
        yield f"{second} spent {spent} of {SPEND_CAP}"


def _most_within(times: list[int], span: int) -> int:
    """The most of these that lie within any stretch of time of this length."""
    times = sorted(times)
    most, start = 0, 0
    for end, at in enumerate(times):
        while times[start] <= at - span:
            start += 1
        most = max(most, end - start + 1)
    return most
