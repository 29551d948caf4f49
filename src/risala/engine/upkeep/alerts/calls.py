"""Calls the operator's own addresses about alerts: signed as webhooks are, at least once."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import field
from functools import partial
from typing import Final

import structlog

from risala import __version__
from risala.config.alerts import AlertsSection
from risala.dataclass import dataclass
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.repositories.alerts import AlertRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import NotFound
from risala.engine.model.people import Language
from risala.engine.model.times import iso
from risala.engine.people.alert_words import alert_words
from risala.engine.rules.alerts.alert import Alert
from risala.engine.rules.alerts.holding import AlertTurn
from risala.engine.rules.alerts.turning import AlertCall
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault, decide
from risala.engine.rules.webhooks.signatures import signed
from risala.engine.rules.webhooks.types import Outbound, WebhookCall

log = structlog.get_logger(__name__)

LOOK_S: Final = 300.0
"""Looks for owed calls at least this often: new ones ring."""
DROPPED: Final = "dropped"
"""Its address is no longer in the settings, or the alert does not exist."""


@dataclass(frozen=True, slots=True)
class AlertCallSources:
    limits: AlertsSection
    clock: Clock
    alerts: AlertRepository
    outbound: Outbound
    items: ItemLoop
    """Where a call that breaks is set aside."""
    secret: str = field(repr=False)
    """Signs the calls; empty: no key, and nothing is signed."""
    jitter: Callable[[], float] = random.random


class AlertCalls:
    """A service: one call at a time, because alerts are few."""

    def __init__(self, sources: AlertCallSources) -> None:
        self._have = sources
        self._alarm = Alarm(sources.clock, LOOK_S)

    def wake(self) -> None:
        """A call is owed."""
        self._alarm.ring()

    async def run(self) -> None:
        """Make calls until cancelled."""
        while True:
            items = self._have.items
            call = self._have.alerts.first_call(items.held(), items.broken_row)
            if call is None or call.due_at > self._have.clock.now_ms():
                await self._alarm.wait(None if call is None else call.due_at)
            else:
                with items.item(call.seq):
                    await self._deliver(call)

    async def _deliver(self, call: AlertCall) -> None:
        stored, written = self._have.alerts, partial(retry_until_committed, "alerts.calls")
        body = self._body(call)
        if body is None:
            await written(self._settling(call, DROPPED))
            return
        tries = await written(partial(stored.begin_call, call.seq))
        seen = await self._post(call, body)
        verdict = decide(seen, tries, self._have.clock.now_ms(), self._have.jitter())
        if verdict.state == "pending":
            log.warning("alert.call.failed", call=call.seq, reason=verdict.error, tries=tries)
            await written(partial(stored.put_off_call, call.seq, verdict.due_at))
        else:
            await written(self._settling(call, verdict.state))

    def _settling(self, call: AlertCall, outcome: str) -> Callable[[], Awaitable[None]]:
        now_ms = self._have.clock.now_ms()
        return partial(self._have.alerts.settle_call, call.seq, outcome, now_ms)

    def _body(self, call: AlertCall) -> str | None:
        if call.url not in self._have.limits.webhook_url:
            return None
        try:
            found = self._have.alerts.alert(call.alert)
        except NotFound:
            return None
        return json.dumps(call_body(found, call), ensure_ascii=False)

    async def _post(self, call: AlertCall, body: str) -> ReceiverAnswer | ReceiverFault:
        headers = {"content-type": "application/json", "user-agent": f"Risala/{__version__}"}
        now_ms, secret = self._have.clock.now_ms(), self._have.secret
        try:
            headers |= signed(call_id(call), body, [secret], now_ms) if secret else {}
            return await self._have.outbound.post(WebhookCall(call.url, headers, body.encode()))
        except Exception:
            # A bug of ours in one call must not block the others: it is tried again.
            log.exception("alert.call.bug", call=call.seq)
            return ReceiverFault("INTERNAL", "An error occurred in the service.")


def call_id(call: AlertCall) -> str:
    """The same for each attempt, and for each address: repeats can be recognised."""
    return f"alert_{call.alert}_{call.what}"


def call_body(found: Alert, call: AlertCall) -> dict[str, object]:
    """The body of a call."""
    words = alert_words(found, Language.ENGLISH)
    is_over = call.what is AlertTurn.OVER
    return {
        "id": call_id(call),
        "type": "alert.over" if is_over else "alert.raised",
        "createdAt": iso(call.created_at),
        "alert": {
            "id": f"alert_{found.seq}",
            "kind": found.kind.value,
            "subject": found.subject or None,
            "title": words.title,
            "text": words.text,
            "facts": dict(found.facts),
            "raisedAt": iso(found.raised_at),
            "overAt": iso(found.over_at) if is_over and found.over_at is not None else None,
        },
    }
