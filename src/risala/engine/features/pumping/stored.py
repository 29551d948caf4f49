"""The guard's counts, findings and settings, as they are stored. An address is stored as its keyed
mark, a number as its block."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.pumping.records import (
    AT_ONCE,
    FACES,
    HELD_MAX,
    KEPT_MS,
    GuardReaction,
)
from risala.engine.features.pumping.rules.groups import (
    HALF_LIVES_MS,
    CodeGroup,
    FadingCounts,
    GroupKind,
)
from risala.engine.features.pumping.rules.judging import GROUPS_MAX, GroupSuspicion, Windows
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable
from risala.engine.model.feature_work import Forgot
from risala.engine.model.states import SessionState

LOOKED_AT: Final = 20
"""The last sessions of a number among which one that was approved is looked for."""
SHIFTS: Final = (
    "UPDATE pumping_suspicions SET passes_until = passes_until - :by WHERE passes_until > :now",
)
"""Move the ends of passes back with the clock."""
_COUNTS: Final = (
    *("missed_hour", "missed_day", "missed_week"),
    *("entered_hour", "entered_day", "entered_week"),
)
_GROUP: Final = "organization_id = ? AND kind = ? AND name = ?"
_LIVE: Final = "SELECT 1 FROM organizations WHERE id = ? AND deleted_at IS NULL"


class SuspiciousCount:
    """What was suspicious in a group since that was last written."""

    __slots__ = ("challenged", "first_ms", "last_ms", "refused", "suspicion", "watched")

    def __init__(self, first_ms: int) -> None:
        self.first_ms = self.last_ms = first_ms
        self.suspicion: GroupSuspicion | None = None
        self.watched = self.challenged = self.refused = 0

    def add(self, suspicion: GroupSuspicion, reaction: GuardReaction, now_ms: int) -> None:
        """Count a suspicious code."""
        self.suspicion, self.last_ms = suspicion, now_ms
        self.watched += reaction is GuardReaction.WATCH
        self.challenged += reaction is GuardReaction.CHALLENGE
        self.refused += reaction is GuardReaction.REFUSE


class StoredGroup(NamedTuple):
    """A group's counts as they are written."""

    group: CodeGroup
    at_ms: int
    is_held: bool
    counts: Sequence[float]


class SuspicionRow(NamedTuple):
    """A row of what was suspicious."""

    kind: str
    name: str
    first_at: int
    last_at: int
    missed: float
    entered: float
    half_life_ms: int
    usual_missed: float
    usual_entered: float
    factor: float
    watched: int
    challenged: int
    refused: int
    passes_until: int | None


# -- counts


def windows(conn: sqlite3.Connection, organization_id: str) -> Windows:
    """An organization's counts."""
    made, half = Windows(), len(HALF_LIVES_MS)
    rows = conn.execute(
        f"SELECT kind, name, at, held, {', '.join(_COUNTS)} FROM pumping_groups"  # noqa: S608 -- constants
        " WHERE organization_id = ? LIMIT ?",
        (organization_id, GROUPS_MAX),
    ).fetchall()
    for kind, name, at, held, *counts in sorted(rows, key=lambda row: row[2]):
        group = CodeGroup(GroupKind(kind), name)
        made.put(group, FadingCounts(at, counts[:half], counts[half:]), is_held=bool(held))
    passing = conn.execute(
        "SELECT kind, name, passes_until FROM pumping_suspicions"
        " WHERE organization_id = ? AND passes_until IS NOT NULL",
        (organization_id,),
    )
    made.passes = {CodeGroup(GroupKind(kind), name): until for kind, name, until in passing}
    return made


def write_groups(
    conn: sqlite3.Connection,
    organization_id: str,
    changed: Sequence[StoredGroup],
    gone: Sequence[CodeGroup],
) -> None:
    """Write counts that changed, and delete those of groups that are forgotten."""
    if value_of(conn, _LIVE, (organization_id,)) is None:
        return
    conn.executemany(
        f"DELETE FROM pumping_groups WHERE {_GROUP}",  # noqa: S608 -- constants
        [(organization_id, *group) for group in gone],
    )
    names = ("organization_id", "kind", "name", "at", "held", *_COUNTS)
    conn.executemany(
        f"INSERT OR REPLACE INTO pumping_groups ({', '.join(names)})"  # noqa: S608 -- constants
        f" VALUES ({', '.join('?' * len(names))})",
        [
            (organization_id, *each.group, each.at_ms, int(each.is_held), *each.counts)
            for each in changed
        ],
    )


def forget_old(conn: sqlite3.Connection, now_ms: int) -> int:
    """Delete some counts and suspicions that are no longer kept; returns how many."""
    before = (now_ms - KEPT_MS, AT_ONCE)
    gone = conn.execute(
        "DELETE FROM pumping_groups WHERE (organization_id, kind, name) IN (SELECT organization_id,"
        " kind, name FROM pumping_groups WHERE at < ? LIMIT ?)",
        before,
    ).rowcount
    gone += conn.execute(
        "DELETE FROM pumping_suspicions WHERE (organization_id, kind, name) IN (SELECT"
        " organization_id, kind, name FROM pumping_suspicions WHERE last_at < ? LIMIT ?)",
        before,
    ).rowcount
    return gone


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete counts of an organization that is deleted.

    Args:
        organization_id: None: of all, whose counts are deleted when they are old.
    """
    if organization_id is None:
        return Forgot(0, "", done=True)
    gone = conn.execute(
        "DELETE FROM pumping_groups WHERE (organization_id, kind, name) IN (SELECT organization_id,"
        " kind, name FROM pumping_groups WHERE organization_id = ? LIMIT ?)",
        (organization_id, limit),
    ).rowcount
    return Forgot(gone, "", done=gone < limit)


# -- what was suspicious


def write_suspicions(
    conn: sqlite3.Connection, organization_id: str, suspicions: Mapping[CodeGroup, SuspiciousCount]
) -> None:
    """Add what was suspicious to what is known of it."""
    if value_of(conn, _LIVE, (organization_id,)) is None:
        return
    for group, held in suspicions.items():
        suspicion = held.suspicion
        assert suspicion is not None, "it was made with one"
        conn.execute(
            "INSERT INTO pumping_suspicions (organization_id, kind, name, first_at, last_at,"
            " missed, entered, half_life_ms, usual_missed, usual_entered, factor, watched,"
            " challenged, refused) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (organization_id, kind, name) DO UPDATE SET last_at = excluded.last_at,"
            " missed = excluded.missed, entered = excluded.entered,"
            " half_life_ms = excluded.half_life_ms, usual_missed = excluded.usual_missed,"
            " usual_entered = excluded.usual_entered, factor = excluded.factor,"
            " watched = watched + excluded.watched, challenged = challenged + excluded.challenged,"
            " refused = refused + excluded.refused",
            (
                *(organization_id, *group, held.first_ms, held.last_ms),
                *(suspicion.seen.missed, suspicion.seen.entered, HALF_LIVES_MS[suspicion.window]),
                *(suspicion.usual.missed, suspicion.usual.entered, suspicion.factor),
                *(held.watched, held.challenged, held.refused),
            ),
        )
    conn.execute(
        "DELETE FROM pumping_suspicions WHERE organization_id = ? AND (kind, name) NOT IN (SELECT"
        " kind, name FROM pumping_suspicions WHERE organization_id = ?"
        " ORDER BY last_at DESC LIMIT ?)",
        (organization_id, organization_id, HELD_MAX),
    )


def suspicions_of(conn: sqlite3.Connection, organization_id: str) -> list[SuspicionRow]:
    """What was suspicious in an organization, the last one first."""
    rows = conn.execute(
        f"SELECT {', '.join(SuspicionRow._fields)} FROM pumping_suspicions"  # noqa: S608 -- constants
        " WHERE organization_id = ? ORDER BY last_at DESC, kind, name LIMIT ?",
        (organization_id, HELD_MAX),
    )
    return [SuspicionRow(*row) for row in rows]


def set_pass(
    conn: sqlite3.Connection, organization_id: str, group: CodeGroup, until: int | None
) -> bool:
    """Let a group pass until a time, or no longer; False: nothing of it was suspicious."""
    changed = conn.execute(
        f"UPDATE pumping_suspicions SET passes_until = ? WHERE {_GROUP}",  # noqa: S608 -- constants
        (until, organization_id, *group),
    ).rowcount
    return changed > 0


# -- settings


def secret_share(conn: sqlite3.Connection, organization_id: str) -> int:
    """Per cent of an organization's codes an hour that secret keys alone may use."""
    statement = "SELECT secret_share FROM pumping_settings WHERE organization_id = ?"
    share: int | None = value_of(conn, statement, (organization_id,))
    return share or 0


def reactions(conn: sqlite3.Connection, organization_id: str) -> dict[str, GuardReaction]:
    """What was chosen for an organization's keys, by their ids; all others watch."""
    rows = conn.execute(
        "SELECT key_id, reaction FROM pumping_keys WHERE organization_id = ?", (organization_id,)
    )
    faces = _stored_key(organization_id, FACES)
    return {
        FACES if key_id == faces else key_id: GuardReaction(reaction) for key_id, reaction in rows
    }


def set_share(conn: sqlite3.Connection, organization_id: str, share: int) -> None:
    """Store the share that is reserved for secret keys."""
    row = {"organization_id": organization_id, "secret_share": share}
    writable(conn, "pumping_settings").upsert(row)


def set_reaction(
    conn: sqlite3.Connection, organization_id: str, key_id: str, reaction: GuardReaction
) -> None:
    """Store what becomes of suspicious codes of a key."""
    stored = _stored_key(organization_id, key_id)
    row = {"organization_id": organization_id, "key_id": stored, "reaction": reaction.value}
    writable(conn, "pumping_keys").upsert(row)


def _stored_key(organization_id: str, key_id: str) -> str:
    """A key's id is the only one; credentials of other software are those of an organization."""
    return f"{FACES}:{organization_id}" if key_id == FACES else key_id


def exported(conn: sqlite3.Connection, organization_id: str) -> dict[str, Any]:
    """What an owner's file has of it: the settings. FadingCounts are not in it (contract §16)."""
    chosen = reactions(conn, organization_id)
    return {
        "secretShare": secret_share(conn, organization_id),
        "reactions": {key_id: reaction.value for key_id, reaction in chosen.items()},
    }


# -- sessions


def was_verified(conn: sqlite3.Connection, organization_id: str, number: str) -> bool:
    """Whether one of a number's last codes was entered."""
    statuses = conn.execute(
        "SELECT status FROM verifications WHERE organization_id = ? AND mode = 'live'"
        " AND recipient = ? ORDER BY created_at DESC LIMIT ?",
        (organization_id, number, LOOKED_AT),
    )
    return any(status == SessionState.APPROVED for (status,) in statuses)


def ends_of(
    conn: sqlite3.Connection, verification_ids: Iterable[str]
) -> dict[str, tuple[str, str | None]]:
    """The state of sessions, and its reason, by their ids; one that is not there is left out."""
    ids = [*verification_ids]
    rows = conn.execute(
        "SELECT id, status, reason FROM verifications"  # noqa: S608 -- question marks alone
        f" WHERE id IN ({', '.join('?' * len(ids))})",
        ids,
    )
    return {session: (status, reason) for session, status, reason in rows}


@dataclass(frozen=True, slots=True)
class PumpingRepository:
    """The guard's rows. All reads are by an index, of a bounded number of rows, on the loop's
    thread. A command returns once it is on disk, and raises ``Unavailable`` if the disk did not
    take it."""

    _store: Store

    windows = read(windows)
    suspicions_of = read(suspicions_of)
    secret_share = read(secret_share)
    reactions = read(reactions)
    was_verified = read(was_verified)
    ends_of = read(ends_of)
    write_groups = command(write_groups)
    write_suspicions = command(write_suspicions)
    forget_old = command(forget_old)
    set_pass = audited_command(set_pass)
    set_share = audited_command(set_share)
    set_reaction = audited_command(set_reaction)
