"""Mailings that repeat, and their runs, as rows. Each run is there once, by its repeat and its
time: whoever makes it writes that row in the same transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.repeats.records import (
    REPEATS_MAX,
    RUNS_KEPT,
    MailingRepeat,
    RepeatReason,
    RepeatRun,
    RepeatState,
    RunOutcome,
)
from risala.engine.journal.accounts import accounts
from risala.engine.journal.people import members
from risala.engine.journal.store.named import BrokenRow, Rows, columns_of, readable
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Conflict
from risala.engine.model.events import EventType, RepeatEvent
from risala.engine.model.records.record import shallow, to_json

_TABLE: Final = "mailing_repeats"
_ROWS: Final = Rows.of_record(MailingRepeat)
_RUNS: Final = Rows.of_record(RepeatRun)
_AFTER_RESTORE: Final = (
    "The service was restored from a backup before this mailing was started. Start it by hand."
)


class RunSettled(Conflict):
    """The run is not to be made: somebody has made it, or the repeat was changed meanwhile."""


@dataclass(frozen=True, slots=True)
class DueRepeat:
    """A repeat with what only the engine needs."""

    repeat: MailingRepeat
    owner: str
    """The user or key that made it; empty: the operator's machine."""
    zone: str
    """The time zone by which its next run was reckoned."""


@dataclass(frozen=True, slots=True)
class MadeRun:
    """A run whose mailing is not started yet."""

    repeat_id: str
    due_at: int
    mailing_id: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """What becomes of a repeat with a run."""

    next_at: int | None
    """The next run; None: it ends."""
    ends: RepeatReason | None = None
    """Why it ends with this run; None: it goes on."""


_DUE: Final = f"SELECT {_ROWS.columns}, owner, zone FROM mailing_repeats"  # noqa: S608 -- names of ours


def _due_of(row: Any) -> DueRepeat:  # noqa: ANN401 -- a row
    *values, owner, zone = row
    return DueRepeat(_ROWS.of(values), owner, zone)


# -- by hand


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[MailingRepeat]:
    """The repeats of an organization: the next due first, then those that rest."""
    order = "next_at IS NULL, next_at, id"
    whose = (organization_id,)
    return _ROWS.find(table(conn, _TABLE), "organization_id = ?", whose, order_by=order)


def find(conn: sqlite3.Connection, repeat_id: str) -> MailingRepeat:
    """One repeat.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), repeat_id, "There is no repeat {}.")


def add(conn: sqlite3.Connection, new: MailingRepeat, owner: str, zone: str) -> MailingRepeat:
    """Store a repeat.

    Raises:
        NotFound: no such organization.
        Conflict: it has too many.
    """
    accounts.organization(conn, new.organization_id)
    if len(of_organization(conn, new.organization_id)) >= REPEATS_MAX:
        text = f"An organization can have at most {REPEATS_MAX} repeats. Delete one first."
        raise Conflict(text)
    values = columns_of(shallow(new))
    writable(conn, _TABLE).insert({**values, "owner": owner, "zone": zone})
    return find(conn, new.id)


def change(
    conn: sqlite3.Connection,
    repeat_id: str,
    values: Mapping[str, object],
    states: tuple[RepeatState, ...],
) -> MailingRepeat:
    """Change a repeat.

    Args:
        values: by the names of the record's fields, and ``zone``.
        states: those in which this is possible.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is in another state.
    """
    before = find(conn, repeat_id)
    if before.state not in states:
        raise Conflict(_NOT_NOW[before.state])
    if values:
        writable(conn, _TABLE).update(repeat_id, columns_of(values))
    return find(conn, repeat_id)


_NOT_NOW: Final = {
    RepeatState.ACTIVE: "This repeat is active.",
    RepeatState.PAUSED: "This repeat is paused.",
    RepeatState.ENDED: "This repeat has ended.",
}


def delete(conn: sqlite3.Connection, repeat_id: str) -> MailingRepeat:
    """Delete a repeat with its runs; their mailings stay.

    Raises:
        NotFound: the id is unknown.
    """
    deleted = find(conn, repeat_id)
    conn.execute("DELETE FROM repeat_runs WHERE repeat_id = ?", (repeat_id,))
    writable(conn, _TABLE).delete(repeat_id)
    return deleted


def end_by_hand(conn: sqlite3.Connection, repeat_id: str, now_ms: int) -> MailingRepeat:
    """End a repeat.

    Raises:
        NotFound: the id is unknown.
        Conflict: it has ended.
    """
    states = (RepeatState.ACTIVE, RepeatState.PAUSED)
    values = {"state": RepeatState.ENDED, "reason": RepeatReason.HAND, "next_at": None}
    ended = change(conn, repeat_id, values, states)
    _tell(conn, ended, EventType.REPEAT_ENDED, now_ms, None, None, RepeatReason.HAND)
    return ended


def runs_of(conn: sqlite3.Connection, repeat_id: str) -> list[RepeatRun]:
    """The runs of a repeat that are kept, the newest first."""
    return _RUNS.find(
        table(conn, "repeat_runs"),
        "repeat_id = ?",
        (repeat_id,),
        order_by="due_at DESC",
        limit=RUNS_KEPT,
    )


# -- by time


def due(conn: sqlite3.Connection, now_ms: int, limit: int, broken: BrokenRow) -> list[DueRepeat]:
    """Repeats whose time has come, the longest waiting first."""
    rows = conn.execute(
        f"{_DUE} WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at LIMIT ?",
        (now_ms, limit),
    )
    return [*readable(rows.fetchall(), _due_of, 0, broken)]


def active_of(conn: sqlite3.Connection, organization_id: str) -> list[DueRepeat]:
    """An organization's repeats that have a next run."""
    rows = conn.execute(
        f"{_DUE} WHERE organization_id = ? AND next_at IS NOT NULL", (organization_id,)
    )
    return [_due_of(row) for row in rows]


def elsewhere(conn: sqlite3.Connection, limit: int) -> list[str]:
    """Organizations whose repeats were reckoned by a time zone that is no longer theirs."""
    rows = conn.execute(
        "SELECT DISTINCT r.organization_id FROM mailing_repeats r JOIN organizations o"
        " ON o.id = r.organization_id WHERE r.next_at IS NOT NULL AND r.zone <> o.time_zone"
        " LIMIT ?",
        (limit,),
    )
    return [organization_id for (organization_id,) in rows]


def next_at(conn: sqlite3.Connection) -> int | None:
    """When the next run is due; None: none is to come."""
    statement = "SELECT min(next_at) FROM mailing_repeats WHERE next_at IS NOT NULL"
    at: int | None = value_of(conn, statement)
    return at


def has_run(conn: sqlite3.Connection, repeat_id: str, due_at: int) -> bool:
    """Whether a run was made, or skipped for another reason than that it was missed."""
    statement = (
        "SELECT 1 FROM repeat_runs WHERE repeat_id = ? AND due_at = ? AND outcome <> 'missed'"
    )
    return value_of(conn, statement, (repeat_id, due_at)) is not None


def made(conn: sqlite3.Connection, limit: int) -> list[MadeRun]:
    """Runs whose mailings are not started yet, the oldest first."""
    rows = conn.execute(
        "SELECT repeat_id, due_at, mailing_id FROM repeat_runs WHERE outcome = 'made'"
        " ORDER BY due_at LIMIT ?",
        (limit,),
    )
    return [MadeRun(*row) for row in rows]


def owner_left(conn: sqlite3.Connection, organization_id: str, user_id: str) -> bool:
    """Whether a user is no member of an organization."""
    return members.find(conn, organization_id, user_id) is None


def _taking(
    repeat: MailingRepeat, due_at: int, step: NextStep, now_ms: int
) -> Callable[[sqlite3.Connection, str], None]:
    def take(conn: sqlite3.Connection, mailing_id: str) -> None:
        run = RepeatRun(due_at, RunOutcome.MADE, 0, mailing_id, None)
        _note(conn, repeat, due_at, run, step, now_ms)

    return take


def skip(
    conn: sqlite3.Connection,
    repeat: MailingRepeat,
    due_at: int,
    run: RepeatRun | None,
    step: NextStep,
    now_ms: int,
) -> MailingRepeat:
    """Note that a run does not take place.

    Args:
        due_at: the time that the repeat waited for.
        run: what is noted; None: the repeat ends before it.

    Raises:
        RunSettled: it was made meanwhile, or the repeat was changed.
    """
    _note(conn, repeat, due_at, run, step, now_ms)
    return find(conn, repeat.id)


def _note(
    conn: sqlite3.Connection,
    seen: MailingRepeat,
    due_at: int,
    run: RepeatRun | None,
    step: NextStep,
    now_ms: int,
) -> None:
    values = (seen.id, due_at)
    waits = "SELECT 1 FROM mailing_repeats WHERE id = ? AND state = 'active' AND next_at = ?"
    if value_of(conn, waits, values) is None or (
        run is not None and has_run(conn, seen.id, run.due_at)
    ):
        raise RunSettled("This run is made, or the repeat was changed.")
    is_run = run is not None and run.mailing_id is not None
    ended = {"state": RepeatState.ENDED, "reason": step.ends} if step.ends is not None else {}
    changed = {"next_at": step.next_at, "runs": find(conn, seen.id).runs + is_run, **ended}
    writable(conn, _TABLE).update(seen.id, columns_of(changed))
    if run is not None:
        _add_run(conn, seen, run)
        kind = EventType.REPEAT_BEGUN if is_run else EventType.REPEAT_SKIPPED
        reason = None if is_run else run.outcome
        _tell(conn, seen, kind, now_ms, run.due_at, run.mailing_id, reason)
    if step.ends is not None:
        _tell(conn, seen, EventType.REPEAT_ENDED, now_ms, None, None, step.ends)


def _add_run(conn: sqlite3.Connection, repeat: MailingRepeat, run: RepeatRun) -> None:
    values = columns_of(shallow(run))
    whose = {"repeat_id": repeat.id, "organization_id": repeat.organization_id}
    writable(conn, "repeat_runs").insert({**whose, **values})
    conn.execute(
        "DELETE FROM repeat_runs WHERE repeat_id = ?1 AND due_at <= (SELECT due_at"
        " FROM repeat_runs WHERE repeat_id = ?1 ORDER BY due_at DESC LIMIT 1 OFFSET ?2)",
        (repeat.id, RUNS_KEPT),
    )


def settle(
    conn: sqlite3.Connection, run: MadeRun, outcome: RunOutcome, why: str | None, now_ms: int
) -> None:
    """Note that the mailing of a run was started, or why it was not; once."""
    noted = conn.execute(
        "UPDATE repeat_runs SET outcome = ?, why = ?, mailing_id = iif(?1 = 'started', mailing_id,"
        " NULL) WHERE repeat_id = ? AND due_at = ? AND outcome = 'made'",
        (outcome.value, why, run.repeat_id, run.due_at),
    )
    if noted.rowcount and outcome is not RunOutcome.STARTED:
        repeat = find(conn, run.repeat_id)
        _tell(conn, repeat, EventType.REPEAT_SKIPPED, now_ms, run.due_at, None, outcome)


def replan(
    conn: sqlite3.Connection, repeat: MailingRepeat, step: NextStep, zone: str, now_ms: int
) -> None:
    """Wait for another time: the time zone, or the clock, was changed."""
    values: dict[str, object] = {"next_at": step.next_at, "zone": zone}
    if step.ends is not None:
        values |= {"state": RepeatState.ENDED, "reason": step.ends}
    changed = conn.execute(
        "SELECT 1 FROM mailing_repeats WHERE id = ? AND state = 'active' AND next_at = ?",
        (repeat.id, repeat.next_at),
    ).fetchone()
    if changed is None:
        return
    writable(conn, _TABLE).update(repeat.id, columns_of(values))
    # The clock was wrong when it seemed that the service had missed them.
    conn.execute(
        "DELETE FROM repeat_runs WHERE repeat_id = ? AND outcome = 'missed' AND due_at > ?",
        (repeat.id, now_ms),
    )
    if step.ends is not None:
        _tell(conn, repeat, EventType.REPEAT_ENDED, now_ms, None, None, step.ends)


def _tell(
    conn: sqlite3.Connection,
    repeat: MailingRepeat,
    kind: EventType,
    now_ms: int,
    due_at: int | None,
    mailing_id: str | None,
    reason: str | None,
) -> None:
    whose = (repeat.organization_id, repeat.mode.value, repeat.id)
    word = None if reason is None else str(reason)
    outbox.write(conn, RepeatEvent(kind, now_ms, *whose, repeat.name, due_at, mailing_id, word))


SHIFTS: Final = (
    "UPDATE mailing_repeats SET next_at = :now WHERE next_at > :now AND state = 'active'",
)
"""The clock was set back: each looks anew when its next run is, and makes none a second time."""


# -- what else there is to do with all tables


def restored(conn: sqlite3.Connection) -> None:
    """Pause all repeats in a restored database: what was sent since the backup is not known."""
    conn.execute(
        "UPDATE mailing_repeats SET state = 'paused', reason = 'restored', next_at = NULL"
        " WHERE state = 'active'"
    )
    conn.execute(
        "UPDATE repeat_runs SET outcome = 'refused', why = ? WHERE outcome = 'made'",
        (_AFTER_RESTORE,),
    )


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Runs for an owner's file."""
    start, at = (after or " 0").split(" ")
    rows = conn.execute(
        f"SELECT {_RUNS.columns}, repeat_id FROM repeat_runs"  # noqa: S608 -- names of ours
        " INDEXED BY repeat_runs_by_organization WHERE organization_id = ?"
        " AND (repeat_id, due_at) > (?, ?) ORDER BY repeat_id, due_at LIMIT ?",
        (organization_id, start, int(at), limit),
    ).fetchall()
    runs = [(repeat_id, _RUNS.of(values)) for *values, repeat_id in rows]
    written = [{"repeatId": repeat_id, **to_json(run)} for repeat_id, run in runs]
    last = [f"{repeat_id} {run.due_at}" for repeat_id, run in runs[-1:]]
    return AccountPart(written, last.pop() if len(rows) == limit else None)


@dataclass(frozen=True, slots=True)
class RepeatRepository:
    """Mailings that repeat. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    @staticmethod
    def taking(
        repeat: MailingRepeat, due_at: int, step: NextStep, now_ms: int
    ) -> Callable[[sqlite3.Connection, str], None]:
        """What notes a run in the transaction that stores its mailing: a function of the
        connection and the mailing's id, which raises ``RunSettled`` if it is not to be made."""
        return _taking(repeat, due_at, step, now_ms)

    _store: Store

    of_organization = read(of_organization)
    find = read(find)
    runs_of = read(runs_of)
    due = read(due)
    active_of = read(active_of)
    elsewhere = read(elsewhere)
    next_at = read(next_at)
    has_run = read(has_run)
    made = read(made)
    owner_left = read(owner_left)
    add = audited_command(add)
    change = audited_command(change)
    delete = audited_command(delete)
    end_by_hand = audited_command(end_by_hand)
    skip = command(skip)
    settle = command(settle)
    replan = command(replan)
