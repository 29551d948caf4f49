"""Chains and their alarms, as rows. Each step is there once, by its alarm and its number: it is
noted in the transaction that accepts its message."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.alarms.records import (
    CHAINS_MAX,
    OPEN_MAX,
    RAISED_KEPT,
    AlarmChain,
    AlarmState,
    AlarmStep,
    RaisedAlarm,
    StepOutcome,
)
from risala.engine.features.alarms.stored.answering import means_more
from risala.engine.journal.accounts import accounts
from risala.engine.journal.messages.messages import Around
from risala.engine.journal.store.named import BrokenRow, Rows, columns_of, readable
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.errors import Conflict
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.engine.model.records.messages import Acceptance
from risala.engine.model.records.record import shallow, to_json

_CHAINS: Final = Rows.of_record(AlarmChain)
_ALARMS: Final = Rows.of_record(RaisedAlarm)
_STEPS: Final = Rows.of_record(AlarmStep)


class StepSettled(Conflict):
    """The step is not to be made: it was made, or the alarm has ended."""


# -- chains


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[AlarmChain]:
    """The chains of an organization, by their names."""
    whose = (organization_id,)
    return _CHAINS.find(
        table(conn, "alarm_chains"), "organization_id = ?", whose, order_by="name, id"
    )


def chain(conn: sqlite3.Connection, chain_id: str) -> AlarmChain:
    """One chain.

    Raises:
        NotFound: the id is unknown.
    """
    return _CHAINS.one(table(conn, "alarm_chains"), chain_id, "There is no alarm chain {}.")


def add_chain(conn: sqlite3.Connection, new: AlarmChain) -> AlarmChain:
    """Store a chain.

    Raises:
        NotFound: no such organization.
        Conflict: it has too many.
    """
    accounts.organization(conn, new.organization_id)
    if len(of_organization(conn, new.organization_id)) >= CHAINS_MAX:
        text = f"An organization can have at most {CHAINS_MAX} alarm chains. Delete one first."
        raise Conflict(text)
    writable(conn, "alarm_chains").insert(columns_of(shallow(new)))
    return chain(conn, new.id)


def change_chain(
    conn: sqlite3.Connection, chain_id: str, values: Mapping[str, object]
) -> AlarmChain:
    """Change a chain; alarms that go on take it from their next step.

    Raises:
        NotFound: the id is unknown.
    """
    before = chain(conn, chain_id)
    if values:
        writable(conn, "alarm_chains").update(before.id, columns_of(values))
    return chain(conn, chain_id)


def delete_chain(conn: sqlite3.Connection, chain_id: str) -> AlarmChain:
    """Delete a chain with its alarms; messages that left stay.

    Raises:
        NotFound: the id is unknown.
    """
    deleted = chain(conn, chain_id)
    conn.execute(
        "DELETE FROM alarm_steps WHERE alarm_id IN (SELECT id FROM alarms WHERE chain_id = ?)",
        (chain_id,),
    )
    conn.execute("DELETE FROM alarms WHERE chain_id = ?", (chain_id,))
    writable(conn, "alarm_chains").delete(chain_id)
    return deleted


# -- alarms


def alarm(conn: sqlite3.Connection, alarm_id: str) -> RaisedAlarm:
    """One alarm.

    Raises:
        NotFound: the id is unknown.
    """
    return _ALARMS.one(table(conn, "alarms"), alarm_id, "There is no alarm {}.")


def of_chain(conn: sqlite3.Connection, chain_id: str) -> list[RaisedAlarm]:
    """The alarms of a chain that are kept, the newest first."""
    return _ALARMS.find(
        table(conn, "alarms"), "chain_id = ?", (chain_id,), order_by="id DESC", limit=RAISED_KEPT
    )


def going(conn: sqlite3.Connection, organization_id: str) -> list[RaisedAlarm]:
    """An organization's alarms that go on, the newest first."""
    return _ALARMS.find(
        table(conn, "alarms"),
        "organization_id = ? AND state = 'going'",
        (organization_id,),
        order_by="id DESC",
        limit=OPEN_MAX,
    )


def steps_of(conn: sqlite3.Connection, alarm_id: str) -> list[AlarmStep]:
    """The steps of an alarm, in their order."""
    return _STEPS.find(table(conn, "alarm_steps"), "alarm_id = ?", (alarm_id,), order_by="step")


def raised_once(conn: sqlite3.Connection, organization_id: str, once: str) -> RaisedAlarm | None:
    """The alarm that a program raised by a key; None: none."""
    whose = (organization_id, once)
    alarms = _ALARMS.find(table(conn, "alarms"), "organization_id = ? AND once = ?", whose)
    return alarms[0] if alarms else None


def raise_alarm(conn: sqlite3.Connection, new: RaisedAlarm, once: str | None) -> RaisedAlarm:
    """Store an alarm, whose first step is due.

    Args:
        once: a program's key: what was raised by it before is answered again.

    Raises:
        NotFound: the chain is gone.
        Conflict: too many go on already.
    """
    whose = chain(conn, new.chain_id).organization_id
    before = None if once is None else raised_once(conn, whose, once)
    if before is not None:
        return before
    if len(going(conn, whose)) >= OPEN_MAX:
        text = f"At most {OPEN_MAX} alarms of an organization go on together. End one first."
        raise Conflict(text)
    writable(conn, "alarms").insert({**columns_of(shallow(new)), "once": once})
    old = conn.execute(
        "SELECT id FROM alarms WHERE organization_id = ? AND state <> 'going'"
        " ORDER BY id DESC LIMIT -1 OFFSET ?",
        (whose, RAISED_KEPT),
    )
    _forget(conn, [each for (each,) in old.fetchall()])
    return alarm(conn, new.id)


def _forget(conn: sqlite3.Connection, alarm_ids: Sequence[str]) -> None:
    for each in alarm_ids:
        conn.execute("DELETE FROM alarm_steps WHERE alarm_id = ?", (each,))
        writable(conn, "alarms").delete(each)


def end(
    conn: sqlite3.Connection, alarm_id: str, state: AlarmState, who: str | None, now_ms: int
) -> RaisedAlarm:
    """End an alarm that goes on.

    Raises:
        NotFound: the id is unknown.
        Conflict: it has ended.
    """
    if alarm(conn, alarm_id).state is not AlarmState.GOING:
        raise Conflict("This alarm has ended.")
    values = {"state": state, "next_at": None, "ended_at": now_ms, "ended_by": who}
    writable(conn, "alarms").update(alarm_id, columns_of(values))
    return alarm(conn, alarm_id)


# -- steps


def due(conn: sqlite3.Connection, now_ms: int, limit: int, broken: BrokenRow) -> list[RaisedAlarm]:
    """Alarms whose next step is due, the longest waiting first."""
    rows = conn.execute(
        f"SELECT {_ALARMS.columns} FROM alarms WHERE next_at IS NOT NULL AND next_at <= ?"  # noqa: S608 -- names of ours
        " ORDER BY next_at LIMIT ?",
        (now_ms, limit),
    )
    return [*readable(rows.fetchall(), _ALARMS.of, 0, broken)]


def next_at(conn: sqlite3.Connection) -> int | None:
    """When the next step is due; None: no alarm goes on."""
    at: int | None = value_of(conn, "SELECT min(next_at) FROM alarms WHERE next_at IS NOT NULL")
    return at


def _note(conn: sqlite3.Connection, alarm_id: str, made: AlarmStep, following_at: int) -> None:
    whose = _awaited(conn, alarm_id, made.step)
    names = {"alarm_id": alarm_id, "organization_id": whose}
    writable(conn, "alarm_steps").insert({**names, **columns_of(shallow(made))})
    writable(conn, "alarms").update(alarm_id, {"steps": made.step, "next_at": following_at})


def _awaited(conn: sqlite3.Connection, alarm_id: str, step: int) -> str:
    """The organization of an alarm whose next step this is. Raises ``StepSettled``: it is not."""
    whose: str | None = value_of(
        conn,
        "SELECT organization_id FROM alarms WHERE id = ? AND state = 'going' AND steps = ?",
        (alarm_id, step - 1),
    )
    if whose is None:
        raise StepSettled("This step was made, or the alarm has ended.")
    return whose


def _stepping(
    alarm_id: str,
    step: int,
    number: str,
    now_ms: int,
    following_at: int,
    unit: Unit[Acceptance],
) -> Unit[Acceptance]:
    def accept(conn: sqlite3.Connection) -> Acceptance:
        # Looked at before the message is accepted: no second one leaves for this step.
        _awaited(conn, alarm_id, step)
        accepted = unit(conn)
        made = AlarmStep(step, now_ms, number, StepOutcome.SENT, accepted.id, None)
        _note(conn, alarm_id, made, following_at)
        return accepted

    return accept


def note(conn: sqlite3.Connection, alarm_id: str, made: AlarmStep, following_at: int) -> None:
    """Note a step whose message was refused, or had been accepted by its key before.

    Args:
        following_at: when the next step is due.

    Raises:
        StepSettled: it was made, or the alarm has ended.
    """
    _note(conn, alarm_id, made, following_at)


def put_off(conn: sqlite3.Connection, alarm_id: str, at: int) -> None:
    """A step cannot be made now: another try."""
    conn.execute(
        "UPDATE alarms SET next_at = ? WHERE id = ? AND next_at IS NOT NULL", (at, alarm_id)
    )


SHIFTS: Final = ("UPDATE alarms SET next_at = next_at - :by WHERE next_at > :now",)
"""Move the next steps back with the clock."""


# -- what else there is to do with all tables


def restored(conn: sqlite3.Connection) -> None:
    """End all alarms in a restored database: whom they called since is not known."""
    conn.execute(
        "UPDATE alarms SET state = 'ended', next_at = NULL, ended_at = raised_at,"
        " ended_by = 'restore' WHERE state = 'going'"
    )


def withdraw(conn: sqlite3.Connection, organization_id: str, number: str) -> None:
    """Take a number whose erasure begins out of chains: no alarm writes to it any more."""
    for each in of_organization(conn, organization_id):
        left = tuple(line for line in each.people if line.partition(" ")[0] != number)
        if left != each.people:
            writable(conn, "alarm_chains").update(each.id, columns_of({"people": left}))


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Take a number that is erased out of steps."""
    gone = conn.execute(
        "UPDATE alarm_steps SET number = '' WHERE (alarm_id, step) IN (SELECT alarm_id, step"
        " FROM alarm_steps WHERE number = ? AND organization_id = ? LIMIT ?)",
        (number, organization_id, limit),
    ).rowcount
    conn.execute(
        "UPDATE alarms SET ended_by = NULL WHERE organization_id = ? AND ended_by = ?",
        (organization_id, number),
    )
    return {"alarm steps": gone}


def walk_old(conn: sqlite3.Connection, walk: RetentionWalk, before_ms: int, limit: int) -> Forgot:
    """Delete alarms with their steps that ended so long ago."""
    whose = walk.organizations
    among = f" AND organization_id IN ({markers(whose)})" if whose else ""
    old = conn.execute(
        f"SELECT id FROM alarms WHERE ended_at < ?{among} ORDER BY ended_at LIMIT ?",  # noqa: S608 -- markers
        (before_ms, *whose, limit),
    ).fetchall()
    _forget(conn, [each for (each,) in old])
    return Forgot(len(old), "", done=len(old) < limit)


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Alarms with their steps, for an owner's file."""
    alarms = _ALARMS.find(
        table(conn, "alarms"),
        "organization_id = ? AND id > ?",
        (organization_id, after),
        order_by="id",
        limit=limit,
    )
    written = [
        {**to_json(each), "steps": [to_json(step) for step in steps_of(conn, each.id)]}
        for each in alarms
    ]
    return AccountPart(written, alarms[-1].id if len(alarms) == limit else None)


@dataclass(frozen=True, slots=True)
class AlarmRepository:
    """Chains and alarms. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    @staticmethod
    def stepping(alarm_id: str, step: int, number: str, now_ms: int, following_at: int) -> Around:
        """What makes the unit that accepts a step's message also note the step. It raises
        ``StepSettled`` if that is not to be made."""
        return partial(_stepping, alarm_id, step, number, now_ms, following_at)

    _store: Store

    of_organization = read(of_organization)
    chain = read(chain)
    alarm = read(alarm)
    of_chain = read(of_chain)
    going = read(going)
    steps_of = read(steps_of)
    raised_once = read(raised_once)
    means_more = read(means_more)
    due = read(due)
    next_at = read(next_at)
    add_chain = audited_command(add_chain)
    change_chain = audited_command(change_chain)
    delete_chain = audited_command(delete_chain)
    raise_alarm = audited_command(raise_alarm)
    finish = command(end)
    end = audited_command(end)
    note = command(note)
    put_off = command(put_off)
