"""What owners have taken out of their data: all that was meant goes, and nothing else does.

Each row that goes is looked at in the transaction that takes it, by triggers on the writer's
connection; what must be gone is looked for at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.simulation.checks import past

from risala.engine.model.ids import KEY_COUNTER_BITS, first_id
from risala.engine.model.numbers import EVENT_TYPES, FORGOTTEN, recipient_text

if TYPE_CHECKING:
    from tests.simulation.world import World

WITH_NUMBERS = ", ".join(
    str(EVENT_TYPES.number(each))
    for each in (
        *("sms.received", "conversation.received", "conversation.assigned"),
        "conversation.paused",
    )
)
"""Types of events that have the number themselves, for their subject is no message to it."""
TRIGGERS = f"""
CREATE TEMP TRIGGER erased_message AFTER UPDATE OF recipient ON main.message
  WHEN old.recipient <> '{FORGOTTEN}'
  BEGIN SELECT erased('message', old.id, old.recipient, old.organization); END;
CREATE TEMP TRIGGER erased_session AFTER UPDATE OF recipient ON main.verifications
  WHEN old.recipient <> '{FORGOTTEN}'
  BEGIN SELECT erased('session', old.id, old.recipient,
    (SELECT no FROM organizations WHERE id = old.organization_id)); END;
CREATE TEMP TRIGGER erased_letter AFTER DELETE ON main.inbound
  BEGIN SELECT erased('letter', old.id || ' ' || old.carrier_ids, old.sender,
    (SELECT no FROM organizations WHERE id = old.organization_id)); END;
CREATE TEMP TRIGGER erased_event BEFORE DELETE ON main.event
  BEGIN SELECT erased('event', old.key, coalesce(
    (SELECT recipient FROM message WHERE key = old.subject),
    (SELECT recipient FROM verifications WHERE id = old.subject),
    CASE WHEN old.type IN ({WITH_NUMBERS}) THEN json_extract(old.frozen, '$[1]') END),
    old.organization);
  END;
CREATE TEMP TRIGGER erased_delivery AFTER UPDATE OF state ON main.webhook_delivery
  WHEN old.state = 'pending' AND new.state = 'dropped'
  BEGIN SELECT erased('delivery', new.event, '{FORGOTTEN}', 0); END;
CREATE TEMP TRIGGER erased_delivery_row BEFORE DELETE ON main.webhook_delivery
  WHEN old.state = 'pending'
  BEGIN SELECT erased('delivery', old.event, '{FORGOTTEN}', 0); END;
CREATE TEMP TRIGGER erased_step AFTER UPDATE ON main.erasures
  BEGIN SELECT erased('step', new.id, '', 0); END;
"""


class Erased:
    """Numbers that organizations wanted to know nothing more of."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.wishes: set[tuple[int, str]] = set()
        """Organizations and numbers, whether or not the wish was answered."""
        self.told: dict[str, tuple[str, str]] = {}
        """Deletion → organization and number, as owners were told."""
        self.numbers: dict[str, str] = {}
        """Message or session → the number that it had."""
        self.letters: set[str] = set()
        """Carriers' ids of what numbers wrote that were taken out."""
        self.events: set[int] = set()
        """Those that were taken out, or emptied; not those that went with time."""
        self._unit: set[int] = set()
        """Events that go in the transaction under way."""

    def arm(self, conn: sqlite3.Connection) -> None:
        """A life begins, with what is on the disk."""
        conn.create_function("erased", 4, self._tell)
        conn.executescript(TRIGGERS)

    def over(self) -> None:
        """The transaction under way is on the disk, or came to nothing."""
        self._unit = set()

    def _tell(self, what: str, which: object, number: object, organization: object) -> None:
        """A row goes. One that comes back, because its transaction fails, does no harm here."""
        assert number is None or isinstance(number, int | str)
        text = "nobody" if number is None else recipient_text(number)
        meant = (organization, text) in self.wishes
        match what:
            case "step":  # who takes out notes it in the same transaction
                self.events |= self._unit
            case "delivery":
                assert isinstance(which, int)
                self._unit.add(which)
            case "letter":
                inbound_id, _, carrier_ids = str(which).partition(" ")
                if not meant and not self._is_old(inbound_id, past.INBOUND_DAYS):
                    self._world.fault(f"LOST: {inbound_id} of {text}, which nobody wanted to go")
                self.letters.add(carrier_ids)
            case "event":
                assert isinstance(which, int)
                age_ms = self._world.now_ms() - (which >> KEY_COUNTER_BITS)
                if not meant and text != FORGOTTEN and age_ms < past.EVENTS_DAYS * past.DAY_MS:
                    self._world.fault(f"LOST: event {which} of {text}, which nobody wanted to go")
                if meant or text == FORGOTTEN:
                    self._unit.add(which)
            case _:
                if not meant:
                    self._world.fault(f"LOST: the number of {which}, which nobody wanted to go")
                self.numbers[str(which)] = text

    def _is_old(self, inbound_id: str, days: int) -> bool:
        return inbound_id < first_id("mo", self._world.now_ms() - days * past.DAY_MS)

    def number_of(self, row: sqlite3.Row) -> str:
        """Of a message or a session, whether or not it still says so."""
        return self.numbers.get(row["id"], row["recipient"])

    def faults(self, conn: sqlite3.Connection) -> Iterable[str]:
        """What somebody was told would go has gone, and says so."""
        rows = {row["id"]: row for row in conn.execute("SELECT * FROM erasures")}
        for erasure_id in set(self.told) - set(rows):
            yield f"LOST: {erasure_id} was asked for"
        for row in rows.values():
            if row["ended_at"] is None:
                yield f"{row['id']} hangs in step {row['step']}"
            if row["number"] is not None:
                yield f"{row['id']} still says its number"
        # What is from before is told by the wall's clock.
        told = {} if self._world.clock_was_set else self.told
        for erasure_id, (organization_id, number) in told.items():
            if erasure_id in rows:
                for left in _left(conn, rows[erasure_id], organization_id, number):
                    yield f"{left} of {number} is left after {erasure_id}"
        self._world.tally["numbers taken out"] += len(rows)
        self._world.tally["messages without their number"] += sum(
            row["recipient"] == FORGOTTEN for row in conn.execute("SELECT recipient FROM messages")
        )


def _left(
    conn: sqlite3.Connection, erasure: sqlite3.Row, organization_id: str, number: str
) -> Iterable[str]:
    """What there is of a number in rows from before its deletion was asked for."""
    at_ms, until_key = erasure["created_at"], ((erasure["created_at"] + 1) << KEY_COUNTER_BITS) - 1
    given = {"id": organization_id, "number": number, "at": at_ms, "key": until_key}
    given["stored"] = first_id("mo", at_ms + 1)
    for statement in (
        "SELECT id FROM messages WHERE organization_id = :id AND recipient = :number"
        " AND created_at <= :at",
        "SELECT id FROM verifications WHERE organization_id = :id AND recipient = :number"
        " AND created_at <= :at",
        "SELECT id FROM inbound WHERE organization_id = :id AND sender = :number AND id < :stored",
        "SELECT 'event ' || key FROM event WHERE key <= :key AND organization ="
        " (SELECT no FROM organizations WHERE id = :id)"
        " AND (instr(coalesce(body, ''), :number) OR instr(coalesce(frozen, ''), :number))",
        "SELECT 'row ' || r.row || ' of ' || m.id FROM mailing_rows r JOIN mailings m"
        " ON m.key = r.mailing WHERE m.organization_id = :id AND r.number = :number"
        " AND m.created_at <= :at",
        "SELECT 'a person on ' || l.id FROM list_people p JOIN recipient_lists l"
        " ON l.key = p.list WHERE l.organization_id = :id AND p.number = :number"
        " AND l.created_at <= :at",
    ):
        for (what,) in conn.execute(statement, given):
            yield what
