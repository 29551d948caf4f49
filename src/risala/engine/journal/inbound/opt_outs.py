"""People who want no further messages from an organization.

An opt-out is meant for the organization that last wrote to that number through that carrier: the
person answers what they read. So the last writer is noted while any organization honours opt-outs;
when the first one begins to, earlier messages are searched, the latest first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.state import CREATED, MessageState, last_key
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows, readable
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.numbers import MODES, recipient_text
from risala.engine.model.records.messages import Stamp
from risala.sms.message import Inbound

LOOK_BACK_ROWS_MAX: Final = 1_000_000
"""Messages that are searched: some hundred megabytes, once."""
_LOOK_BACK: Final = "opt_outs.look_back"
"""Note in the file: the key below which it continues, and the most messages left."""
_NOTE: Final = (
    " ON CONFLICT (recipient, carrier)"
    " DO UPDATE SET organization_id = excluded.organization_id, at = excluded.at"
    " WHERE excluded.at >= at"
)


@dataclass(frozen=True, slots=True)
class _Written:
    """A message's fields for who wrote to whom."""

    key: int
    recipient: str
    carrier: str | None
    organization_id: str
    sent_at: int | None
    mode: str
    created_at: int


_WRITTEN: Final = Rows(
    _Written,
    {
        "carrier": name_sql("carrier"),
        "organization_id": "(SELECT id FROM organizations WHERE no = organization)",
        "created_at": CREATED,
    },
    recipient=recipient_text,
    mode=MODES.word,
)


def anybody_heeds(conn: sqlite3.Connection) -> bool:
    """Whether any organization honours opt-outs, so that the writer matters."""
    return conn.execute("SELECT 1 FROM opt_out_policies LIMIT 1").fetchone() is not None


def note_writer(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> None:
    """An attempt at a message begins; part of its unit."""
    conn.execute(
        "INSERT INTO last_writers (recipient, carrier, organization_id, at)"  # noqa: S608 -- constants
        f" VALUES (?, ?, ?, ?){_NOTE}",
        (message.recipient, message.carrier, message.organization_id, now_ms),
    )


def look_back(
    conn: sqlite3.Connection, since_ms: int, limit: int
) -> tuple[bool, list[tuple[str, Exception]]]:
    """Note the last writers from some messages sent before notes began.

    Returns:
        Whether that is done, and the messages that cannot be read: the key of each, and why.
    """
    place, broken = meta.get(conn, _LOOK_BACK), list[tuple[str, Exception]]()
    if place is None:
        return True, broken
    above, left = map(int, place.split())
    limit = min(limit, left)
    read = conn.execute(
        f"SELECT {_WRITTEN.columns} FROM message WHERE key < ? ORDER BY key DESC LIMIT ?",  # noqa: S608 -- a constant
        (above, limit),
    ).fetchall()
    rows = [*readable(read, _WRITTEN.of, 0, lambda *each: broken.append(each))]
    conn.executemany(
        "INSERT INTO last_writers (recipient, carrier, organization_id, at)"  # noqa: S608 -- constants
        f" VALUES (?, ?, ?, ?){_NOTE}",
        [
            (row.recipient, row.carrier, row.organization_id, row.sent_at)
            for row in rows
            if row.mode == "live" and row.sent_at is not None and row.carrier
        ],
    )
    is_far = bool(rows) and rows[-1].created_at < since_ms
    done = len(read) < limit or left <= limit or is_far or not policies(conn)
    if done:
        meta.remove(conn, _LOOK_BACK)
    else:
        lowest, *_ = read[-1]
        meta.put(conn, _LOOK_BACK, f"{lowest} {left - len(read)}")
    return done, broken


def _begin_to_look_back(conn: sqlite3.Connection) -> None:
    meta.put(conn, _LOOK_BACK, f"{last_key(conn) + 1} {LOOK_BACK_ROWS_MAX}")


def apply_text(
    conn: sqlite3.Connection, carriers: Sequence[str], text_id: str, text: Inbound, stamp: Stamp
) -> None:
    """Apply a text that says nothing but STOP or START in one of their languages, or a word that
    the feature of opt-outs knows.

    ``carriers`` are those of one account: an answer comes through any of them.
    """
    if (work := duty(Duty.OPT_OUTS)) is not None:
        work.apply(conn, carriers, text_id, text, stamp)


def says_stop(conn: sqlite3.Connection, organization_id: str, number: str, text: str) -> bool:
    """Whether a text asks an organization, which heeds that, for no more messages."""
    work = duty(Duty.OPT_OUTS)
    return work is not None and work.says_stop(conn, organization_id, number, text)


def write(
    conn: sqlite3.Connection,
    organization_id: str,
    recipient: str,
    carrier: str,
    keyword: str,
    now_ms: int,
) -> bool:
    """Note that a number sent a word of STOP through a carrier; False if its wish is noted."""
    noted = conn.execute(
        "INSERT INTO opt_outs (organization_id, recipient, carrier, at, keyword)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (organization_id, recipient, carrier, now_ms, keyword),
    )
    return noted.rowcount > 0


def policies(conn: sqlite3.Connection) -> set[str]:
    """Organizations that honour opt-outs."""
    return {row["organization_id"] for row in table(conn, "opt_out_policies").rows}


def policy_image(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of an organization's policy."""
    heeds = organization_id in policies(conn)
    return Seen(organization_id, {"heeds": heeds})


def set_policy(conn: sqlite3.Connection, organization_id: str, now_ms: int, *, heeds: bool) -> None:
    """Let an organization's recipients opt out, or not; existing opt-outs stay stored."""
    if heeds:
        heeding = policies(conn)
        if not heeding:
            _begin_to_look_back(conn)
        if organization_id not in heeding:
            new = {"organization_id": organization_id, "since": now_ms}
            writable(conn, "opt_out_policies").insert(new)
    else:
        writable(conn, "opt_out_policies").delete_where("organization_id = ?", (organization_id,))


def is_out(conn: sqlite3.Connection, organization_id: str, recipient: str) -> bool:
    """Whether a number wants no messages of an organization."""
    row = conn.execute(
        "SELECT 1 FROM opt_outs WHERE organization_id = ? AND recipient = ?",
        (organization_id, recipient),
    ).fetchone()
    return row is not None


BY_HAND: Final = ""
"""In place of a carrier: the number sent no STOP, but its wish was noted by hand."""


def note(
    conn: sqlite3.Connection, organization_id: str, recipient: str, who: str, now_ms: int
) -> bool:
    """Note by hand that an organization must not write to a number; False if it is noted."""
    if is_out(conn, organization_id, recipient):
        return False
    new = {"organization_id": organization_id, "recipient": recipient, "carrier": BY_HAND}
    writable(conn, "opt_outs").insert({**new, "at": now_ms, "who": who})
    return True


def take_back(
    conn: sqlite3.Connection, organization_id: str, recipient: str, note: str | None = None
) -> bool:
    """Let an organization write to a number again; False if it was allowed already.

    Args:
        note: how its owner asked for it.

    Raises:
        Invalid: the organization wants a note, and there is none.
    """
    if not is_out(conn, organization_id, recipient):
        return False
    if (work := duty(Duty.OPT_OUTS)) is not None:
        work.refuse_return(conn, organization_id, note)
    writable(conn, "opt_outs").delete((organization_id, recipient))
    return True
