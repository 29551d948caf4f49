"""Webhook endpoints, and the deliveries that are owed to them."""

from __future__ import annotations

import sqlite3
from functools import partial

from risala.dataclass import dataclass
from risala.engine.journal.pages import behind
from risala.engine.journal.pages import deliveries as lists
from risala.engine.journal.people import mails, users
from risala.engine.journal.repositories.store import Store, audited_command, command, read
from risala.engine.journal.webhooks import deliveries, endpoints, history, outbox
from risala.engine.model.people import Language
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.webhooks import (
    DisabledNotice,
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

    add = audited_command(endpoints.add)
    change = audited_command(endpoints.change)
    set_enabled = audited_command(endpoints.set_enabled)
    rotate = audited_command(endpoints.rotate)
    delete = audited_command(endpoints.delete)
    owe_test = audited_command(outbox.trial_event)

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

    replay = audited_command(history.replay)
    replay_failed = audited_command(history.replay_failed)
