"""The tables of people: users, their sign-in, and the mails that are owed to them.

None of them has a code or a token: codes are derived when a mail leaves, and of tokens only the
hash is stored.
"""

from __future__ import annotations

from typing import Any, Final

from sqlite_utils import Database

_TABLES: Final[dict[str, dict[str, Any]]] = {
    "users": {
        "id": str,
        "email": str,
        "name": str,
        "language": str,
        "operator": int,
        "created_at": int,
        "updated_at": int,
        "seen_at": int,
    },
    "members": {
        "organization_id": str,
        "user_id": str,
        "role": str,
        "created_at": int,
        "updated_at": int,
    },
    "invitations": {
        "id": str,
        "organization_id": str,
        "email": str,
        "role": str,
        "invited_by": str,
        "created_at": int,
        "expires_at": int,
    },
    "web_sessions": {
        "id": str,
        "user_id": str,
        "kind": str,
        "hash": bytes,
        "previous_hash": bytes,
        "previous_until": int,
        "stale": int,
        "agent": str,
        "address": str,
        "created_at": int,
        "used_at": int,
        "expires_at": int,
    },
    "sign_in_requests": {
        "id": str,
        "browser": bytes,
        "kind": str,
        "email": str,
        "language": str,
        "attempts": int,
        "mailed_at": int,
        "expires_at": int,
        "created_at": int,
    },
    "one_time_links": {
        "hash": bytes,
        "user_id": str,
        "kind": str,
        "expires_at": int,
    },
    "email_changes": {
        "user_id": str,
        "id": str,
        "email": str,
        "old_confirmed": int,
        "new_confirmed": int,
        "attempts": int,
        "expires_at": int,
    },
    "mails": {
        "seq": int,
        "kind": str,
        "recipient": str,
        "language": str,
        "details": str,
        "due_at": int,
        "tries": int,
        "useless_at": int,
        "created_at": int,
        "settled_at": int,
        "outcome": str,
    },
}
_KEYS: Final[dict[str, str | tuple[str, ...]]] = {
    "users": "id",
    "members": ("organization_id", "user_id"),
    "invitations": "id",
    "web_sessions": "id",
    "sign_in_requests": "id",
    "one_time_links": "hash",
    "email_changes": "user_id",
    "mails": "seq",
}
_MAYBE: Final = {"seen_at", "previous_hash", "previous_until", "settled_at", "outcome"}
_POINTS: Final = {"organization_id": "organizations", "user_id": "users"}
_INDEXES: Final = (
    ("users", ("email",), True),
    ("members", ("user_id",), False),
    ("invitations", ("organization_id", "email"), True),
    ("invitations", ("email",), False),
    ("web_sessions", ("hash",), True),
    ("web_sessions", ("previous_hash",), False),
    ("web_sessions", ("user_id",), False),
    ("web_sessions", ("expires_at",), False),
    ("sign_in_requests", ("browser",), True),
    ("sign_in_requests", ("expires_at",), False),
    ("one_time_links", ("expires_at",), False),
    # The last editor of an object: an edit is compared with it.
    ("audit_log", ("subject", "seq"), False),
)
_QUEUE: Final = (
    "CREATE INDEX mails_due ON mails (due_at) WHERE settled_at IS NULL",
    "CREATE INDEX mails_settled ON mails (settled_at) WHERE settled_at IS NOT NULL",
)


def make_people(db: Database) -> None:
    for name, columns in _TABLES.items():
        key = _KEYS[name]
        keys = {key} if isinstance(key, str) else set(key)
        db.table(name).create(
            columns,
            pk=key,
            not_null=set(columns) - _MAYBE - (keys if name == "mails" else set()),
            foreign_keys=[(each, _POINTS[each], "id") for each in columns if each in _POINTS],
            strict=True,
        )
    for name, indexed, unique in _INDEXES:
        title = f"{name}_by_{'_'.join(each.removesuffix('_id') for each in indexed)}"
        db.table(name).create_index(indexed, title, unique=unique)
    for statement in _QUEUE:
        db.execute(statement)


SIGN_IN_FAILURES: Final = """
CREATE TABLE sign_in_failures (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  -- Of whose pages: customer, operator.
  kind TEXT NOT NULL,
  -- A user's address, else the hash of what was typed; empty: of no address alone.
  email TEXT NOT NULL,
  -- Of the client.
  address TEXT NOT NULL,
  -- wrong_code, not_allowed, expired, held_up, link, limited, slowed.
  reason TEXT NOT NULL,
  -- 1: somebody signed in on this browser with this address before.
  known_browser INTEGER NOT NULL,
  -- 1: the audit trail has a line for it.
  audited INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_failures_by_address ON sign_in_failures (kind, email, at);
CREATE INDEX sign_in_failures_audited ON sign_in_failures (at) WHERE audited = 1
"""

SLOW_FAILURES: Final = """
-- 1: the slow windows of an operator count it: a stranger's wrong code.
ALTER TABLE sign_in_failures ADD COLUMN slow INTEGER NOT NULL DEFAULT 0;
UPDATE sign_in_failures SET slow = 1
  WHERE kind = 'operator' AND reason = 'wrong_code' AND known_browser = 0
  AND email IN (SELECT email FROM users WHERE operator = 1);
-- What strangers typed is hashed from now on, by a key that no migration has.
UPDATE sign_in_failures SET email = ''
  WHERE email <> '' AND email NOT IN (SELECT email FROM users);
CREATE INDEX sign_in_failures_slow ON sign_in_failures (seq) WHERE slow = 1
"""
