"""Webhook endpoints, and the deliveries that are owed to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.pages import behind
from risala.engine.journal.pages import deliveries as lists
from risala.engine.journal.people import mails, users
from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.journal.webhooks import deliveries, endpoints, history, outbox
from risala.engine.model.audit import AuditEntry
from risala.engine.model.people import Language
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.webhooks import (
    DisabledNotice,
    Endpoint,
    EndpointValue,
    WebhookDelivery,
)


@dataclass(frozen=True, slots=True)
class EndpointRepository:
    """Webhook endpoints: a few for each organization. All reads are on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    endpoint = read(endpoints.endpoint)
    of_organization = read(endpoints.endpoints)
    next_notice = read(endpoints.next_notice)

    # -- commands

    async def add(self, new: Endpoint, secret: str, *, by: AuditEntry | None = None) -> Endpoint:
        """Store a new endpoint.

        Raises:
            Conflict: the organization has as many as it may.
        """
        return await self._store.commit(partial(endpoints.add, new=new, secret=secret), by)

    async def change(
        self,
        endpoint_id: str,
        values: Mapping[str, EndpointValue],
        now_ms: int,
        *,
        by: AuditEntry | None = None,
    ) -> Endpoint:
        """Set fields of an endpoint.

        Raises:
            NotFound: the id is unknown.
        """
        given = (endpoint_id, values, now_ms)
        return await self._store.commit(lambda conn: endpoints.change(conn, *given), by)

    async def set_enabled(
        self, endpoint_id: str, now_ms: int, *, enabled: bool, by: AuditEntry | None = None
    ) -> Endpoint:
        """Enable an endpoint, which forgets its failures, or disable it by its owner's wish.

        Raises:
            NotFound: the id is unknown.
        """
        given = (endpoint_id, now_ms)
        return await self._store.commit(
            lambda conn: endpoints.set_enabled(conn, *given, enabled=enabled), by
        )

    async def rotate(
        self,
        endpoint_id: str,
        secret: str,
        now_ms: int,
        *,
        at_once: bool,
        by: AuditEntry | None = None,
    ) -> Endpoint:
        """Sign by a new secret; by the old one too for a time, unless it is to end ``at_once``.

        Raises:
            NotFound: the id is unknown.
            Conflict: the secret before the present one still signs.
        """
        given = (endpoint_id, secret, now_ms)
        return await self._store.commit(
            lambda conn: endpoints.rotate(conn, *given, at_once=at_once), by
        )

    async def delete(
        self, endpoint_id: str, now_ms: int, *, by: AuditEntry | None = None
    ) -> Endpoint:
        """Delete an endpoint and its secrets; the log of its deliveries stays.

        Raises:
            NotFound: the id is unknown.
        """
        unit = partial(endpoints.delete, endpoint_id=endpoint_id, now_ms=now_ms)
        return await self._store.commit(unit, by)

    async def owe_test(
        self, endpoint: Endpoint, now_ms: int, *, by: AuditEntry | None = None
    ) -> str:
        """Owe a test event to an endpoint, whatever its types; returns the event's id."""
        unit = partial(outbox.trial_event, endpoint=endpoint, now_ms=now_ms)
        return await self._store.commit(unit, by)

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
        "endpoint": endpoint.id,
        "reason": endpoint.disabled_reason,
        "at": endpoint.updated_at,
    }
    kind, organization_id = MailKind.WEBHOOK_DISABLED, endpoint.organization_id
    told = mails.owe_owners(conn, organization_id, kind, details, now_ms)
    also = endpoint.notify or (None if told else operator)
    if also is not None and also.lower() not in told:
        known = users.by_email(conn, also.lower())
        language = Language.FRENCH if known is None else known.language
        mails.owe(conn, NewMail(kind, also, language, details), now_ms)
        told = [*told, also]
    endpoints.settle_notice(conn, endpoint.id, None)
    return len(told)


@dataclass(frozen=True, slots=True)
class DeliveryRepository:
    """Deliveries of events to endpoints, and each one's attempts. All reads are by an index, on
    the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    delivery = read(history.delivery)
    attempts = read(history.attempts)
    body = read(history.body)

    def page(
        self, endpoint_id: str, state: str | None, steps: Steps
    ) -> CursorPage[WebhookDelivery]:
        """An endpoint's deliveries, the newest first; of one state, or of all."""
        reader = self._store.reader
        page = lists.page(reader, endpoint_id, state, steps)
        end = None if page.looked_to is None else history.shown(reader, page.looked_to)
        found = tuple(history.shown(reader, row) for row in page.found)
        return CursorPage(found, page.newer, page.older, end)

    summed = read(lists.summed)
    pending_count = read(history.pending)
    failed_count = read(history.failed_since)
    waiting = read(deliveries.waiting)
    behind = read(behind.webhooks)
    last_seq = read(deliveries.last_seq)
    after = read(deliveries.after)
    first_due = read(deliveries.first_due)

    # -- commands

    begin = command(deliveries.begin)
    finish = command(deliveries.finish)

    async def end_pending(self, endpoint_id: str, now_ms: int) -> None:
        """End all that is owed to an endpoint that is disabled or deleted, some hundreds at a time.

        Deliveries that a crash or a full disk leaves over end when their turn comes.
        """
        unit = partial(deliveries.end_pending, endpoint_id=endpoint_id, now_ms=now_ms)
        while await self._store.commit(unit):
            pass

    async def replay(
        self, endpoint_id: str, event_id: str, now_ms: int, *, by: AuditEntry
    ) -> WebhookDelivery:
        """Make one delivery due again, even a delivered one.

        Raises:
            NotFound: no such endpoint or delivery.
            Conflict: the endpoint is disabled, or the delivery is already under way.
        """
        given = (endpoint_id, event_id, now_ms)
        return await self._store.commit(lambda conn: history.replay(conn, *given), by)

    async def replay_failed(
        self, endpoint_id: str, since_ms: int, until_ms: int, now_ms: int, *, by: AuditEntry
    ) -> tuple[int, bool]:
        """Make the next failed deliveries of events since then due again; how many, and whether
        that was all.

        Args:
            until_ms: those that failed later are left.

        Raises:
            NotFound, Conflict: no such endpoint, or it is disabled.
        """
        given = (endpoint_id, since_ms, until_ms, now_ms)
        done = await self._store.commit(lambda conn: history.replay_failed(conn, *given), by)
        return done, done < deliveries.ROWS_AT_ONCE
