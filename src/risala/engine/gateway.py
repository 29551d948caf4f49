"""The gateway: the one door to the engine. HTTP, the control socket and the command line call it.

For API clients here are the calls of the hot path; everything that the operator may do is an
operation by name (:mod:`risala.engine.operations`), so that a command works the same beside a
running service and without one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import trio

from risala.config.model import Settings
from risala.engine import billing
from risala.engine.accounts import Accounts
from risala.engine.actor import Ref
from risala.engine.billing import BillingMessage
from risala.engine.broadcast import Subscription
from risala.engine.commands import (
    LifeEvent,
    MessageView,
    Mode,
    Principal,
    Readiness,
    SendMessage,
    TimelineEntry,
)
from risala.engine.errors import Draining, NotFound, Overloaded, SenderNotApproved
from risala.engine.ids import IdSource
from risala.engine.journal import messages, timeline
from risala.engine.journal.rows import (
    PRIORITY_CODE,
    PRIORITY_MESSAGE,
    Change,
    NewMessage,
    Status,
)
from risala.engine.recorder import Recorder
from risala.engine.router import TEST_ROUTE, Router
from risala.engine.scheduler import SchedulerMessage
from risala.engine.wire import minor_units
from risala.sms.address import fold_sender
from risala.sms.segment import count


@dataclass(frozen=True, slots=True)
class GatewayStatistics:
    intake: int
    intake_peak: int
    intake_max: int
    accepted: int


@dataclass(slots=True)
class Parts:
    """What the gateway is put together from."""

    settings: Settings
    recorder: Recorder
    reader: sqlite3.Connection
    ids: IdSource
    accounts: Accounts
    router: Router
    billing: Ref[BillingMessage]
    scheduler: Ref[SchedulerMessage] | None = None
    """None where nothing is delivered: a command that opened the engine by itself."""
    unready: Callable[[], tuple[str, ...]] = tuple
    """Reasons why no message could be delivered at this moment."""
    statistics: Callable[[], dict[str, Any]] = dict
    carriers: Callable[[], list[dict[str, Any]]] = list


class Gateway:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._inflight: dict[tuple[str, str, str], trio.Event] = {}
        self._per_segment = minor_units(parts.settings.pricing.per_segment)
        self._draining = False
        self._intake = self._intake_peak = self._accepted = 0

    # -- for API clients

    def authenticate(self, api_key: str) -> Principal:
        """Who holds this key.

        Raises:
            Unauthorized: unknown, deleted or disabled.
            Forbidden: the organization is not active.
        """
        return self.parts.accounts.authenticate(api_key)

    async def send_message(self, principal: Principal, command: SendMessage) -> bytes:
        """Accept a message: stored, charged and synced to disk when this returns.

        Returns the body of the response, byte for byte the same whenever its idempotency key
        comes again. If cancelled, the message is accepted whole or not at all.

        Raises:
            SenderNotApproved, InsufficientBalance, Forbidden: refused; nothing was stored.
            Overloaded, Draining, StorageFailed: not now; nothing was stored.
        """
        if self._draining:
            raise Draining
        if self._intake >= self.parts.settings.engine.intake_max:
            raise Overloaded
        self._intake += 1
        self._intake_peak = max(self._intake_peak, self._intake)
        try:
            if command.idempotency_key is None:
                return await self._accept(principal, command, self.parts.ids.new("idk"))
            return await self._accept_once(principal, command, command.idempotency_key)
        finally:
            self._intake -= 1

    async def _accept_once(self, principal: Principal, command: SendMessage, key: str) -> bytes:
        """One of many at once goes through; the others wait for what it leaves behind."""
        slot = (principal.organization_id, principal.mode.value, key)
        while True:
            known = messages.known_response(self.parts.reader, *slot)
            if known is not None:
                return known
            first = self._inflight.get(slot)
            if first is None:
                break
            await first.wait()
        # No await since the look into the journal: nobody came between.
        event = self._inflight[slot] = trio.Event()
        try:
            return await self._accept(principal, command, key)
        finally:
            del self._inflight[slot]
            event.set()

    async def _accept(self, principal: Principal, command: SendMessage, key: str) -> bytes:
        new = self._new_message(principal, command, key)
        with trio.CancelScope(shield=True):
            response = await self.parts.recorder.journal.commit(
                lambda conn: messages.accept(conn, new)
            )
        if response is new.response:
            self._accepted += 1
            self._tell(new)
        return response

    def _new_message(self, principal: Principal, command: SendMessage, key: str) -> NewMessage:
        accounts, settings = self.parts.accounts, self.parts.settings
        organization = accounts.organization(principal.organization_id)
        sender = self._sender(principal.organization_id, command.sender)
        size = count(command.body)
        live = principal.mode is Mode.LIVE
        now_ms = self.parts.recorder.clock.now_ms()
        message_id = self.parts.ids.new("sms")
        response = {
            "accepted": True,
            "messageId": message_id,
            "idempotencyKey": key,
            "organizationId": principal.organization_id,
            "from": sender,
        }
        return NewMessage(
            id=message_id,
            organization_id=principal.organization_id,
            mode=principal.mode.value,
            kind="sms",
            recipient=command.to,
            sender=sender,
            body=command.body,
            encoding=size.alphabet.value,
            segments=size.segments,
            price=billing.price(organization, self._per_segment, size.segments) if live else 0,
            currency=settings.service.currency,
            metadata=json.dumps(command.metadata, ensure_ascii=False),
            priority=PRIORITY_CODE if command.urgent else PRIORITY_MESSAGE,
            route=self.parts.router.route_key(command.to) if live else TEST_ROUTE,
            due_at=now_ms,
            valid_until=now_ms + settings.delivery.validity_s * 1000,
            send_at=None,
            created_at=now_ms,
            idempotency_key=key,
            response=json.dumps(response, ensure_ascii=False, separators=(",", ":")).encode(),
        )

    def _sender(self, organization_id: str, requested: str | None) -> str:
        default = self.parts.settings.service.default_sender
        if requested is None or fold_sender(requested) == fold_sender(default):
            return default
        found = self.parts.accounts.sender(organization_id, fold_sender(requested))
        if found is None or found[1] != "approved":
            raise SenderNotApproved(requested)
        return found[0]

    def _tell(self, new: NewMessage) -> None:
        self.parts.recorder.listeners.deadline(new.valid_until)
        self.parts.recorder.tell(
            (
                Change(
                    message_id=new.id,
                    organization_id=new.organization_id,
                    recipient=new.recipient,
                    status=Status.PENDING,
                    text="Accepted; waiting for its turn.",
                    at=new.created_at,
                    due_at=new.due_at,
                    priority=new.priority,
                    route=new.route,
                ),
            )
        )

    def get_message(self, principal: Principal, message_id: str) -> MessageView:
        """A message of the caller's own organization and mode.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
        """
        view = messages.view(self.parts.reader, message_id)
        if (
            view is None
            or view.organization_id != principal.organization_id
            or view.mode is not principal.mode
            or view.kind != "sms"
        ):
            raise NotFound("There is no message with this id.")
        return view

    # -- for everybody

    def readiness(self) -> Readiness:
        """Whether messages are accepted and could be delivered."""
        reasons = ("the service is stopping",) if self._draining else self.parts.unready()
        return Readiness(not reasons, reasons)

    def watch(self, events_max: int = 1000) -> AbstractContextManager[Subscription[LifeEvent]]:
        """Follow the life of all messages; a slow watcher is told that it lagged."""
        return self.parts.recorder.life.subscribe(events_max)

    # -- for the operator

    def show_message(self, message_id: str) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
        """Any message, with its timeline.

        Raises:
            NotFound: there is none of this id.
        """
        view = messages.view(self.parts.reader, message_id)
        if view is None:
            raise NotFound(f"There is no message {message_id}.")
        return view, timeline.read(self.parts.reader, message_id)

    async def perform(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Do one of the operator's operations by name; JSON-able in and out.

        Raises:
            Refusal: the operation is unknown or cannot be done; one sentence says why.
        """
        from risala.engine.operations import perform

        return await perform(self, name, arguments)

    def drain(self) -> None:
        """Accept nothing from now on."""
        self._draining = True

    def statistics(self) -> GatewayStatistics:
        return GatewayStatistics(
            intake=self._intake,
            intake_peak=self._intake_peak,
            intake_max=self.parts.settings.engine.intake_max,
            accepted=self._accepted,
        )
