"""Webhook endpoints, and the fan-out of an event to those that asked for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.errors import Conflict, NotFound

ENDPOINTS_MAX: Final = 20
"""Of one organization: each event is written down once for each that asks for it."""
ROTATION_MS: Final = 24 * 3_600_000
"""So long an old secret signs beside the new one (contract §5)."""
FAILING_MS: Final = 5 * 24 * 3_600_000
"""An endpoint that has failed so long is disabled (contract §5)."""

_COLUMNS: Final = (
    "id, organization_id, mode, url, description, types, headers, notify, enabled,"
    " disabled_reason, failing_since, previous_until, created_at, updated_at"
)
_CHANGEABLE: Final = frozenset({"url", "description", "types", "headers", "notify"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an organization's events go. Its secrets stay in the journal."""

    id: str
    organization_id: str
    mode: str
    url: str
    description: str
    types: tuple[str, ...]
    headers: Mapping[str, str]
    notify: str | None
    enabled: bool
    disabled_reason: str | None
    failing_since: int | None
    previous_until: int | None
    created_at: int
    updated_at: int


def _endpoint(row: Sequence[Any]) -> Endpoint:
    values = [*row]
    values[5] = tuple(json.loads(values[5]))
    values[6] = json.loads(values[6])
    values[8] = bool(values[8])
    return Endpoint(*values)


def packed(value: Sequence[str] | Mapping[str, str]) -> str:
    """Types or headers as they stand in their column; the fan-out looks for ``"type"`` in it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fan_out(
    conn: sqlite3.Connection, event_id: str, organization_id: str, mode: str, kind: str, now_ms: int
) -> None:
    """Owe an event to each endpoint that asked for its type; part of the unit that writes it."""
    conn.execute(
        "INSERT INTO webhook_deliveries (endpoint_id, event_id, state, due_at, created_at,"
        " updated_at) SELECT id, ?, 'pending', ?, ?, ? FROM webhook_endpoints"
        " WHERE organization_id = ? AND mode = ? AND enabled = 1 AND instr(types, ?) > 0",
        (event_id, now_ms, now_ms, now_ms, organization_id, mode, f'"{kind}"'),
    )


def owe(conn: sqlite3.Connection, event_id: str, endpoint_id: str, now_ms: int) -> None:
    """Owe an event to one endpoint, whether it asked for it or not."""
    conn.execute(
        "INSERT INTO webhook_deliveries (endpoint_id, event_id, state, due_at, created_at,"
        " updated_at) VALUES (?, ?, 'pending', ?, ?, ?)",
        (endpoint_id, event_id, now_ms, now_ms, now_ms),
    )


def endpoint(conn: sqlite3.Connection, endpoint_id: str) -> Endpoint:
    """One endpoint.

    Raises:
        NotFound: there is none of this id.
    """
    row = conn.execute(
        f"SELECT {_COLUMNS} FROM webhook_endpoints WHERE id = ? AND deleted_at IS NULL",  # noqa: S608 -- constants
        (endpoint_id,),
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no webhook endpoint {endpoint_id}.")
    return _endpoint(row)


def endpoints(conn: sqlite3.Connection, organization_id: str) -> list[Endpoint]:
    """An organization's endpoints, the oldest first."""
    rows = conn.execute(
        f"SELECT {_COLUMNS} FROM webhook_endpoints"  # noqa: S608 -- constants
        " WHERE organization_id = ? AND deleted_at IS NULL ORDER BY id",
        (organization_id,),
    )
    return [_endpoint(row) for row in rows]


def add(conn: sqlite3.Connection, new: Endpoint, secret: str) -> Endpoint:
    """Store a new endpoint.

    Raises:
        Conflict: the organization has as many as it may.
    """
    if len(endpoints(conn, new.organization_id)) >= ENDPOINTS_MAX:
        raise Conflict(f"An organization has at most {ENDPOINTS_MAX} webhook endpoints.")
    conn.execute(
        "INSERT INTO webhook_endpoints (id, organization_id, mode, url, description, types,"
        " headers, notify, secret, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(new.id, new.organization_id, new.mode, new.url, new.description),
            *(packed(new.types), packed(new.headers), new.notify, secret),
            *(new.created_at, new.created_at),
        ),
    )
    return endpoint(conn, new.id)


def change(
    conn: sqlite3.Connection, endpoint_id: str, values: Mapping[str, str | None], now_ms: int
) -> Endpoint:
    """Set columns of an endpoint.

    Raises:
        NotFound: there is none of this id.
    """
    endpoint(conn, endpoint_id)
    assert values.keys() <= _CHANGEABLE
    columns = "".join(f"{name} = ?, " for name in values)
    conn.execute(
        f"UPDATE webhook_endpoints SET {columns}updated_at = ? WHERE id = ?",  # noqa: S608 -- names checked above
        (*values.values(), now_ms, endpoint_id),
    )
    return endpoint(conn, endpoint_id)


def set_enabled(
    conn: sqlite3.Connection, endpoint_id: str, now_ms: int, *, enabled: bool
) -> Endpoint:
    """Enable an endpoint, which forgets its failures, or disable it by its owner's wish.

    Raises:
        NotFound: there is none of this id.
    """
    if endpoint(conn, endpoint_id).enabled != enabled:
        conn.execute(
            "UPDATE webhook_endpoints SET enabled = ?, disabled_reason = ?, failing_since = NULL,"
            " notice_due_at = NULL, updated_at = ? WHERE id = ?",
            (int(enabled), None if enabled else "owner", now_ms, endpoint_id),
        )
    return endpoint(conn, endpoint_id)


def disable_broken(conn: sqlite3.Connection, endpoint_id: str, reason: str, now_ms: int) -> bool:
    """Disable an endpoint for ``gone`` or ``failing``, and owe its owner a word; True if new."""
    disabled = conn.execute(
        "UPDATE webhook_endpoints SET enabled = 0, disabled_reason = ?, notice_due_at = ?,"
        " notice_tries = 0, updated_at = ? WHERE id = ? AND enabled = 1",
        (reason, now_ms, now_ms, endpoint_id),
    )
    return disabled.rowcount > 0


def rotate(
    conn: sqlite3.Connection, endpoint_id: str, secret: str, now_ms: int, *, at_once: bool
) -> Endpoint:
    """Sign by a new secret; by the old one too for 24 hours, unless it is to end ``at_once``.

    Raises:
        NotFound: there is none of this id.
        Conflict: the secret before the present one still signs.
    """
    until = endpoint(conn, endpoint_id).previous_until
    if not at_once and until is not None and until > now_ms:
        raise Conflict(
            "The secret was rotated within the last 24 hours and the old one still signs;"
            " rotate again later, or end the old secrets at once."
        )
    conn.execute(
        "UPDATE webhook_endpoints SET previous_secret = CASE WHEN ? THEN NULL ELSE secret END,"
        " previous_until = ?, secret = ?, updated_at = ? WHERE id = ?",
        (at_once, None if at_once else now_ms + ROTATION_MS, secret, now_ms, endpoint_id),
    )
    return endpoint(conn, endpoint_id)


def delete(conn: sqlite3.Connection, endpoint_id: str, now_ms: int) -> Endpoint:
    """Forget an endpoint and its secrets; the log of its deliveries stays.

    Raises:
        NotFound: there is none of this id.
    """
    found = endpoint(conn, endpoint_id)
    conn.execute(
        "UPDATE webhook_endpoints SET enabled = 0, disabled_reason = 'owner', deleted_at = ?,"
        " secret = '', previous_secret = NULL, headers = '{}', notice_due_at = NULL,"
        " updated_at = ? WHERE id = ?",
        (now_ms, now_ms, endpoint_id),
    )
    return found


@dataclass(frozen=True, slots=True)
class Notice:
    """An owner who is to be told that an endpoint was disabled."""

    endpoint: Endpoint
    due_at: int
    tries: int


def next_notice(conn: sqlite3.Connection) -> Notice | None:
    """The notice that is due first."""
    row = conn.execute(
        f"SELECT {_COLUMNS}, notice_due_at, notice_tries FROM webhook_endpoints"  # noqa: S608 -- constants
        " WHERE notice_due_at IS NOT NULL ORDER BY notice_due_at LIMIT 1"
    ).fetchone()
    return None if row is None else Notice(_endpoint(row[:-2]), row[-2], row[-1])


def settle_notice(conn: sqlite3.Connection, endpoint_id: str, again_at: int | None) -> None:
    """A notice was sent, or given up (None), or is to be tried again."""
    conn.execute(
        "UPDATE webhook_endpoints SET notice_due_at = ?, notice_tries = notice_tries + 1"
        " WHERE id = ? AND notice_due_at IS NOT NULL",
        (again_at, endpoint_id),
    )
