"""Credentials for faces other than the API, the callbacks of messages, and each call that a face
owes, as they are stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from risala.dataclass import dataclass
from risala.engine.features.compat.records import (
    Callback,
    CallToMake,
    CompatCredential,
    OwedCall,
    Proof,
)
from risala.engine.journal.accounts import accounts
from risala.engine.journal.sealed.columns import SealedColumn
from risala.engine.journal.state import find_key
from risala.engine.journal.store.named import Rows, columns_of_record
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.webhooks import event_cursors, event_rows
from risala.engine.journal.webhooks.event_rows import EventRow
from risala.engine.model.audit import AuditEntry, Seen
from risala.engine.model.errors import Conflict
from risala.engine.model.events import MessageEvent
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.records.record import audit_image
from risala.engine.model.records.webhooks import DueCall
from risala.engine.rules.sealing import SecretPurpose
from risala.engine.rules.webhooks.schedule import AnswerVerdict

T = TypeVar("T")

CREDENTIALS_MAX: Final = 100
"""The limit per organization: far more systems than one customer connects."""
ROWS_AT_ONCE: Final = 500
"""The limit of one unit of tidying."""
SHIFTS: Final = (
    "UPDATE face_call SET due_at = due_at - :by WHERE state = 'pending' AND due_at > :now",
)
"""Move the times of waits back with the clock."""
_LATER: Final = {"last_used_at", "revoked_at"}
"""What a new credential has not."""
_TABLE: Final = "face_credentials"
SEALED: Final = (
    SealedColumn(
        _TABLE,
        "signer",
        SecretPurpose.CREDENTIAL_SIGNER,
        "risala credential revoke {}, and make another one",
    ),
)
_ROWS: Final = Rows.of_record(CompatCredential)
_PROOFS: Final = Rows(Proof)


def add(conn: sqlite3.Connection, credential: CompatCredential, proof: Proof) -> CompatCredential:
    """Store a credential.

    Raises:
        NotFound: no such organization.
        Conflict: the face has a credential of this name, or the organization has too many.
    """
    accounts.organization(conn, credential.organization_id)
    stored = writable(conn, _TABLE)
    mine = (credential.organization_id,)
    if stored.count_where("organization_id = ? AND revoked_at IS NULL", mine) >= CREDENTIALS_MAX:
        raise Conflict(
            f"An organization can have at most {CREDENTIALS_MAX} credentials. Revoke one first."
        )
    if by_username(conn, credential.face, credential.username) is not None:
        raise Conflict("There is already a credential with this name. Choose another name.")
    kept = {"hash": proof.hash, "salt": proof.salt, "signer": proof.signer}
    stored.insert({**columns_of_record(credential, without=_LATER), **kept})
    return credential


def credential(conn: sqlite3.Connection, credential_id: str) -> CompatCredential:
    """One credential, revoked or not.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), credential_id, "There is no credential {}.")


def seen(conn: sqlite3.Connection, credential_id: str) -> Seen:
    """What the audit trail shows of a credential.

    Raises:
        NotFound: the id is unknown.
    """
    current = credential(conn, credential_id)
    values = audit_image(current)
    values["last4"] = values.pop("last4")  # after the addresses, as entries have always had it
    values["revoked"] = current.revoked_at is not None
    return Seen(current.organization_id, values)


def by_username(conn: sqlite3.Connection, face: str, username: str) -> CompatCredential | None:
    """The credential with a name, if it is not revoked."""
    rows = _ROWS.find(
        table(conn, _TABLE), "face = ? AND username = ? AND revoked_at IS NULL", (face, username)
    )
    return rows[0] if rows else None


def proof(conn: sqlite3.Connection, credential_id: str) -> Proof:
    """What a credential's password is compared with.

    Raises:
        NotFound: the id is unknown.
    """
    return _PROOFS.one(table(conn, _TABLE), credential_id, "There is no credential {}.")


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[CompatCredential]:
    """The credentials of an organization, the oldest first."""
    return _ROWS.find(
        table(conn, _TABLE), "organization_id = ?", (organization_id,), order_by="created_at, id"
    )


def revoke(conn: sqlite3.Connection, credential_id: str, now_ms: int) -> CompatCredential:
    """Revoke a credential for good. Its password's hash is deleted, and so is its place among the
    events, if its face follows them under its name.

    Raises:
        NotFound: the id is unknown.
    """
    current = credential(conn, credential_id)
    if current.revoked_at is None:
        event_cursors.dropped(conn, f"{current.face}:{credential_id}")
        gone = {"revoked_at": now_ms, "hash": b"", "salt": None, "signer": None}
        writable(conn, _TABLE).update(credential_id, gone)
    return credential(conn, credential_id)


def touch(conn: sqlite3.Connection, used: dict[str, int]) -> None:
    """Store when credentials were last used."""
    conn.executemany(
        "UPDATE face_credentials SET last_used_at = ? WHERE id = ?",
        [(at, credential_id) for credential_id, at in used.items()],
    )


# -- callbacks, and calls


def _body(text: str) -> Mapping[str, Any]:
    return dict(json.loads(text))


_CALLBACKS: Final = Rows(Callback, told=_body)
_CALLBACK: Final = f"SELECT {_CALLBACKS.columns} FROM face_callback WHERE message = ?"  # noqa: S608 -- a constant


def registering(callback: Callback, unit: Unit[T]) -> Unit[T]:
    """The unit that accepts a message, which then also stores the callback."""

    def accept(conn: sqlite3.Connection) -> T:
        accepted = unit(conn)
        message_id = getattr(accepted, "id", None)
        if message_id is not None:  # else its key was known: the callback was stored then
            _add_callback(conn, message_id, callback)
        return accepted

    return accept


def _add_callback(conn: sqlite3.Connection, message_id: str, callback: Callback) -> None:
    conn.execute(
        "INSERT INTO face_callback (message, credential, url, told) VALUES (?, ?, ?, ?)",
        (
            find_key(conn, message_id),
            callback.credential,
            callback.url,
            json.dumps(dict(callback.told), ensure_ascii=False, separators=(",", ":")),
        ),
    )


def callback_of(conn: sqlite3.Connection, message: int) -> Callback | None:
    """A message's callback, by its key; None: it has none."""
    row = conn.execute(_CALLBACK, (message,)).fetchone()
    return None if row is None else _CALLBACKS.of(row)


def owe(conn: sqlite3.Connection, calls: Iterable[OwedCall], now_ms: int) -> None:
    """Owe calls, each once even if its event is given again."""
    conn.executemany(
        "INSERT OR IGNORE INTO face_call (event, message, credential, state, due_at, updated_at)"
        " VALUES (?, ?, ?, 'pending', ?, ?)",
        [(each.event, each.message, each.credential, now_ms, now_ms) for each in calls],
    )


_DUE: Final = Rows(DueCall)


def first_due(
    conn: sqlite3.Connection, credential: str, in_flight: Collection[int]
) -> DueCall | None:
    """A credential's next call that is not being made."""
    rows = conn.execute(
        "SELECT event, due_at FROM face_call WHERE credential = ? AND state = 'pending'"
        " ORDER BY due_at LIMIT ?",
        (credential, len(in_flight) + 1),
    ).fetchall()
    return next((due for due in map(_DUE.of, rows) if due.seq not in in_flight), None)


def waiting(conn: sqlite3.Connection) -> list[tuple[str, int]]:
    """Each credential with owed calls, and when the first of them is due."""
    return conn.execute(
        "SELECT credential, min(due_at) FROM face_call WHERE state = 'pending' GROUP BY credential"
    ).fetchall()


@dataclass(frozen=True, slots=True)
class _CallRow:
    message: int
    state: str
    tries: int


_CALLS: Final = Rows(_CallRow)
_CALL: Final = f"SELECT {_CALLS.columns} FROM face_call WHERE event = ?"  # noqa: S608 -- a constant


def begin(conn: sqlite3.Connection, event: int, now_ms: int) -> CallToMake | None:
    """Count an attempt before a byte of it leaves; None: no call is due. The call stays due:
    after a crash it is found again."""
    row_of_call = conn.execute(_CALL, (event,)).fetchone()
    if row_of_call is None or (call := _CALLS.of(row_of_call)).state != "pending":
        return None
    row, callback = event_rows.by_key(conn, event), callback_of(conn, call.message)
    message_event = None if row is None else _message_event(row)
    if row is None or message_event is None or callback is None:
        drop(conn, event, "The event is no longer kept.", now_ms)
        return None
    conn.execute("UPDATE face_call SET tries = tries + 1 WHERE event = ?", (event,))
    return CallToMake(call.message, message_event, row.event_id, callback, call.tries + 1)


def candidate(conn: sqlite3.Connection, event: int) -> CallToMake | None:
    """The call that an event's key may require; None: no callback."""
    row = event_rows.by_key(conn, event)
    message_event = None if row is None else _message_event(row)
    message = None if message_event is None else find_key(conn, message_event.subject)
    callback = None if message is None else callback_of(conn, message)
    if row is None or message_event is None or message is None or callback is None:
        return None
    return CallToMake(message, message_event, row.event_id, callback)


def _message_event(row: EventRow) -> MessageEvent | None:
    event = row.event
    return event if isinstance(event, MessageEvent) else None


def drop(conn: sqlite3.Connection, event: int, why: str, now_ms: int) -> None:
    """Drop a call."""
    conn.execute(
        "UPDATE face_call SET state = 'dropped', error = ?, updated_at = ? WHERE event = ?",
        (why, now_ms, event),
    )


def finish(conn: sqlite3.Connection, event: int, verdict: AnswerVerdict, now_ms: int) -> None:
    """Store the result of an attempt."""
    conn.execute(
        "UPDATE face_call SET state = ?, due_at = ?, status = ?, error = ?, updated_at = ?"
        " WHERE event = ? AND state = 'pending'",
        (verdict.state, verdict.due_at, verdict.status, verdict.error, now_ms, event),
    )


_TIDYING: Final = (
    "DELETE FROM face_call WHERE event IN"
    " (SELECT event FROM face_call WHERE event < ? ORDER BY event LIMIT ?)",
    "DELETE FROM face_callback WHERE message IN"
    " (SELECT message FROM face_callback WHERE message < ? ORDER BY message LIMIT ?)",
)


def tidy(conn: sqlite3.Connection, before_ms: int) -> int:
    """Delete rows about messages and events before a time; returns how many, at most
    :data:`ROWS_AT_ONCE` of each kind."""
    before, taken = before_ms << KEY_COUNTER_BITS, 0
    for statement in _TIDYING:
        taken += conn.execute(statement, (before, ROWS_AT_ONCE)).rowcount
    return taken


def erase(conn: sqlite3.Connection, messages: Sequence[int]) -> None:
    """Delete what there is of messages that are erased, by their keys."""
    going = [(key,) for key in messages]
    conn.executemany("DELETE FROM face_call WHERE message = ?", going)
    conn.executemany("DELETE FROM face_callback WHERE message = ?", going)


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class CredentialRepository:
    """Credentials for faces other than the API. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    by_username = read(by_username)
    credential = read(credential)
    proof = read(proof)
    of_organization = read(of_organization)

    def signer(self, credential_id: str, sealed: bytes) -> bytes:
        """What signs calls for a credential, of its stored proof.

        Raises:
            SecretLost: it cannot be opened.
        """
        purpose = SecretPurpose.CREDENTIAL_SIGNER
        return self._store.sealing.unseal(purpose, credential_id, sealed.decode("latin-1"))

    async def add(
        self, by: AuditEntry | None, credential: CompatCredential, proof: Proof
    ) -> CompatCredential:
        """Store a credential; what signs for it is sealed.

        Raises:
            NotFound: no such organization.
            Conflict: the name is taken, or the organization has too many.
        """
        if proof.signer is not None:
            purpose = SecretPurpose.CREDENTIAL_SIGNER
            sealed = self._store.sealing.seal(purpose, credential.id, proof.signer)
            proof = replace(proof, signer=sealed.encode())
        unit = partial(add, credential=credential, proof=proof)
        return await self._store.commit(unit, by)

    revoke = audited_command(revoke)
    touch = command(touch)


@dataclass(frozen=True, slots=True)
class CallbackRepository:
    """Calls that faces owe. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    registering = staticmethod(registering)
    candidate = read(candidate)
    waiting = read(waiting)
    first_due = read(first_due)

    owe = command(owe)
    begin = command(begin)
    finish = command(finish)
    drop = command(drop)

    async def tidy(self, before_ms: int) -> None:
        """Delete rows about messages and events before a time, a part at a time."""
        while await self._store.commit(partial(tidy, before_ms=before_ms)):
            pass
