"""Where the newest messages went, and carriers side by side: of a bounded number of messages."""

from __future__ import annotations

import pytest

from risala.engine.features.overview import stored_latest as latest
from risala.engine.model.numbers import DELIVERED, FAILED, SENT, UNDELIVERED

SECOND_MS = 1000
MATTEL, MAURITEL, FRANCE = "+22236123456", "+22246123456", "+33612345678"


class Sender:
    """Messages that a carrier took, with what became of them."""

    def __init__(self, book):
        self.book, self.organization = book, book.organization()

    def send(self, to=MATTEL, carrier="sim-1", status=DELIVERED, took_ms=SECOND_MS, mode="live"):
        accepted_at = self.book.now_ms
        message = self.book.accept(self.organization, recipient=to, mode=mode)
        self.book.conn.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (carrier,))
        arrived = accepted_at + took_ms if status == DELIVERED else None
        self.book.conn.execute(
            "UPDATE message SET status = ?, delivered_at = ?,"
            " carrier = (SELECT no FROM names WHERE name = ?) WHERE id = ?",
            (status, arrived, carrier, message),
        )
        self.book.now_ms += 1

    def latest(self):
        return latest.latest(self.book.conn, self.book.now_ms)


@pytest.fixture
def sender(book):
    return Sender(book)


def test_without_a_message_there_is_nothing(sender):
    shown = sender.latest()
    assert (shown.messages, shown.since, shown.destinations, shown.carriers) == (0, None, (), ())


def test_destinations_are_networks_of_the_plan_and_countries(sender):
    first = sender.book.now_ms
    for to in (MATTEL, MATTEL, MAURITEL, FRANCE):
        sender.send(to)
    sender.send(mode="test")
    shown = sender.latest()
    assert (shown.messages, shown.since) == (4, first)
    assert [(each.network, each.country, each.messages) for each in shown.destinations] == [
        ("mattel", "MR", 2),
        ("+33", "FR", 1),
        ("mauritel", "MR", 1),
    ]


def test_many_destinations_end_in_all_others(sender, monkeypatch):
    monkeypatch.setattr(latest, "DESTINATIONS_MAX", 1)
    for to in (MATTEL, MATTEL, MAURITEL, FRANCE):
        sender.send(to)
    most, others = sender.latest().destinations
    assert (most.network, others.network, others.messages) == ("mattel", None, 2)


def test_carriers_are_told_by_what_has_ended(sender):
    for seconds in (1, 2, 60):
        sender.send(took_ms=seconds * SECOND_MS)
    for status in (UNDELIVERED, FAILED, SENT):
        sender.send(status=status)
    sender.send(carrier="mattel-direct", status=FAILED)
    busy, idle = sender.latest().carriers
    assert (busy.carrier, busy.ended, busy.delivered) == ("sim-1", 5, 3)
    assert (busy.median_ms, busy.most_ms) == (2 * SECOND_MS, 60 * SECOND_MS)
    assert (idle.carrier, idle.ended, idle.delivered) == ("mattel-direct", 1, 0)
    assert (idle.median_ms, idle.most_ms) == (None, None)


def test_only_so_many_and_so_new_ones_are_looked_at(sender, monkeypatch):
    sender.send(MAURITEL)
    sender.book.now_ms += latest.SINCE_MS
    assert sender.latest().messages == 0
    for _ in range(3):
        sender.send()
    monkeypatch.setattr(latest, "LOOKED_MAX", 2)
    assert sender.latest().messages == 2
    plan = sender.book.conn.execute(f"EXPLAIN QUERY PLAN {latest._NEWEST}", (3, 15, 15, 0, 2, 0))
    assert any("PRIMARY KEY" in str(line) for line in plan)
