"""Webhooks: the events that are owed to endpoints, delivered at least once.

Deliveries are rows; memory has only when to look at each endpoint's rows. An attempt is written
down before a byte leaves and again after the answer, and the row stays due in between: a service
that is killed meanwhile delivers again, with the same ``webhook-id``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog
import trio

from risala import __version__
from risala.config.model import WebhooksSection
from risala.dataclass import dataclass
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.webhooks.history import DeliveryRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Draining, SecretLost, Unavailable
from risala.engine.model.records.webhooks import WebhookAttempt
from risala.engine.rules.webhooks.queues import EndpointQueue, Lanes, Widths
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault, decide
from risala.engine.rules.webhooks.shapes import ShapedRequest, received_of, shaped
from risala.engine.rules.webhooks.signatures import signed, stamped, with_sms_id
from risala.engine.rules.webhooks.types import Outbound, WebhookCall

log = structlog.get_logger(__name__)

ROWS_AT_ONCE: Final = 1000
PROMPT_S: Final = 2.0
"""Seconds for an answer; an endpoint that takes longer gets its slots among the slow ones."""
STORAGE_RETRY_S: Final = 1.0
STOP_S: Final = 3.0
"""Seconds that a stop waits for answers; an attempt that is cut short is repeated after the next
start."""
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


class Webhooks:
    """A service; see the module's text."""

    def __init__(self, sources: WebhookSources) -> None:
        self._sources = sources
        self._alarm = Alarm(sources.clock)
        self._lanes = self._new_lanes()
        self._seq = 0
        self._crew: trio.Nursery | None = None

    def _new_lanes(self) -> Lanes:
        settings = self._sources.settings
        patient = max(1, settings.attempts_max // 3)
        return Lanes(
            Widths(settings.attempts_per_endpoint_max, settings.attempts_max - patient, patient)
        )

    def wake(self) -> None:
        """Look now: there may be new deliveries."""
        self._alarm.ring()

    def hint(self, endpoint_id: str) -> None:
        """Look at this endpoint's deliveries now: one became due by a replay."""
        self._lanes.expect(endpoint_id, self._sources.clock.now_ms())
        self._alarm.ring()

    @property
    def in_flight(self) -> int:
        return self._lanes.in_flight

    async def run(self) -> None:
        """Deliver until cancelled; a stop waits a moment for the answers under way."""
        self._load()
        over = trio.Event()
        async with trio.open_nursery() as nursery:
            scope = await nursery.start(self._keep_workers, over)
            try:
                while True:
                    self._follow()
                    self._hand_out()
                    await self._alarm.wait(self._lanes.next_due())
            finally:
                scope.deadline = trio.current_time() + STOP_S
                over.set()

    async def _keep_workers(
        self, over: trio.Event, task_status: trio.TaskStatus[trio.CancelScope]
    ) -> None:
        with trio.CancelScope(shield=True) as scope:
            async with trio.open_nursery() as self._crew:
                task_status.started(scope)
                await over.wait()

    def _load(self) -> None:
        self._lanes = self._new_lanes()
        self._seq = self._sources.deliveries.last_seq()
        for endpoint_id, due_at, failing in self._sources.deliveries.waiting():
            self._lanes.expect(endpoint_id, due_at, prompt=not failing)

    def _follow(self) -> None:
        """Follow the journal's new deliveries."""
        while rows := self._sources.deliveries.after(self._seq, ROWS_AT_ONCE):
            self._seq = rows[-1][0]
            for _, endpoint_id, due_at in rows:
                self._lanes.expect(endpoint_id, due_at)

    def _hand_out(self) -> None:
        now_ms = self._sources.clock.now_ms()
        assert self._crew is not None
        while (lane := self._lanes.take(now_ms)) is not None:
            besides = {*lane.in_flight, *map(int, self._sources.items.held())}
            due = self._sources.deliveries.first_due(lane.endpoint_id, besides)
            if due is None or due.due_at > now_ms:
                self._lanes.rest(
                    lane, self._sources.items.again_ms(now_ms) if due is None else due.due_at
                )
            else:
                self._lanes.start(lane, due.seq)
                self._crew.start_soon(self._deliver, lane, due.seq)

    async def _deliver(self, lane: EndpointQueue, seq: int) -> None:
        """One attempt at one delivery."""
        clock = self._sources.clock
        try:
            with self._sources.items.item(seq, endpoint=lane.endpoint_id):
                await self._attempt(lane, seq)
            if seq in lane.in_flight:  # it was set aside
                self._lanes.leave(lane, seq, clock.now_ms())
        except Draining:
            pass  # the delivery stays due, and the next start finds it
        except Unavailable as error:
            log.warning("webhooks.storage", reason=str(error))
            await trio.sleep(STORAGE_RETRY_S)
            self._lanes.leave(lane, seq, clock.now_ms())
        finally:
            self._alarm.ring()

    async def _attempt(self, lane: EndpointQueue, seq: int) -> None:
        begun_at = self._sources.clock.now_ms()
        attempt = await self._sources.deliveries.begin(seq, begun_at)
        if attempt is None:
            self._lanes.leave(lane, seq, begun_at)
            return
        began_s = trio.current_time()
        seen = await self._post(attempt)
        prompt = trio.current_time() - began_s <= PROMPT_S
        ok = await self._finish(attempt, seen)
        self._lanes.finish(lane, seq, ok=ok, prompt=prompt)

    async def _post(self, attempt: WebhookAttempt) -> ReceiverAnswer | ReceiverFault:
        try:
            now_ms = self._sources.clock.now_ms()
            attempt = self._sources.deliveries.opened(attempt)
            return await self._sources.outbound.post(_call(attempt, now_ms))
        except SecretLost:
            return ReceiverFault("SECRET_LOST", _SEALED)
        except Exception:
            # A bug of ours in one delivery must not block the others: that delivery is tried again,
            # as if the endpoint had failed.
            log.exception("webhooks.bug", event_id=attempt.event_id, endpoint=attempt.endpoint_id)
            return ReceiverFault("INTERNAL", "An error occurred in the service.")

    async def _finish(self, attempt: WebhookAttempt, seen: ReceiverAnswer | ReceiverFault) -> bool:
        now_ms = self._sources.clock.now_ms()
        verdict = decide(seen, attempt.tries, now_ms, self._sources.jitter())
        finish = partial(self._sources.deliveries.finish, attempt, verdict, now_ms)
        # Written until the disk takes it: otherwise the endpoint would get the event again.
        reason = await retry_until_committed("webhooks", finish)
        if reason is not None:
            log.warning("webhooks.disabled", endpoint=attempt.endpoint_id, reason=reason)
            self._sources.disabled()
            await self._sources.deliveries.end_pending(
                attempt.endpoint_id, self._sources.clock.now_ms()
            )
        return verdict.state == "delivered"


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
    return WebhookCall(request.url, headers, request.body.encode(), request.method, request.query)
