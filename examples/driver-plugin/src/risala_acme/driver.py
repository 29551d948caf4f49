"""The driver: its life, and what it answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import trio
from risala.plugins.contract import (
    Capabilities,
    DriverContext,
    Health,
    HealthState,
    Inbound,
    NotStoredError,
    Outcome,
    Receipt,
    Segment,
    Uncertain,
    Unsent,
)

from risala_acme.api import (
    CONNECT_S,
    FAILURES,
    AcmeApi,
    name_of,
    receipt_of,
)
from risala_acme.callbacks import CallbackListener
from risala_acme.settings import AcmeSettings

LISTEN_AGAIN_S: Final = 5.0
"""Wait before a port that is taken is tried again."""
LEAVE_S: Final = 2.0
"""How long a stop waits for connections to close."""


class AcmeDriver:
    def __init__(self, carrier: str, settings: AcmeSettings) -> None:
        self._settings = settings
        self._longest_s = CONNECT_S + settings.answer_s
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=True,
            query=True,
            validity=True,
            window_max=settings.window_max,
            submit_s=self._longest_s,
            takes_whole=True,
        )
        self._api: AcmeApi | None = None
        self._look_now = trio.Event()

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        # In a thread: an HTTP client reads all certificates first, and the loop would wait.
        api = await trio.to_thread.run_sync(AcmeApi, self._settings)
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(self._listen, context)
                self._api = api
                await self._watch(api, context)
        finally:
            self._api = None
            with trio.move_on_after(LEAVE_S, shield=True):
                await api.aclose()

    async def _listen(self, context: DriverContext, *, task_status: trio.TaskStatus[None]) -> None:
        """Hear callbacks; without them nobody would learn what became of a message."""
        secret = self._settings.callback_secret.get_secret_value().encode()
        listener = CallbackListener(secret, partial(self._take, context))
        host, port = self._settings.callback_host, self._settings.callback_port
        while True:
            try:
                listeners = await trio.open_tcp_listeners(port, host=host)
            except OSError as error:
                text = f"Callbacks cannot be heard on {host}:{port}: {error.strerror}."
                context.health(Health(HealthState.DOWN, text))
                await trio.sleep(LISTEN_AGAIN_S)
            else:
                break
        heard_on = listeners[0].socket.getsockname()[1]
        context.trace(f"Callbacks are heard on {host}:{heard_on}.")
        task_status.started()
        await trio.serve_listeners(listener.serve, listeners)

    async def _watch(self, api: AcmeApi, context: DriverContext) -> None:
        """Look whether the carrier is there, for life; sooner where a submit found it is not."""
        told: Health | None = None
        while True:
            self._look_now = trio.Event()
            health = await look(api)
            if health != told:
                context.health(health)
                told = health
            with trio.move_on_after(self._settings.look_s):
                await self._look_now.wait()
                told = None

    async def submit(self, segment: Segment) -> Outcome:
        api = self._api
        if api is None:
            return Unsent("NOT_RUNNING")
        outcome: Outcome = Uncertain("TIMEOUT")
        # Each step of the request has a limit of its own; together they could take longer.
        with trio.move_on_after(self._longest_s):
            outcome = await api.send(segment)
        if isinstance(outcome, Unsent):
            self._look_now.set()
        return outcome

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        api = self._api
        found: Receipt | None = None
        if api is not None:
            with trio.move_on_after(self._longest_s):
                found = await api.query(carrier_id)
        return found

    async def _take(self, context: DriverContext, told: dict[str, Any]) -> bool:
        """Keep what a callback tells. One that comes twice is handed over twice: the engine knows
        a receipt by its id, and a text by the carrier's identity."""
        kept: Callable[[], Any] | None = None
        if told.get("type") == "inbound":
            message = inbound_of(told)
            kept = partial(context.inbound, message) if message else None
        else:
            receipt = receipt_of(told)
            kept = partial(context.receipt, receipt) if receipt else None
        if kept is None:
            context.trace("A callback told nothing that we know.")
            return True  # it would tell the same the next time
        try:
            await kept()
        except NotStoredError:
            return False
        return True


async def look(api: AcmeApi) -> Health:
    """How the carrier is now."""
    try:
        status = await api.look()
    except FAILURES as error:
        return Health(HealthState.DOWN, f"The carrier cannot be asked: {name_of(error)}.")
    if status == 200:
        return Health(HealthState.UP, "The carrier answers.")
    if status in (401, 403):
        return Health(HealthState.SICK, "The carrier refuses our API key.")
    return Health(HealthState.DOWN, f"The carrier answers {status}.")


def inbound_of(told: dict[str, Any]) -> Inbound | None:
    sender, text, carrier_id = told.get("from"), told.get("text"), told.get("id")
    recipient = told.get("to")
    if not all(isinstance(each, str) for each in (sender, text, carrier_id)):
        return None
    return Inbound(
        str(sender),
        recipient if isinstance(recipient, str) else None,
        str(text),
        received_at_ms=time.time_ns() // 1_000_000,
        carrier_ids=(str(carrier_id),),
    )
