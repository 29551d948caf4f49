"""Calls the operator's own addresses about alerts: signed as webhooks are, at least once."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import structlog

from risala import __version__
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.alerts.records import Alert
from risala.engine.features.alerts.rules import AlertCall, AlertTurn
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.features.alerts.words import alert_words
from risala.engine.model.errors import NotFound
from risala.engine.model.people import Language
from risala.engine.model.times import iso
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault, decide
from risala.engine.rules.webhooks.signatures import signed
from risala.engine.rules.webhooks.types import Outbound, WebhookCall
from risala.engine.services import Services

log = structlog.get_logger(__name__)

LOOK_S: Final = 300.0
"""Looks for owed calls at least this often: new ones ring."""
DROPPED: Final = "dropped"
"""The call is given up: its address is no longer in the settings, or the alert does not exist."""


class AlertCalls:
    """A service: one call at a time, because alerts are few."""

    def __init__(self, services: Services, outbound: Outbound) -> None:
        self._urls = services.settings.alerts.webhook_url
        self._clock = services.recorder.clock
        self._alerts = services.repositories.part(AlertRepository)
        self._outbound = outbound
        self._items = services.set_aside.loop("alert_calls")
        self._secret = services.surroundings.call_secret
        self._alarm = Alarm(self._clock, LOOK_S)
        self.wake = self._alarm.ring
        """A call is owed."""

    async def run(self) -> None:
        """Make calls until cancelled."""
        while True:
            call = self._alerts.first_call(self._items.held(), self._items.broken_row)
            if call is None or call.due_at > self._clock.now_ms():
                await self._alarm.wait(None if call is None else call.due_at)
            else:
                with self._items.item(call.seq):
                    await self._deliver(call)

    async def _deliver(self, call: AlertCall) -> None:
        written = partial(retry_until_committed, "alerts.calls")
        body = self._body(call)
        if body is None:
            await written(self._settling(call, DROPPED))
            return
        tries = await written(partial(self._alerts.begin_call, call.seq))
        seen = await self._post(call, body)
        jitter = random.random()  # noqa: S311 -- spreads repeats, and is no secret
        verdict = decide(seen, tries, self._clock.now_ms(), jitter)
        if verdict.state == "pending":
            log.warning("alert.call.failed", call=call.seq, reason=verdict.error, tries=tries)
            await written(partial(self._alerts.put_off_call, call.seq, verdict.due_at))
        else:
            await written(self._settling(call, verdict.state))

    def _settling(self, call: AlertCall, outcome: str) -> Callable[[], Awaitable[None]]:
        now_ms = self._clock.now_ms()
        return partial(self._alerts.settle_call, call.seq, outcome, now_ms)

    def _body(self, call: AlertCall) -> str | None:
        if call.url not in self._urls:
            return None
        try:
            alert = self._alerts.alert(call.alert)
        except NotFound:
            return None
        return json.dumps(call_body(alert, call), ensure_ascii=False)

    async def _post(self, call: AlertCall, body: str) -> ReceiverAnswer | ReceiverFault:
        headers = {"content-type": "application/json", "user-agent": f"Risala/{__version__}"}
        now_ms, secret = self._clock.now_ms(), self._secret
        try:
            headers |= signed(call_id(call), body, [secret], now_ms) if secret else {}
            return await self._outbound.post(WebhookCall(call.url, headers, body.encode()))
        except Exception:
            # A bug of ours in one call must not block the others: it is tried again.
            log.exception("alert.call.bug", call=call.seq)
            return ReceiverFault("INTERNAL", "An error occurred in the service.")


def alert_calls(services: Services) -> AlertCalls | None:
    """None: the settings name no address, or nothing makes calls."""
    outbound = services.surroundings.outbound
    if outbound is None or not services.settings.alerts.webhook_url:
        return None
    return AlertCalls(services, outbound)


def call_id(call: AlertCall) -> str:
    """An id that is the same for each attempt and each address, so that repeats can be
    recognised."""
    return f"alert_{call.alert}_{call.what}"


def call_body(alert: Alert, call: AlertCall) -> dict[str, object]:
    """The body of a call."""
    words = alert_words(alert, Language.ENGLISH)
    is_over = call.what is AlertTurn.OVER
    return {
        "id": call_id(call),
        "type": "alert.over" if is_over else "alert.raised",
        "createdAt": iso(call.created_at),
        "alert": {
            "id": f"alert_{alert.seq}",
            "kind": alert.kind.value,
            "subject": alert.subject or None,
            "title": words.title,
            "text": words.text,
            "facts": dict(alert.facts),
            "raisedAt": iso(alert.raised_at),
            "overAt": iso(alert.over_at) if is_over and alert.over_at is not None else None,
        },
    }
