"""Credentials for faces other than the API, as rows."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import event_cursors
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.accounts import Proof
from risala.engine.model.records.credentials import CompatCredential
from risala.engine.model.records.record import audit_image

CREDENTIALS_MAX: Final = 100
"""The limit per organization: far more systems than one customer connects."""
_TABLE: Final = "face_credentials"
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
    allowed = credential.allowed_addresses
    stored.insert(
        {
            "id": credential.id,
            "organization_id": credential.organization_id,
            "face": credential.face,
            "username": credential.username,
            "hash": proof.hash,
            "salt": proof.salt,
            "signer": proof.signer,
            "last4": credential.last4,
            "mode": credential.mode.value,
            "name": credential.name,
            "sender": credential.sender,
            "allowed_addresses": None if allowed is None else json.dumps(allowed),
            "created_at": credential.created_at,
            "created_by": credential.created_by,
            "hears": credential.hears,
        }
    )
    return credential


def credential(conn: sqlite3.Connection, credential_id: str) -> CompatCredential:
    """One credential, revoked or not.

    Raises:
        NotFound: the id is unknown.
    """
    found = _ROWS.find(table(conn, _TABLE), "id = ?", (credential_id,))
    if not found:
        raise NotFound(f"There is no credential {credential_id}.")
    return found[0]


def seen(conn: sqlite3.Connection, credential_id: str) -> Seen:
    """What the audit trail shows of a credential.

    Raises:
        NotFound: the id is unknown.
    """
    found = credential(conn, credential_id)
    values = audit_image(found)
    values["last4"] = values.pop("last4")  # after the addresses, as entries have always had it
    values["revoked"] = found.revoked_at is not None
    return Seen(found.organization_id, values)


def by_username(conn: sqlite3.Connection, face: str, username: str) -> CompatCredential | None:
    """The credential with a name, if it is not revoked."""
    found = _ROWS.find(
        table(conn, _TABLE), "face = ? AND username = ? AND revoked_at IS NULL", (face, username)
    )
    return found[0] if found else None


def proof(conn: sqlite3.Connection, credential_id: str) -> Proof:
    """What a credential's password is compared with.

    Raises:
        NotFound: the id is unknown.
    """
    found = _PROOFS.find(table(conn, _TABLE), "id = ?", (credential_id,))
    if not found:
        raise NotFound(f"There is no credential {credential_id}.")
    return found[0]


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
    found = credential(conn, credential_id)
    if found.revoked_at is None:
        event_cursors.dropped(conn, f"{found.face}:{credential_id}")
        gone = {"revoked_at": now_ms, "hash": b"", "salt": None, "signer": None}
        writable(conn, _TABLE).update(credential_id, gone)
    return credential(conn, credential_id)


def touch(conn: sqlite3.Connection, used: dict[str, int]) -> None:
    """Store when credentials were last used."""
    conn.executemany(
        "UPDATE face_credentials SET last_used_at = ? WHERE id = ?",
        [(at, credential_id) for credential_id, at in used.items()],
    )
