"""The writes of one unit of work for many messages: gathered, and written in a few statements.

For the steps that nearly every message takes, and takes alone: it leaves, it is sent, its receipt
comes. Code that would read rows which the sheet still holds has it written first.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Final

from risala.engine.journal.messages import counts, timeline
from risala.engine.journal.messages.counts import CountKey
from risala.engine.journal.messages.parts import ACCEPTED, SUBMITTING, stored_id
from risala.engine.journal.messages.timeline import ATTEMPT_TOLD, SENT_TOLD, LineRow
from risala.engine.journal.state import MessageState, load
from risala.engine.journal.store import names
from risala.engine.journal.store.sql import write_values
from risala.engine.journal.webhooks import outbox
from risala.engine.journal.webhooks.outbox import NewEvent
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.states import Status
from risala.sms.cause import Cause

# Each takes many rows together, as ``column1``, ``column2``, ….
_OPEN: Final = (
    "UPDATE message SET status = 1, attempts = column1, carrier = column2, updated_at = column3,"
    " part_state = 1, carrier_key = NULL, carrier_id = NULL, uncertain_at = NULL, told = column4,"
    " attempt_at = column5, receipt_raw = NULL FROM ({values}) WHERE key = column6"
)
_OPEN_SEVERAL: Final = (
    "UPDATE message SET status = 1, attempts = column1, carrier = column2, updated_at = column3"
    " FROM ({values}) WHERE key = column4"
)
_SEND: Final = (
    "UPDATE message SET status = 2, part_state = 3, carrier_key = column1,"
    " carrier_id = nullif(column2, 0), sent_at = column3, updated_at = NULL, due_at = NULL,"
    " uncertain_at = NULL, resolve_at = NULL, resolve_action = NULL, told = column4,"
    " sent_raw = column5 FROM ({values}) WHERE key = column6"
)
_DELIVER: Final = (
    "UPDATE message SET status = 3, part_state = 4, delivered_at = column1, updated_at = NULL,"
    " told = column2, receipt_raw = column3 FROM ({values}) WHERE key = column4"
)
_FAIL_TO_DELIVER: Final = (
    "UPDATE message SET status = 4, part_state = 5, error_code = column1, carrier_code = column2,"
    " updated_at = column3 FROM ({values}) WHERE key = column4"
)


class Sheet:
    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        self._lines: list[LineRow] = []
        self._events: list[NewEvent] = []
        self._counted: Counter[CountKey] = Counter()
        self._numbers: dict[str, int] = {}
        self._touched: set[int] = set()

    def load(self, message_id: str) -> MessageState | None:
        """A message with all its changes on the sheet."""
        message = load(self._conn, message_id)
        if message is not None and message.key in self._touched:
            self.write()
            message = load(self._conn, message_id)
        return message

    def open(self, message: MessageState, entry: TimelineEntry) -> None:
        """An attempt at it begins; a single part is then being submitted."""
        assert message.carrier is not None
        carrier = self._number(message.carrier)
        begun = (message.attempts, carrier, entry.at)
        if message.segments > 1:
            self._note(message, _OPEN_SEVERAL, (*begun, message.key))
        else:
            message.part_state, message.carrier_key, message.carrier_id = SUBMITTING, None, None
            if entry.line.details is None:
                message.told = ATTEMPT_TOLD
                self._note(message, _OPEN, (*begun, ATTEMPT_TOLD, entry.at, message.key))
                return
            self._note(message, _OPEN, (*begun, None, None, message.key))
        self.tell(message, entry)

    def send(self, message: MessageState, carrier_id: str, entry: TimelineEntry) -> None:
        """The only part of a message was accepted."""
        message.part_state = ACCEPTED
        message.carrier_key, message.carrier_id = stored_id(carrier_id)
        stage = self._row_line(message, entry, ATTEMPT_TOLD)
        # Mostly null, and for Python's sqlite3 a None costs as much as ten numbers.
        written = 0 if message.carrier_id is None else message.carrier_id
        row = (message.carrier_key, written, entry.at, *stage, message.key)
        self._note(message, _SEND, row)
        self._counted[counts.outcome(message, entry.at)] += 1

    def deliver(self, message: MessageState, entry: TimelineEntry) -> None:
        """The only part of a message was delivered."""
        stage = self._row_line(message, entry, SENT_TOLD)
        self._note(message, _DELIVER, (entry.at, *stage, message.key))
        self._counted[counts.outcome(message, entry.at)] += 1

    def _row_line(
        self, message: MessageState, entry: TimelineEntry, before: int
    ) -> tuple[int | None, str | None]:
        """How many lines the row contains now, and the carrier's code of the last; or the line gets
        a separate row."""
        if message.told == before and entry.line.details is None:
            message.told = before + 1
            return before + 1, entry.raw or None
        self.tell(message, entry)
        return None, None

    def fail_to_deliver(
        self, message: MessageState, cause: Cause, code: str | None, entry: TimelineEntry
    ) -> None:
        """The carrier gave up its only part."""
        self._note(message, _FAIL_TO_DELIVER, (cause.value, code, entry.at, message.key))
        self._counted[counts.outcome(message, entry.at)] += 1
        self.tell(message, entry)

    def tell(self, message: MessageState, entry: TimelineEntry) -> None:
        """An entry of its timeline, in a separate row."""
        if message.told is not None:
            timeline.unfold(self._conn, message.key)
            message.told = None
        carrier = None if entry.carrier is None else self._number(entry.carrier)
        self._touched.add(message.key)
        self._lines.append(timeline.row_of(message.key, entry, carrier))

    def announce(self, event: NewEvent | None) -> None:
        if event is not None:
            self._events.append(event)

    def write(self) -> None:
        """Write all gathered changes."""
        for statement, rows in self._rows.items():
            write_values(self._conn, statement, rows)
        self._conn.executemany(timeline.APPEND, self._lines)
        counts.add(self._conn, self._counted)
        if self._events:
            outbox.write_all(self._conn, self._events)
        for gathered in (self._rows, self._lines, self._events, self._counted, self._touched):
            gathered.clear()

    def _note(self, message: MessageState, statement: str, row: tuple[object, ...]) -> None:
        self._touched.add(message.key)
        self._rows.setdefault(statement, []).append(row)

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = names.number(self._conn, name)
        return number


def move(conn: sqlite3.Connection, message: MessageState, status: Status, now_ms: int) -> None:
    """Write that a message has reached a status that never leads back into the queue."""
    message.status = status
    conn.execute(_MOVES[status], (now_ms, message.key))
    counts.add(conn, Counter((counts.outcome(message, now_ms),)))


_ENDED: Final = "due_at = NULL, resolve_at = NULL, resolve_action = NULL WHERE key = ?2"
_MOVES: Final = {
    Status.SENT: f"UPDATE message SET status = 2, sent_at = ?1, updated_at = NULL, {_ENDED}",  # noqa: S608 -- constants
    Status.DELIVERED: (
        f"UPDATE message SET status = 3, delivered_at = ?1, updated_at = NULL, {_ENDED}"  # noqa: S608 -- constants
    ),
    Status.UNDELIVERED: f"UPDATE message SET status = 4, updated_at = ?1, {_ENDED}",  # noqa: S608 -- constants
    Status.FAILED: f"UPDATE message SET status = 5, updated_at = ?1, {_ENDED}",  # noqa: S608 -- constants
    Status.CANCELED: f"UPDATE message SET status = 6, updated_at = ?1, {_ENDED}",  # noqa: S608 -- constants
}
