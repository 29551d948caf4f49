"""All data of an organization, part by part: the source of its owner's file.

In the API's forms if it has them. Each part is a short read by a key, so that no snapshot is held
while a large file is written: a message that comes meanwhile may be in it, or not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.own_data.records import ExportedPart
from risala.engine.journal.accounts import accounts, ledger, senders
from risala.engine.journal.accounts import keys as stored_keys
from risala.engine.journal.messages import reads, verifications
from risala.engine.journal.people import members, users
from risala.engine.journal.state import find_key
from risala.engine.journal.store import audit_log
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.opening import open_reader, sqlite_sentence
from risala.engine.journal.store.pages import AccountPart, Json, Read
from risala.engine.journal.webhooks import endpoints
from risala.engine.model.errors import StorageFailed
from risala.engine.model.features import features
from risala.engine.model.records.record import to_json
from risala.engine.model.times import iso
from risala.engine.model.wire import message_wire


def _messages(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    views = reads.after(conn, organization_id, int(after or 0), limit)
    rows = [{**message_wire(view), "kind": view.kind, "mode": view.mode.value} for view in views]
    last = None
    if len(views) == limit:
        key = find_key(conn, views[-1].id)
        assert key is not None, "it was just read by it"
        last = str(key)
    return AccountPart(rows, last)


@dataclass(frozen=True, slots=True)
class _Session:
    row: int
    id: str
    mode: str
    recipient: str
    status: str
    reason: str | None
    attempts: int
    message_id: str
    expires_at: int
    created_at: int
    updated_at: int


_SESSIONS: Final = Rows(_Session, {"row": "rowid"})


def _verifications(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    mode, at, row = (after or "live -1 -1").split()
    sessions = [
        _SESSIONS.of(each)
        for each in conn.execute(
            f"SELECT {_SESSIONS.columns} FROM verifications WHERE organization_id = ?"  # noqa: S608 -- constants
            " AND mode = ? AND (created_at, rowid) > (?, ?) ORDER BY created_at, rowid LIMIT ?",
            (organization_id, mode, int(at), int(row), limit),
        )
    ]
    rows = [
        {
            "id": each.id,
            "mode": each.mode,
            "to": each.recipient,
            "status": each.status,
            "reason": each.reason,
            "attempts": each.attempts,
            "messageId": each.message_id or None,
            "expiresAt": iso(each.expires_at),
            "createdAt": iso(each.created_at),
            "updatedAt": iso(each.updated_at),
        }
        for each in sessions
    ]
    if len(sessions) == limit:
        return AccountPart(rows, f"{mode} {sessions[-1].created_at} {sessions[-1].row}")
    return AccountPart(rows, "test -1 -1" if mode == "live" else None)


def _inbound(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    rows = [
        {
            "id": inbound_id,
            "from": sender,
            "to": recipient,
            "text": body,
            "receivedAt": iso(received_at),
            "sentAt": None if sent_at is None else iso(sent_at),
        }
        for inbound_id, sender, recipient, body, received_at, sent_at in conn.execute(
            "SELECT id, sender, recipient, body, received_at, sent_at FROM inbound"
            " WHERE organization_id = ? AND id > ? ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    return AccountPart(rows, rows[-1]["id"] if len(rows) == limit else None)


def _opt_outs(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    opted_out = conn.execute(
        "SELECT recipient, at FROM opt_outs WHERE organization_id = ? AND recipient > ?"
        " ORDER BY recipient LIMIT ?",
        (organization_id, after, limit),
    )
    rows = [{"number": number, "at": iso(at)} for number, at in opted_out]
    return AccountPart(rows, rows[-1]["number"] if len(rows) == limit else None)


def _ledger(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    numbers = [
        seq
        for (seq,) in conn.execute(
            "SELECT seq FROM entry WHERE seq > ?"
            " AND organization = (SELECT no FROM organizations WHERE id = ?) ORDER BY seq LIMIT ?",
            (int(after or 0), organization_id, limit),
        )
    ]
    rows = [to_json(each) for each in ledger.of_numbers(conn, numbers)]
    return AccountPart(rows, str(numbers[-1]) if len(numbers) == limit else None)


def _audit(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    before = int(after) if after else None
    lines = audit_log.lines(conn, limit, before=before, organization_id=organization_id)
    rows = [{**asdict(each), "at": iso(each.at)} for each in lines]
    return AccountPart(rows, str(lines[-1].seq) if len(lines) == limit else None)


TABLES: Final[Mapping[str, Read]] = {
    "messages": _messages,
    "verifications": _verifications,
    "inbound": _inbound,
    "opt-outs": _opt_outs,
    "ledger": _ledger,
    "audit": _audit,
}
"""The large tables of the core, by the name of the file in the archive."""


def _tables() -> Iterator[tuple[str, Read]]:
    yield from TABLES.items()
    for feature in features():
        for name, declared in feature.exported.items():
            yield name, declared()


def settings(conn: sqlite3.Connection, organization_id: str) -> Json:
    """The small data: the organization, its members, its settings. No secrets."""
    verify = verifications.settings(conn, organization_id)
    values: Json = {
        "organization": to_json(accounts.organization(conn, organization_id)),
        "members": [
            {"email": user.email, "name": user.name, "role": each.role.value}
            for each in members.of_organization(conn, organization_id)
            for user in (users.user(conn, each.user_id),)
        ],
        "keys": [to_json(each) for each in stored_keys.keys(conn, organization_id)],
        "senders": [to_json(each) for each in senders.senders(conn, organization_id)],
        "webhooks": [
            {
                "id": each.id,
                "mode": each.mode,
                "url": each.url,
                "description": each.description,
                "types": list(each.types),
                "headers": sorted(each.headers),
                "mayReply": each.may_reply,
                "enabled": each.enabled,
                "createdAt": iso(each.created_at),
            }
            for each in endpoints.endpoints(conn, organization_id)
        ],
        "verify": None if verify is None else json.loads(verify),
    }
    for feature in features():
        for name, declared in feature.exported_settings.items():
            values[name] = _written(declared()(conn, organization_id))
    return values


def _written(value: Any) -> Any:  # noqa: ANN401 -- what a feature has, and its JSON
    """A record, several, or what is JSON already."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, Sequence):
        return [to_json(each) for each in value]
    return value and to_json(value)


def parts(database: Path, organization_id: str, rows_at_once: int) -> Generator[ExportedPart]:
    """All data of an organization, by a separate connection: the settings, then each table.

    Raises:
        StorageFailed: the disk refused; the sentence says why.
    """
    try:
        with closing(open_reader(database)) as conn:
            yield ExportedPart("settings", [settings(conn, organization_id)])
            for name, read in _tables():
                after: str | None = ""
                while after is not None:
                    part = read(conn, organization_id, after, rows_at_once)
                    after = part.last
                    yield ExportedPart(name, part.rows)
    except sqlite3.Error as error:
        raise StorageFailed(sqlite_sentence(database, error)) from error
