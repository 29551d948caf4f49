"""Webhook endpoints, and the fan-out of an event to those that asked for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.events import EventType
from risala.engine.model.records.record import audit_image, shallow
from risala.engine.model.records.webhooks import (
    BY_HAND,
    HIDDEN_VALUE,
    SETTINGS,
    DisabledNotice,
    Endpoint,
)

ENDPOINTS_MAX: Final = 20
"""Per organization: each event is stored once for each endpoint that wants it."""
ROTATION_MS: Final = 24 * 3_600_000
"""How long an old secret signs beside the new one (contract §5)."""
FAILING_MS: Final = 5 * 24 * 3_600_000
"""An endpoint that has failed for this long is disabled (contract §5)."""

_TABLE: Final = "webhook_endpoints"


def _types(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _headers(text: str) -> dict[str, str]:
    """The names of headers. Their values may be secrets."""
    return dict.fromkeys(json.loads(text), HIDDEN_VALUE)


_ENDPOINTS: Final = Rows(Endpoint, types=_types, headers=_headers, enabled=bool)


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of an endpoint as stored. Types and headers are JSON: the fan-out searches for
    ``"type"`` in it."""
    return {
        name: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if isinstance(value, tuple | Mapping)
        else value
        for name, value in values.items()
    }


class Announced(Protocol):
    """What the fan-out needs of an event."""

    @property
    def type(self) -> EventType: ...
    @property
    def organization_id(self) -> str: ...
    @property
    def mode(self) -> str: ...


class FanOut:
    """The endpoints for the events of one unit of work: looked up once for each type."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._known: dict[tuple[str, str, str], list[str]] = {}

    def endpoints(self, event: Announced) -> list[str]:
        """The endpoints with this type of event."""
        kind = (event.organization_id, event.mode, event.type)
        known = self._known.get(kind)
        if known is None:
            rows = self._conn.execute(
                "SELECT id FROM webhook_endpoints WHERE organization_id = ? AND mode = ?"
                " AND enabled = 1 AND instr(types, ?) > 0",
                (event.organization_id, event.mode, f'"{event.type}"'),
            )
            known = self._known[kind] = [endpoint_id for (endpoint_id,) in rows]
        return known


def owe(conn: sqlite3.Connection, owed: Iterable[tuple[str, int, int]]) -> None:
    """Owe events to endpoints: endpoint, the event's key, when it is due. Part of the unit that
    writes the events."""
    conn.executemany(
        "INSERT INTO webhook_delivery (endpoint_id, event, state, due_at, created_at, updated_at)"
        " VALUES (?1, ?2, 'pending', ?3, ?3, ?3)",
        owed,
    )


def endpoint(conn: sqlite3.Connection, endpoint_id: str) -> Endpoint:
    """One endpoint.

    Raises:
        NotFound: the id is unknown.
    """
    found = _ENDPOINTS.find(table(conn, _TABLE), "id = ? AND deleted_at IS NULL", (endpoint_id,))
    if not found:
        raise NotFound(f"There is no webhook endpoint {endpoint_id}.")
    return found[0]


def image(conn: sqlite3.Connection, endpoint_id: str) -> Seen:
    """What the audit trail shows of an endpoint: nothing that may contain a secret."""
    found = endpoint(conn, endpoint_id)
    values = audit_image(found)
    values |= {"url": _origin(found.url), "headers": sorted(found.headers)}
    values["template"] = len(found.template)
    return Seen(found.organization_id, values)


def _origin(url: str) -> str:
    """Scheme and host of a URL, without its path and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}"


def endpoints(conn: sqlite3.Connection, organization_id: str) -> list[Endpoint]:
    """An organization's endpoints, the oldest first."""
    return _ENDPOINTS.find(
        table(conn, _TABLE),
        "organization_id = ? AND deleted_at IS NULL",
        (organization_id,),
        order_by="id",
    )


def add(conn: sqlite3.Connection, new: Endpoint, secret: str) -> Endpoint:
    """Store a new endpoint.

    Raises:
        Conflict: the organization has as many as it may.
    """
    if len(endpoints(conn, new.organization_id)) >= ENDPOINTS_MAX:
        text = (
            f"An organization can have at most {ENDPOINTS_MAX} webhook endpoints. Delete one first."
        )
        raise Conflict(text, "TOO_MANY_ENDPOINTS")
    writable(conn, _TABLE).insert({**_columns(shallow(new)), "secret": secret})
    return endpoint(conn, new.id)


def change(
    conn: sqlite3.Connection, endpoint_id: str, settings: Mapping[str, Any], now_ms: int
) -> Endpoint:
    """Change settings of an endpoint.

    Raises:
        NotFound: the id is unknown.
    """
    endpoint(conn, endpoint_id)
    assert settings.keys() <= {*SETTINGS}
    writable(conn, _TABLE).update(endpoint_id, {**_columns(settings), "updated_at": now_ms})
    return endpoint(conn, endpoint_id)


def set_enabled(
    conn: sqlite3.Connection, endpoint_id: str, now_ms: int, *, enabled: bool
) -> Endpoint:
    """Enable an endpoint, which forgets its failures, or disable it by its owner's wish.

    Raises:
        NotFound: the id is unknown.
    """
    if endpoint(conn, endpoint_id).enabled != enabled:
        writable(conn, _TABLE).update(
            endpoint_id,
            {
                "enabled": enabled,
                "disabled_reason": None if enabled else BY_HAND,
                "failing_since": None,
                "notice_due_at": None,
                "updated_at": now_ms,
            },
        )
    return endpoint(conn, endpoint_id)


def disable_broken(conn: sqlite3.Connection, endpoint_id: str, reason: str, now_ms: int) -> bool:
    """Disable an endpoint for ``gone`` or ``failing``, and owe its owner a notice; True if new."""
    stored = writable(conn, _TABLE)
    if not stored.count_where("id = ? AND enabled = 1", (endpoint_id,)):
        return False
    stored.update(
        endpoint_id,
        {
            "enabled": False,
            "disabled_reason": reason,
            "notice_due_at": now_ms,
            "notice_tries": 0,
            "updated_at": now_ms,
        },
    )
    return True


def rotate(
    conn: sqlite3.Connection, endpoint_id: str, secret: str, now_ms: int, *, at_once: bool
) -> Endpoint:
    """Sign by a new secret; by the old one too for 24 hours, unless it is to end ``at_once``.

    Raises:
        NotFound: the id is unknown.
        Conflict: the secret before the present one still signs.
    """
    until = endpoint(conn, endpoint_id).previous_until
    if not at_once and until is not None and until > now_ms:
        raise Conflict(
            "The secret was rotated within the last 24 hours and the old one still signs;"
            " rotate again later, or end the old secrets at once.",
            "ROTATED_LATELY",
        )
    stored = writable(conn, _TABLE)
    stored.update(
        endpoint_id,
        {
            "previous_secret": None if at_once else stored.get(endpoint_id)["secret"],
            "previous_until": None if at_once else now_ms + ROTATION_MS,
            "secret": secret,
            "updated_at": now_ms,
        },
    )
    return endpoint(conn, endpoint_id)


def delete(conn: sqlite3.Connection, endpoint_id: str, now_ms: int) -> Endpoint:
    """Delete an endpoint and its secrets; the log of its deliveries stays.

    Raises:
        NotFound: the id is unknown.
    """
    found = endpoint(conn, endpoint_id)
    writable(conn, _TABLE).update(
        endpoint_id,
        {
            "enabled": False,
            "disabled_reason": BY_HAND,
            "deleted_at": now_ms,
            "secret": "",
            "previous_secret": None,
            "headers": "{}",
            "notice_due_at": None,
            "updated_at": now_ms,
        },
    )
    return found


def next_notice(
    conn: sqlite3.Connection, besides: Collection[str] = (), broken: BrokenRow | None = None
) -> DisabledNotice | None:
    """The notice that is due first, of other endpoints than these."""
    rows = table(conn, _TABLE).rows_where(
        "notice_due_at IS NOT NULL",
        select="id, notice_due_at, notice_tries",
        order_by="notice_due_at",
    )
    for row in rows:
        if row["id"] in besides:
            continue
        for endpoint in _ENDPOINTS.find(table(conn, _TABLE), "id = ?", (row["id"],), broken=broken):
            return DisabledNotice(endpoint, row["notice_due_at"], row["notice_tries"])
    return None


def settle_notice(conn: sqlite3.Connection, endpoint_id: str, again_at: int | None) -> None:
    """A notice was sent, or given up (None), or is to be tried again."""
    stored = writable(conn, _TABLE)
    for row in stored.rows_where("id = ? AND notice_due_at IS NOT NULL", (endpoint_id,)):
        tries = row["notice_tries"] + 1
        stored.update(endpoint_id, {"notice_due_at": again_at, "notice_tries": tries})
