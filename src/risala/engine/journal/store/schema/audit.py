"""The audit trail: who did what by hand. It grows and is never changed."""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database

_APPEND_ONLY: Final = (
    "CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log"
    " BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END",
    "CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log"
    " BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END",
)


def make_audit_log(db: Database) -> None:
    """``before`` and ``after`` are JSON, or null: it did not exist, or nothing is recorded."""
    table = db.table("audit_log").create(
        {
            "seq": int,
            "at": int,
            "who": str,
            "face": str,
            "role": str,
            "action": str,
            "organization_id": str,
            "subject": str,
            "before": str,
            "after": str,
        },
        pk="seq",
        not_null={"at", "who", "face", "role", "action"},
        strict=True,
    )
    table.create_index(["organization_id", "seq"], "audit_log_by_organization")
    table.create_index(["action", "seq"], "audit_log_by_action")
    for statement in _APPEND_ONLY:
        db.execute(statement)
