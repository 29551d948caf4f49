"""Webhooks: the events that are owed to endpoints, delivered at least once.

A delivery that is repeated has the same ``webhook-id``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import structlog
import trio

from risala import __version__
from risala.config.model import WebhooksSection
from risala.dataclass import dataclass
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.webhooks.history import DeliveryRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import SecretLost
from risala.engine.model.feature_work import Duty, TakeReply
from risala.engine.model.features import duty
from risala.engine.model.records.webhooks import WebhookAttempt
from risala.engine.rules.webhooks.queues import Lanes, Widths
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault, decide
from risala.engine.rules.webhooks.shapes import ShapedRequest, received_of, shaped
from risala.engine.rules.webhooks.signatures import signed, stamped, with_sms_id
from risala.engine.rules.webhooks.types import Outbound, WebhookCall
from risala.engine.webhooks.owed_calls import OwedCalls

log = structlog.get_logger(__name__)

ROWS_AT_ONCE: Final = 1000
_SEALED: Final = (
    "The secret that signs cannot be opened: its sealing key is missing. Make a new secret, or ask"
    " the operator to bring the key back."
)
"""For the owner of an endpoint, in the log of its deliveries."""
AGENT: Final = f"Risala/{__version__}"


@dataclass(frozen=True, slots=True)
class WebhookSources:
    settings: WebhooksSection
    deliveries: DeliveryRepository
    clock: Clock
    outbound: Outbound
    disabled: Callable[[], None]
    """Called when an endpoint was disabled, to notify its owner."""
    items: ItemLoop
    """Keeps deliveries aside that break."""
    jitter: Callable[[], float] = random.random


class Webhooks(OwedCalls[WebhookAttempt, ReceiverAnswer | ReceiverFault]):
    """A service; see the module's text."""

    name = "webhooks"
    receiver = "endpoint"

    def __init__(self, sources: WebhookSources) -> None:
        settings = sources.settings
        patient = max(1, settings.attempts_max // 3)
        widths = Widths(
            settings.attempts_per_endpoint_max, settings.attempts_max - patient, patient
        )
        super().__init__(sources.deliveries, widths, sources.clock, sources.items)
        self._sources = sources
        self._seq = 0
        self.wake = self._alarm.ring
        """Look now: there may be new deliveries."""

    def hint(self, endpoint_id: str) -> None:
        """Look at this endpoint's deliveries now: one became due by a replay."""
        self._lanes.expect(endpoint_id, self._clock.now_ms())
        self._alarm.ring()

    @property
    def in_flight(self) -> int:
        return self._lanes.in_flight

    async def run(self) -> None:
        """Deliver until cancelled; a stop waits a moment for the answers under way."""
        self._lanes = Lanes(self._widths)
        self._seq = self._sources.deliveries.last_seq()
        for endpoint_id, due_at, failing in self._sources.deliveries.waiting():
            self._lanes.expect(endpoint_id, due_at, prompt=not failing)
        async with trio.open_nursery() as nursery:
            await self._serve(nursery)

    def _expect_new(self) -> None:
        """Follow the journal's new deliveries."""
        while rows := self._sources.deliveries.after(self._seq, ROWS_AT_ONCE):
            self._seq = rows[-1][0]
            for _, endpoint_id, due_at in rows:
                self._lanes.expect(endpoint_id, due_at)

    async def _post(self, _: str, attempt: WebhookAttempt) -> ReceiverAnswer | ReceiverFault:
        try:
            now_ms = self._clock.now_ms()
            attempt = self._sources.deliveries.opened(attempt)
            return await self._sources.outbound.post(_call(attempt, now_ms))
        except SecretLost:
            return ReceiverFault("SECRET_LOST", _SEALED)
        except Exception:
            # A bug of ours in one delivery must not block the others: that delivery is tried again,
            # as if the endpoint had failed.
            log.exception("webhooks.bug", event_id=attempt.event_id, endpoint=attempt.endpoint_id)
            return ReceiverFault("INTERNAL", "An error occurred in the service.")

    async def _finish(
        self, _: int, attempt: WebhookAttempt, seen: ReceiverAnswer | ReceiverFault
    ) -> bool:
        now_ms = self._clock.now_ms()
        verdict = decide(seen, attempt.tries, now_ms, self._sources.jitter())
        take = _reply_in(attempt, seen)
        if take is not None:  # its text belongs to a message, and stays out of the log
            verdict = replace(verdict, excerpt=None)
        finish = partial(self._sources.deliveries.finish, attempt, verdict, now_ms, take)
        # Written until the disk takes it: otherwise the endpoint would get the event again.
        reason = await retry_until_committed("webhooks", finish)
        if reason is not None:
            log.warning("webhooks.disabled", endpoint=attempt.endpoint_id, reason=reason)
            self._sources.disabled()
            await self._sources.deliveries.end_pending(attempt.endpoint_id, self._clock.now_ms())
        return verdict.state == "delivered"


def _reply_in(attempt: WebhookAttempt, seen: ReceiverAnswer | ReceiverFault) -> TakeReply | None:
    """What takes the reply in an answer to the event of a received text; None: there is none."""
    if attempt.text is None or isinstance(seen, ReceiverFault):
        return None
    look = duty(Duty.REPLY)
    take: TakeReply | None = None if look is None else look(attempt, seen)
    return take


def _call(attempt: WebhookAttempt, now_ms: int) -> WebhookCall:
    """The signed request of an attempt."""
    arrival = attempt.arrival
    if arrival is None:
        body = attempt.body if attempt.signature_header is None else with_sms_id(attempt.body)
        request = ShapedRequest("POST", attempt.url, "", "application/json", body)
    else:
        message = received_of(attempt.body, arrival.carrier, arrival.received_at)
        request = shaped(arrival.shape, arrival.template, attempt.url, message)
    headers = {**attempt.headers}
    if request.method == "POST" and attempt.signature_header is not None:
        other = stamped(request.body, attempt.secrets, now_ms, key=attempt.signature_key)
        headers[attempt.signature_header] = other
    if request.content_type is not None:
        headers["content-type"] = request.content_type
    marks = signed(attempt.event_id, request.body, attempt.secrets, now_ms)
    if request.method == "GET":  # a signature covers the body alone: this one would cover nothing
        del marks["webhook-signature"]
    headers |= {"user-agent": AGENT, **marks}
    wants_content = attempt.text is not None and attempt.text.may_be_answered
    what = (request.body.encode(), request.method, request.query, wants_content)
    return WebhookCall(request.url, headers, *what)
