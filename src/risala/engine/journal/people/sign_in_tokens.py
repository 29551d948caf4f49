"""One-time tokens for signing in: a code requested by a browser, or a link."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people import Language, LinkView, SessionKind
from risala.engine.model.people_records import CodeRequest, SignInLink
from risala.engine.rules.people.lifetimes import INVITATION_SHOWN_MS

_REQUESTS: Final = "sign_in_requests"
_LINKS: Final = "one_time_links"
_CHANGES: Final = "email_changes"


_CODE_REQUESTS: Final = Rows(CodeRequest, kind=SessionKind, language=Language)


def request_of(conn: sqlite3.Connection, browser: bytes) -> CodeRequest | None:
    """The request that a browser waits for, even if it has expired."""
    rows = _CODE_REQUESTS.find(table(conn, _REQUESTS), "browser = ?", (browser,))
    return rows[0] if rows else None


def request(conn: sqlite3.Connection, request_id: str) -> CodeRequest | None:
    """A browser that waits for a code, even if the code has expired."""
    rows = _CODE_REQUESTS.find(table(conn, _REQUESTS), "id = ?", (request_id,))
    return rows[0] if rows else None


def ask(conn: sqlite3.Connection, new: CodeRequest) -> None:
    """Store a browser's request in place of its former one."""
    stored = writable(conn, _REQUESTS)
    stored.delete_where("browser = ?", (new.browser,))
    stored.insert(
        {
            "id": new.id,
            "browser": new.browser,
            "kind": new.kind.value,
            "email": new.email,
            "language": new.language.value,
            "attempts": new.attempts,
            "mailed_at": new.mailed_at,
            "expires_at": new.expires_at,
            "created_at": new.created_at,
            "user_id": new.user_id,
        }
    )


def change_request(conn: sqlite3.Connection, request_id: str, values: dict[str, Any]) -> None:
    writable(conn, _REQUESTS).update(request_id, values)


def end_request(conn: sqlite3.Connection, request_id: str) -> None:
    writable(conn, _REQUESTS).delete(request_id)


# -- links


_LINK_ROWS: Final = Rows(SignInLink, kind=SessionKind)


def add_link(conn: sqlite3.Connection, digest: bytes, new: SignInLink) -> None:
    """Store a link; earlier ones for the same user end."""
    stored = writable(conn, _LINKS)
    stored.delete_where("user_id = ?", (new.user_id,))
    stored.insert(
        {
            "hash": digest,
            "user_id": new.user_id,
            "kind": new.kind.value,
            "expires_at": new.expires_at,
        }
    )


def peek_link(conn: sqlite3.Connection, digest: bytes, now_ms: int) -> LinkView | None:
    """The purpose of a link; None: it was used, is too old, or does not exist."""
    link = _link(conn, digest, now_ms)
    return None if link is None else LinkView(link.kind, link.expires_at)


def take_link(conn: sqlite3.Connection, digest: bytes, now_ms: int) -> SignInLink | None:
    """Use a link up; None: it was used, is too old, or does not exist."""
    link = _link(conn, digest, now_ms)
    if link is not None:
        writable(conn, _LINKS).delete((digest,))
    return link


def _link(conn: sqlite3.Connection, digest: bytes, now_ms: int) -> SignInLink | None:
    links = _LINK_ROWS.find(table(conn, _LINKS), "hash = ?", (digest,))
    return links[0] if links and links[0].expires_at > now_ms else None


def forget_over(conn: sqlite3.Connection, now_ms: int) -> None:
    """Delete expired rows."""
    for name in (_REQUESTS, _LINKS, _CHANGES):
        writable(conn, name).delete_where("expires_at <= ?", (now_ms,))
    long_over = now_ms - INVITATION_SHOWN_MS
    writable(conn, "invitations").delete_where("expires_at <= ?", (long_over,))
