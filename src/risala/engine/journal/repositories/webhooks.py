"""Webhook endpoints, and the deliveries that are owed to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.pages import behind
from risala.engine.journal.pages import deliveries as lists
from risala.engine.journal.people import mails, users
from risala.engine.journal.repositories.store import Store
from risala.engine.journal.webhooks import deliveries, endpoints, history, outbox
from risala.engine.model.audit import AuditEntry
from risala.engine.model.people import Language
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.webhooks import (
    Behind,
    DeliveryAttempt,
    DeliverySum,
    DisabledNotice,
    DueDelivery,
    Endpoint,
    EndpointValue,
    WebhookAttempt,
    WebhookDelivery,
)
from risala.engine.rules.webhooks.schedule import AnswerVerdict


@dataclass(frozen=True, slots=True)
class EndpointRepository:
    """Webhook endpoints: a few for each organization. All reads are on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def endpoint(self, endpoint_id: str) -> Endpoint:
        """One endpoint.

        Raises:
            NotFound: the id is unknown.
        """
        return endpoints.endpoint(self._store.reader, endpoint_id)

    def of_organization(self, organization_id: str) -> list[Endpoint]:
        """An organization's endpoints, the oldest first."""
        return endpoints.endpoints(self._store.reader, organization_id)

    def next_notice(self) -> DisabledNotice | None:
        """The next owner to notify that an endpoint was disabled."""
        return endpoints.next_notice(self._store.reader)

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

    def delivery(self, endpoint_id: str, event_id: str) -> WebhookDelivery:
        """One delivery.

        Raises:
            NotFound: this event is not owed to this endpoint.
        """
        return history.delivery(self._store.reader, endpoint_id, event_id)

    def attempts(self, endpoint_id: str, event_id: str) -> tuple[DeliveryAttempt, ...]:
        """The log of a delivery.

        Raises:
            NotFound: this event is not owed to this endpoint.
        """
        return history.attempts(self._store.reader, endpoint_id, event_id)

    def body(self, event_id: str) -> str | None:
        """The body sent for an event; None if it is no longer kept, or contains a person's text."""
        return history.body(self._store.reader, event_id)

    def page(
        self, endpoint_id: str, state: str | None, steps: Steps
    ) -> CursorPage[WebhookDelivery]:
        """An endpoint's deliveries, the newest first; of one state, or of all."""
        reader = self._store.reader
        page = lists.page(reader, endpoint_id, state, steps)
        end = None if page.looked_to is None else history.shown(reader, page.looked_to)
        found = tuple(history.shown(reader, row) for row in page.found)
        return CursorPage(found, page.newer, page.older, end)

    def summed(self, endpoint_id: str, days: int, now_ms: int) -> DeliverySum:
        """The finished deliveries of the last days' events."""
        return lists.summed(self._store.reader, endpoint_id, days, now_ms)

    def pending_count(self, endpoint_id: str) -> int:
        """Pending deliveries, counted up to a limit."""
        return history.pending(self._store.reader, endpoint_id)

    def failed_count(self, endpoint_id: str, since_ms: int) -> int:
        """Deliveries of events since then that have failed, counted up to a limit."""
        return history.failed_since(self._store.reader, endpoint_id, since_ms)

    def waiting(self) -> list[tuple[str, int, bool]]:
        """Each endpoint with something pending: its first due time, and whether it was failing."""
        return deliveries.waiting(self._store.reader)

    def behind(self, now_ms: int) -> Behind:
        """Deliveries that have been owed for more than a minute, counted up to a limit."""
        return behind.webhooks(self._store.reader, now_ms)

    def last_seq(self) -> int:
        """The number of the newest delivery; 0 if there is no such row."""
        return deliveries.last_seq(self._store.reader)

    def after(self, seq: int, limit: int) -> list[tuple[int, str, int]]:
        """Deliveries that are newer: seq, endpoint, due time."""
        return deliveries.after(self._store.reader, seq, limit)

    def first_due(self, endpoint_id: str, in_flight: Collection[int]) -> DueDelivery | None:
        """The endpoint's next pending delivery that is not being attempted."""
        return deliveries.first_due(self._store.reader, endpoint_id, in_flight)

    # -- commands

    async def begin(self, seq: int, now_ms: int) -> WebhookAttempt | None:
        """Store that an attempt begins, before a byte of it leaves; None: no call is due."""
        return await self._store.commit(partial(deliveries.begin, seq=seq, now_ms=now_ms))

    async def finish(
        self, attempt: WebhookAttempt, verdict: AnswerVerdict, now_ms: int
    ) -> str | None:
        """Store the result of an attempt; why the endpoint was disabled by it, if it was."""
        unit = partial(deliveries.finish, attempt=attempt, verdict=verdict, now_ms=now_ms)
        return await self._store.commit(unit)

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
