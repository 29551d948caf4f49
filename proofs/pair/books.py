"""What customers were told, held against the database that serves and the phones."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from proofs.pair.load import Asked
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.lines import Kind

FINAL: Final = ("delivered", "undelivered", "failed", "canceled")
SAYS: Final = ("UNCERTAIN", "RESTORED", "EXPIRED", "VALIDITY_OVER")
"""Codes of messages that may have reached a phone, and say so."""
FAULTS_MAX: Final = 20


@dataclass
class PairTally:
    """The rows of the table."""

    asked: int = 0
    accepted: int = 0
    lost: int = 0
    """Accepted, and missing though it had to be in the copy; or without an end."""
    late: int = 0
    """Accepted after the moment that the takeover named, and missing: what async may lose."""
    by_two: int = 0
    """Left one machine after the other one had begun to send."""
    mischarged: int = 0
    unsaid: int = 0
    """Doubtful (failed and at its phone, or twice there), and nothing says so."""
    doubtful: int = 0
    """Doubtful, and its timeline says so."""
    window: int = 0
    """Async: asked for again after a takeover that had lost it, and sent by both."""
    faults: list[str] = field(default_factory=list)

    def fault(self, row: str, text: str) -> None:
        setattr(self, row, getattr(self, row) + 1)
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(f"{row}: {text}")


class Phones:
    """What the carrier took, and from which machine; a reader of its events."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.by: defaultdict[str, list[str]] = defaultdict(list)
        self.order: list[tuple[str, str]] = []
        """Machine and number of each submit, in the order in which the carrier took them."""
        self._read = 0

    def read(self, told: list[dict[str, Any]]) -> None:
        for event in told[self._read :]:
            if event["event"] == "Submitted" and event["is_taken"]:
                number = f"+{event['recipient'].lstrip('+')}"
                self.taken[number] += 1
                self.by[number].append(event["system_id"])
                self.order.append((event["system_id"], number))
        self._read = len(told)


def missing(database: Path, accepted: list[Asked]) -> list[Asked]:
    """Those that the database does not have."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as conn:
        found = {row[0] for row in conn.execute("SELECT id FROM message")}
    return [each for each in accepted if each.id not in found]


def open_messages(database: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as conn:
        query = "SELECT id, status FROM messages WHERE status IN ('pending', 'processing') LIMIT 3"
        return conn.execute(query).fetchall()


def hold_books(
    database: Path, asked: list[Asked], lost: set[str], phones: Phones, tally: PairTally
) -> None:
    """One look at everything, when all has come to its end.

    Args:
        lost: ids that a takeover has lost, which were counted then.
    """
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as conn:
        rows = {
            row[0]: row[1:]
            for row in conn.execute("SELECT id, status, price, charge, error_code FROM messages")
        }
        refunds = Counter(
            row[0] for row in conn.execute("SELECT reference FROM ledger WHERE kind = 'refund'")
        )
        query = "SELECT m.id FROM line l JOIN message m ON m.key = l.message WHERE l.kind = ?"
        resent = {row[0] for row in conn.execute(query, (Kind.RESENT.value,))}
    tally.asked, tally.accepted = len(asked), sum(each.id is not None for each in asked)
    for each in asked:
        if each.id is None or each.id in lost:
            continue
        if each.id not in rows:
            tally.fault("lost", f"{each.word} {each.id} is not in the database")
            continue
        _one(each, rows[each.id], refunds[each.id], each.id in resent, phones, tally)
    for fault in audit_file(database).faults:
        tally.fault("mischarged", f"the audit: {fault}")


def _one(
    each: Asked,
    row: tuple[Any, ...],
    refunds: int,
    resent: bool,
    phones: Phones,
    tally: PairTally,
) -> None:
    status, price, charge, error = row
    times, what = phones.taken[each.number], f"{each.word} {each.id} {status} {error}"
    if status not in (*FINAL, "sent"):
        tally.fault("lost", f"{what}: nothing moves it on")
    if status in ("sent", "delivered") and not times:
        tally.fault("lost", f"{what}: no phone has it")
    if charge is None or price <= 0 or refunds != (status in ("failed", "canceled")):
        tally.fault("mischarged", f"{what}: charge {charge}, price {price}, refunds {refunds}")
    if status == "failed" and times:
        if error in SAYS:
            tally.doubtful += 1
        else:
            tally.fault("unsaid", f"{what}: {times} times at its phone")
    if times > 1:
        if resent:
            tally.doubtful += 1
        elif len({*phones.by[each.number]}) > 1 and each.unanswered:
            tally.window += 1
        else:
            tally.fault("unsaid", f"{what}: {times} times at its phone")


def sent_by_two(phones: Phones, since: int, old: str, new: str) -> list[str]:
    """Numbers that left the old machine after the new one had begun, from that submit on."""
    order = phones.order[since:]
    first = next((at for at, (name, _) in enumerate(order) if name == new), None)
    if first is None:
        return []
    return [number for name, number in order[first:] if name == old]
