"""Webhook endpoints, and the deliveries that are owed to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from risala.dataclass import dataclass
from risala.engine.journal.pages import behind
from risala.engine.journal.pages import deliveries as lists
from risala.engine.journal.people import mails, users
from risala.engine.journal.sealed.columns import header_of
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.webhooks import deliveries, endpoints, history, outbox
from risala.engine.model.audit import AuditEntry
from risala.engine.model.people import Language
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.webhooks import (
    DisabledNotice,
    Endpoint,
    WebhookAttempt,
    WebhookDelivery,
)
from risala.engine.rules.secrets.sealing import SecretPurpose


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

    async def add(self, by: AuditEntry | None, new: Endpoint, secret: str) -> Endpoint:
        """Store a new endpoint; its secret and the values of its headers are sealed.

        Raises:
            Conflict: the organization has as many as it may.
        """
        sealed = replace(new, headers=self._sealed(new.id, new.headers))
        unit = partial(endpoints.add, new=sealed, secret=self._sealed_secret(new.id, secret))
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
        unit = partial(endpoints.change, endpoint_id=endpoint_id, settings=settings, now_ms=now_ms)
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
            endpoints.rotate,
            endpoint_id=endpoint_id,
            secret=self._sealed_secret(endpoint_id, secret),
            now_ms=now_ms,
            at_once=at_once,
        )
        return await self._store.commit(unit, by)

    set_enabled = audited_command(endpoints.set_enabled)
    delete = audited_command(endpoints.delete)
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

    def opened(self, attempt: WebhookAttempt) -> WebhookAttempt:
        """The attempt with its secrets and headers in the clear, as :meth:`begin` does not give it.

        Raises:
            SecretLost: a secret of the endpoint cannot be opened.
        """
        unseal, endpoint_id = self._store.sealing.unseal, attempt.endpoint_id
        return replace(
            attempt,
            secrets=tuple(
                unseal(SecretPurpose.WEBHOOK_SECRET, endpoint_id, each).decode()
                for each in attempt.secrets
            ),
            headers={
                name: unseal(
                    SecretPurpose.WEBHOOK_HEADER, header_of(endpoint_id, name), value
                ).decode()
                for name, value in attempt.headers.items()
            },
        )

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

    replay = audited_command(history.replay)
    replay_failed = audited_command(history.replay_failed)
