"""Looks at each step that is written: by triggers on the writer's connection, and at each commit.

They cost next to nothing, so that every transaction of every world is looked at, and not only what
is left at the end.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import TYPE_CHECKING

from risala.engine.model.numbers import STATUSES

if TYPE_CHECKING:
    from tests.simulation.world import World

NEXT = {
    "pending": {"processing", "failed", "canceled"},
    "processing": {"sent", "pending", "failed", "delivered", "undelivered", "canceled"},
    "sent": {"delivered", "undelivered"},
    "delivered": set(),
    "undelivered": set(),
    "failed": set(),
    "canceled": set(),
}
"""What may follow a message's state. A receipt that comes before its answer passes through
``sent`` in one unit, which its timeline tells; a message that is withdrawn while it goes back."""
SESSION_NEXT = {"pending": {"approved", "expired", "canceled"}}
PAYMENT_NEXT = {"begun": {"waiting", "confirmed", "refused"}, "waiting": {"confirmed", "refused"}}

TRIGGERS = """
CREATE TEMP TRIGGER watch_status AFTER UPDATE OF status ON main.message
  WHEN old.status IS NOT new.status
  BEGIN SELECT watch('message', new.id, old.status, new.status); END;
CREATE TEMP TRIGGER watch_attempts AFTER UPDATE OF attempts ON main.message
  WHEN new.attempts < old.attempts
  BEGIN SELECT watch('attempts', new.id, old.attempts, new.attempts); END;
CREATE TEMP TRIGGER watch_session AFTER UPDATE OF status ON main.verifications
  WHEN old.status IS NOT new.status
  BEGIN SELECT watch('session', new.id, old.status, new.status); END;
CREATE TEMP TRIGGER watch_guesses AFTER UPDATE OF attempts ON main.verifications
  WHEN new.attempts < old.attempts OR new.attempts > new.attempts_max
  BEGIN SELECT watch('guesses', new.id, old.attempts, new.attempts); END;
CREATE TEMP TRIGGER watch_payment AFTER UPDATE OF state ON main.payments
  WHEN old.state IS NOT new.state
  BEGIN SELECT watch('payment', new.id, old.state, new.state); END;
CREATE TEMP TRIGGER watch_entry AFTER INSERT ON main.entry
  BEGIN SELECT watch('entry', new.organization, new.amount, new.balance_after); END;
CREATE TEMP TRIGGER watch_entry_changed AFTER UPDATE ON main.entry
  WHEN old.amount <> new.amount OR old.balance_after <> new.balance_after OR old.kind <> new.kind
  BEGIN SELECT watch('changed entry', new.seq, old.amount, new.amount); END;
CREATE TEMP TRIGGER watch_entry_gone AFTER DELETE ON main.entry
  BEGIN SELECT watch('lost entry', old.seq, old.amount, 0); END;
CREATE TEMP TRIGGER watch_cursor AFTER UPDATE OF seq ON main.event_cursors
  WHEN new.seq < old.seq
  BEGIN SELECT watch('cursor', new.consumer, old.seq, new.seq); END;
"""


class Watch:
    """What must hold in every transaction."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._balances: dict[int, int] = {}
        self._entered: dict[int, int] = {}
        """Of the transaction under way: what the balances are after it."""
        self._conn: sqlite3.Connection | None = None
        self._armed = False
        self.moves: dict[str, list[str]] = defaultdict(list)
        """The states of each message in turn, as they were written."""

    def begin(self, conn: sqlite3.Connection) -> None:
        """A life begins: the writer's connection is open, its schema perhaps not made."""
        self._conn, self._armed = conn, False
        self._entered = {}
        if conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'message'").fetchone():
            self.arm()

    def arm(self) -> None:
        """The schema is there."""
        assert self._conn is not None
        if self._armed:
            return
        self._conn.create_function("watch", 4, self._told)
        self._conn.executescript(TRIGGERS)
        self._world.stops.arm(self._conn)
        self._world.erased.arm(self._conn)
        self._world.answers.arm(self._conn)
        self._balances = dict(
            self._conn.execute("SELECT organization, sum(amount) FROM entry GROUP BY 1")
        )
        self._armed = True

    def _told(self, what: str, which: object, before: object, after: object) -> None:
        if self._world.dead:
            return
        match what:
            case "message":
                assert isinstance(before, int)
                assert isinstance(after, int)
                was, is_ = STATUSES.word(before), STATUSES.word(after)
                if is_ not in NEXT[was]:
                    self._world.fault(f"{which} went from {was} to {is_}")
            case "session":
                if after not in SESSION_NEXT.get(str(before), ()):
                    self._world.fault(f"session {which} went from {before} to {after}")
            case "payment":
                if after not in PAYMENT_NEXT.get(str(before), ()):
                    self._world.fault(f"payment {which} went from {before} to {after}")
            case "entry":
                assert isinstance(which, int)
                assert isinstance(before, int)
                assert isinstance(after, int)
                stood = self._entered.get(which, self._balances.get(which, 0))
                if stood + before != after:
                    text = f"an entry of {before} after {stood} leaves {after}"
                    self._world.fault(f"organization {which}: {text}")
                if after < 0:
                    self._world.fault(f"organization {which} has {after}")
                self._entered[which] = after
            case _:
                self._world.fault(f"{what}: {which} went from {before} to {after}")

    def rolled_back(self) -> None:
        self._entered = {}
        self._world.answers.rolled_back()
        self._world.stops.rolled_back()
        self._world.erased.over()

    def committed(self) -> None:
        self._world.answers.committed()  # before it: what was asked for is known then
        self._world.stops.committed()
        self._world.erased.over()
        if not self._armed or not self._entered or self._conn is None:
            return
        self._balances |= self._entered
        for number, balance in self._entered.items():
            (stands,) = self._conn.execute(
                "SELECT balance FROM organizations WHERE no = ?", (number,)
            ).fetchone()
            if stands != balance and not self._world.dead:
                self._world.fault(f"organization {number} has {stands}, its ledger {balance}")
        self._entered = {}
