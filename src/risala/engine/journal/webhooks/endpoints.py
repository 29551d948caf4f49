"""Webhook endpoints, and the fan-out of an event to those that asked for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from risala.dataclass import dataclass
from risala.engine.journal.people import mails, users
from risala.engine.journal.sealed.columns import header_of
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import outbox
from risala.engine.model.audit import AuditEntry, Seen
from risala.engine.model.errors import Conflict
from risala.engine.model.people import Language
from risala.engine.model.people_records import MailKind, NewMail
from risala.engine.model.records.record import audit_image, shallow
from risala.engine.model.records.webhooks import (
    BY_HAND,
    HIDDEN_VALUE,
    SETTINGS,
    DisabledNotice,
    Endpoint,
)
from risala.engine.rules.sealing import SecretPurpose

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


_ENDPOINTS: Final = Rows(Endpoint, types=_types, headers=_headers, enabled=bool, may_reply=bool)


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of an endpoint as stored. Types and headers are JSON: the fan-out searches for
    ``"type"`` in it."""
    return {
        name: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if isinstance(value, tuple | Mapping)
        else value
        for name, value in values.items()
    }


def endpoint(conn: sqlite3.Connection, endpoint_id: str) -> Endpoint:
    """One endpoint.

    Raises:
        NotFound: the id is unknown.
    """
    return _ENDPOINTS.one(
        table(conn, _TABLE),
        endpoint_id,
        "There is no webhook endpoint {}.",
        where="id = ? AND deleted_at IS NULL",
    )


def image(conn: sqlite3.Connection, endpoint_id: str) -> Seen:
    """What the audit trail shows of an endpoint: nothing that may contain a secret."""
    stored = endpoint(conn, endpoint_id)
    values = audit_image(stored)
    values |= {"url": _origin(stored.url), "headers": sorted(stored.headers)}
    values["template"] = len(stored.template)
    return Seen(stored.organization_id, values)


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
    stored = endpoint(conn, endpoint_id)
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
    return stored


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


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class EndpointRepository:
    """Webhook endpoints: a few for each organization. All reads are on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    endpoint = read(endpoint)
    of_organization = read(endpoints)
    next_notice = read(next_notice)

    # -- commands

    async def add(self, by: AuditEntry | None, new: Endpoint, secret: str) -> Endpoint:
        """Store a new endpoint; its secret and the values of its headers are sealed.

        Raises:
            Conflict: the organization has as many as it may.
        """
        sealed = replace(new, headers=self._sealed(new.id, new.headers))
        unit = partial(add, new=sealed, secret=self._sealed_secret(new.id, secret))
        return await self._store.commit(unit, by)

    async def change(
        self,
        by: AuditEntry | None,
        endpoint_id: str,
        settings: Mapping[str, Any],
        now_ms: int,
    ) -> Endpoint:
        """Change settings of an endpoint; the values of its headers are sealed.

        Raises:
            NotFound: the id is unknown.
        """
        if "headers" in settings:
            settings = {**settings, "headers": self._sealed(endpoint_id, settings["headers"])}
        unit = partial(change, endpoint_id=endpoint_id, settings=settings, now_ms=now_ms)
        return await self._store.commit(unit, by)

    async def rotate(
        self,
        by: AuditEntry | None,
        endpoint_id: str,
        secret: str,
        now_ms: int,
        *,
        at_once: bool,
    ) -> Endpoint:
        """Sign by a new secret, which is sealed; by the old one too for 24 hours, unless it is to
        end ``at_once``.

        Raises:
            NotFound: the id is unknown.
            Conflict: the secret before the present one still signs.
        """
        unit = partial(
            rotate,
            endpoint_id=endpoint_id,
            secret=self._sealed_secret(endpoint_id, secret),
            now_ms=now_ms,
            at_once=at_once,
        )
        return await self._store.commit(unit, by)

    set_enabled = audited_command(set_enabled)
    delete = audited_command(delete)
    owe_test = audited_command(outbox.trial_event)

    def _sealed_secret(self, endpoint_id: str, secret: str) -> str:
        purpose = SecretPurpose.WEBHOOK_SECRET
        return self._store.sealing.seal(purpose, endpoint_id, secret.encode())

    def _sealed(self, endpoint_id: str, headers: Mapping[str, str]) -> dict[str, str]:
        seal, purpose = self._store.sealing.seal, SecretPurpose.WEBHOOK_HEADER
        return {
            name: seal(purpose, header_of(endpoint_id, name), value.encode())
            for name, value in headers.items()
        }

    async def owe_notice(self, notice: DisabledNotice, operator: str | None, now_ms: int) -> int:
        """Owe the mails of a notice, which is settled by that; returns how many they are.

        Args:
            operator: the address to notify if there is no other.
        """
        unit = partial(_owe_notice, notice=notice, operator=operator, now_ms=now_ms)
        return await self._store.commit(unit)


def _owe_notice(
    conn: sqlite3.Connection, notice: DisabledNotice, operator: str | None, now_ms: int
) -> int:
    endpoint = notice.endpoint
    details = {
        "organization": endpoint.organization_id,
        "endpoint": endpoint.id,
        "reason": endpoint.disabled_reason,
        "at": endpoint.updated_at,
    }
    kind, organization_id = MailKind.WEBHOOK_DISABLED, endpoint.organization_id
    addresses = mails.owe_owners(conn, organization_id, kind, details, now_ms)
    also = endpoint.notify or (None if addresses else operator)
    if also is not None and also.lower() not in addresses:
        known = users.by_email(conn, also.lower())
        language = Language.FRENCH if known is None else known.language
        mails.owe(conn, NewMail(kind, also, language, details), now_ms)
        addresses = [*addresses, also]
    settle_notice(conn, endpoint.id, None)
    return len(addresses)
