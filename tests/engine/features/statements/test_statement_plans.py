"""How a month is read: once, by the organization's entries; and what the sums are of."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from random import Random

import pytest

from risala.engine.features.statements import rules, stored
from risala.engine.journal.accounts import ledger

HOUR_MS = 3_600_000


@pytest.fixture
def shop(book):
    """An organization with some entries an hour, in a month and a half; and another's between."""
    shop, other = book.organization(100_000), book.organization(100_000)
    lots = Random(7)
    for number in range(250):
        book.now_ms += lots.randrange(8 * HOUR_MS)
        book.accept(lots.choice((shop, shop, other)))
        if number % 20 == 0:
            book.unit(
                partial(
                    ledger.adjust,
                    organization_id=shop,
                    amount=5,
                    reference=f"adj_{number}",
                    at=book.now_ms,
                )
            )
    return shop


def day(book):
    return datetime.fromtimestamp(book.now_ms / 1000, UTC).date()


def test_a_month_is_read_by_indexes_alone(book, shop):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    stored.month_sum(book.conn, shop, rules.days_of(day(book).replace(day=1)), "UTC")
    stored.names(book.conn, ["key_1", "mlg_1", "hok_1", "crd_1"])
    book.conn.set_trace_callback(None)
    steps = [
        step
        for sql in run
        if "SELECT" in sql
        for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")
    ]
    walks = {step for step in steps if step.startswith("SCAN")} - {"SCAN e"}
    assert walks == set()
    for index in ("entry_by_hand", "entry_by_organization"):
        found = f"{index} (organization=? AND rowid>? AND rowid<?)"
        assert any(found in step for step in steps)
    assert any("SEARCH m USING INTEGER PRIMARY KEY" in step for step in steps)


@pytest.mark.parametrize("zone", ["UTC", "Africa/Nouakchott", "Asia/Tokyo", "America/New_York"])
def test_the_sums_are_those_of_each_entry(book, shop, zone):
    rows = book.conn.execute(
        "SELECT coalesce(at, message >> 15), kind, amount FROM entry"
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?)",
        (shop,),
    ).fetchall()
    month = day(book).replace(day=1)
    days = rules.days_of(month)
    summed = {each.day: each for each in stored.month_sum(book.conn, shop, days, zone).days}
    for each in days:
        begins = rules.begins_at(each, zone)
        ends = begins + 24 * HOUR_MS
        own = [(kind, amount) for at, kind, amount in rows if begins <= at < ends]
        found = summed.get(each)
        assert (found is None) == (not own)
        if found is not None:
            charged = sum(amount for _, amount in found.charges.values())
            assert charged == -sum(amount for kind, amount in own if kind == 0)
            assert found.credited == sum(amount for kind, amount in own if kind > 1)
