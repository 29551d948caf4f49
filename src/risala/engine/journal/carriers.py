"""What is stored of carriers: operators' gates and overrides, marks, drivers' notes, receipts that
matched no message."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict
from risala.engine.model.records.carriers.stored import (
    CarrierGate,
    Override,
    TooManyNotes,
    UnmatchedReceipt,
)
from risala.engine.rules.receiptgroups import Member
from risala.plugins.contract import NOTE_KEY_CHARACTERS_MAX, NOTE_TEXT_CHARACTERS_MAX, NOTES_MAX

# -- gates: paused, or draining; they hold until changed


_GATES: Final = "carrier_gates"
NOBODY: Final = ""
"""In place of a user whose account is deleted."""


_GATE_ROWS: Final = Rows(CarrierGate)


def gates(conn: sqlite3.Connection) -> dict[str, CarrierGate]:
    """By carrier, including carriers that are no longer in the settings."""
    rows = _GATE_ROWS.find(table(conn, _GATES), order_by="carrier")
    return {one.carrier: one for one in rows}


def put_gate(conn: sqlite3.Connection, gate: CarrierGate) -> None:
    writable(conn, _GATES).upsert(asdict(gate))


def open_gate(conn: sqlite3.Connection, carrier: str) -> None:
    writable(conn, _GATES).delete_where("carrier = ?", (carrier,))


# -- overrides of the settings, which only their owner writes; they hold until removed


_OVERRIDES: Final = "carrier_overrides"
_OVERRIDE_ROWS: Final = Rows(Override)


def overrides(conn: sqlite3.Connection) -> dict[str, Override]:
    """By carrier, including carriers that are no longer in the settings."""
    rows = _OVERRIDE_ROWS.find(table(conn, _OVERRIDES), order_by="carrier")
    return {one.carrier: one for one in rows}


def override_of(conn: sqlite3.Connection, carrier: str) -> Override | None:
    """A carrier's override; None: the settings apply."""
    rows = _OVERRIDE_ROWS.find(table(conn, _OVERRIDES), "carrier = ?", (carrier,))
    return rows[0] if rows else None


def override_image(conn: sqlite3.Connection, carrier: str) -> Seen:
    """What the audit trail shows of a carrier's override."""
    override = override_of(conn, carrier)
    values = (
        {} if override is None else {"ratePerS": override.rate_per_s, "weight": override.weight}
    )
    return Seen(None, values)


def put_override(conn: sqlite3.Connection, override: Override) -> None:
    """Set the override; fields that are None stay as they were."""
    known = override_of(conn, override.carrier)
    if known is not None:
        override = replace(
            override,
            rate_per_s=override.rate_per_s or known.rate_per_s,
            weight=override.weight or known.weight,
        )
    writable(conn, _OVERRIDES).upsert(asdict(override))


def end_override(conn: sqlite3.Connection, carrier: str, field: str | None) -> None:
    """End the override of one field or of both.

    Raises:
        Conflict: there is no override.
    """
    known = override_of(conn, carrier)
    if known is None or (field is not None and getattr(known, field) is None):
        raise Conflict(f"No override is set for {carrier}.")
    rate = known.rate_per_s if field == "weight" else None
    weight = known.weight if field == "rate_per_s" else None
    if rate is None and weight is None:
        writable(conn, _OVERRIDES).delete(carrier)
        return
    left = replace(known, rate_per_s=rate, weight=weight)
    writable(conn, _OVERRIDES).upsert(asdict(left))


def forget_user(conn: sqlite3.Connection, who: str) -> None:
    """Keep a user's gates and overrides, without their name."""
    for name in (_GATES, _OVERRIDES):
        stored = writable(conn, name)
        for row in list(stored.rows_where("who = ?", (who,))):
            stored.update(row["carrier"], {"who": NOBODY})


# -- marks by which carriers share receipts. They are kept for a while after a carrier is removed:
# the receipt of a message may come days later, through another carrier with the same account.


_MARKS: Final = "carrier_marks"
_COLUMNS: Final = ("carrier", "driver", "account", "receipt_group")
KEPT_MS: Final = 7 * 86_400_000
"""Carriers try for three days at most (``validitySeconds``); the rest is for late receipts of those
tries, and for clocks."""


def differ(conn: sqlite3.Connection, members: Iterable[Member]) -> bool:
    """Whether the stored carriers differ from these."""
    rows = table(conn, _MARKS).rows_where("gone_at IS NULL")
    return {_key_of(row) for row in rows} != _keys(members)


def take_over(conn: sqlite3.Connection, members: Iterable[Member], now_ms: int) -> None:
    """Store the present carriers; the others are gone from now on, and forgotten after
    :data:`KEPT_MS`."""
    stored = writable(conn, _MARKS)
    present = _keys(members)
    for row in list(stored.rows):
        key = _key_of(row)
        if key in present and row["gone_at"] is None:
            present.remove(key)
        elif key in present:
            stored.delete(key)
        elif row["gone_at"] is None:
            stored.update(key, {"gone_at": now_ms})
        elif row["gone_at"] < now_ms - KEPT_MS:
            stored.delete(key)
    stored.insert_all(dict(zip(_COLUMNS, each, strict=True)) for each in sorted(present))


def former(conn: sqlite3.Connection, now_ms: int) -> list[Member]:
    """The marks of carriers that are gone or have changed, for the latest days."""
    rows = table(conn, _MARKS).rows_where("gone_at >= ?", (now_ms - KEPT_MS,), order_by="carrier")
    return [
        Member(row["carrier"], row["driver"], row["account"], row["receipt_group"] or None)
        for row in rows
    ]


def _key_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in _COLUMNS)


def _keys(members: Iterable[Member]) -> set[tuple[str, ...]]:
    # A carrier without either shares no receipts, now and later.
    return {
        (each.name, each.driver, each.account, each.receipt_group or "")
        for each in members
        if each.account or each.receipt_group
    }


# -- notes of drivers: a few words per carrier, by key, which the engine does not read


def check_notes(notes: Mapping[str, str | None]) -> None:
    """Raises ValueError for a key or a text that is too long."""
    for key, text in notes.items():
        if not 0 < len(key) <= NOTE_KEY_CHARACTERS_MAX:
            raise ValueError(f"a note's key has 1 to {NOTE_KEY_CHARACTERS_MAX} characters")
        if text is not None and len(text) > NOTE_TEXT_CHARACTERS_MAX:
            raise ValueError(f"a note has at most {NOTE_TEXT_CHARACTERS_MAX} characters")


def remember_notes(
    conn: sqlite3.Connection, carrier: str, notes: Mapping[str, str | None], now_ms: int
) -> None:
    """Write notes, and delete those whose text is None.

    Raises:
        TooManyNotes: none of them was written, once the unit is rolled back.
    """
    forget_notes(conn, carrier, (key for key, text in notes.items() if text is None))
    rows = [
        {"carrier": carrier, "key": key, "text": text, "updated_at": now_ms}
        for key, text in notes.items()
        if text is not None
    ]
    if not rows:
        return
    stored = writable(conn, "carrier_notes")
    stored.upsert_all(rows)
    if stored.count_where("carrier = ?", (carrier,)) > NOTES_MAX:
        raise TooManyNotes


def forget_notes(conn: sqlite3.Connection, carrier: str, keys: Iterable[str]) -> None:
    """Delete notes; missing ones do not matter."""
    stored = writable(conn, "carrier_notes")
    for key in keys:
        stored.delete_where("carrier = ? AND key = ?", (carrier, key))


def recall_notes(conn: sqlite3.Connection, carrier: str, prefix: str) -> dict[str, str]:
    """The notes whose keys have this prefix, by key."""
    rows = table(conn, "carrier_notes").rows_where(
        "carrier = :carrier AND key >= :prefix AND substr(key, 1, length(:prefix)) = :prefix",
        {"carrier": carrier, "prefix": prefix},
        order_by="key",
    )
    return {row["key"]: row["text"] for row in rows}


# -- receipts that matched no message


_UNMATCHED: Final = "unmatched_receipts"
_SEQ_MAX: Final = (1 << 63) - 1


_UNMATCHED_ROWS: Final = Rows(UnmatchedReceipt)


def unmatched_page(
    conn: sqlite3.Connection, count: int, *, carrier: str | None, before: int | None
) -> list[UnmatchedReceipt]:
    """The newest first, of one carrier or of all. ``before``: only those older than that number."""
    values: dict[str, Any] = {"seq": _SEQ_MAX if before is None else max(0, min(before, _SEQ_MAX))}
    where = "seq < :seq"
    if carrier is not None:
        where += " AND carrier = :carrier"
        values["carrier"] = carrier
    return _UNMATCHED_ROWS.find(
        table(conn, _UNMATCHED), where, values, order_by="seq DESC", limit=count
    )


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class CarrierRepository:
    """What is stored of carriers. All reads are on the loop's thread: by an index, or of tables
    with a few rows for each carrier.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    gates = read(gates)
    override = read(override_of)
    overrides = read(overrides)
    unmatched = read(unmatched_page)
    former = read(former)
    differ = read(differ)
    recall = read(recall_notes)

    # -- commands

    set_gate = audited_command(put_gate)
    open_gate = audited_command(open_gate)
    put_override = audited_command(put_override)
    end_override = audited_command(end_override)
    take_over = command(take_over)

    async def remember(self, carrier: str, written: Mapping[str, str | None], now_ms: int) -> None:
        """Write a driver's notes, and delete those whose text is None.

        Raises:
            ValueError: a key or a text is too long.
            TooManyNotes: none of them was written.
        """
        check_notes(written)

        def unit(conn: sqlite3.Connection) -> None:
            remember_notes(conn, carrier, written, now_ms)

        await self._store.commit(unit)
