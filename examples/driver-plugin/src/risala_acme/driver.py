"""The driver: its life, and what it answers."""

from __future__ import annotations

from typing import Final

import trio
from risala.plugins.answering import CarrierAnswer, CarrierRequest
from risala.plugins.contract import (
    Capabilities,
    DriverContext,
    Health,
    HealthState,
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
    inbound_of,
    is_signed,
    name_of,
    object_of,
    receipt_of,
)
from risala_acme.settings import AcmeSettings

LEAVE_S: Final = 2.0
"""How long a stop waits for connections to close."""


class AcmeDriver:
    def __init__(self, carrier: str, settings: AcmeSettings) -> None:
        self._settings = settings
        self._secret = settings.callback_secret.get_secret_value().encode()
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
        self._context: DriverContext | None = None
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
        self._api, self._context = api, context
        try:
            await self._watch(api, context)
        finally:
            self._api = self._context = None
            with trio.move_on_after(LEAVE_S, shield=True):
                await api.aclose()

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

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        """Keep what the carrier tells. What comes twice is handed over twice: the engine knows a
        receipt by its id, and a text by the carrier's identity.

        Raises:
            NotStoredError: it could not be kept, so that the service answers 503.
        """
        body, context = await request.read(), self._context
        signature = request.headers.get("acme-signature", "")
        now_s = request.received_at_ms / 1000
        if context is None or not is_signed(self._secret, signature, body, now_s):
            return CarrierAnswer(status=401)
        request.prove()
        told = object_of(body)
        if request.path == "/receipt" and (receipt := receipt_of(told)):
            await context.receipt(receipt)
        elif request.path == "/inbound" and (text := inbound_of(told, request.received_at_ms)):
            await context.inbound(text)
        else:  # it would tell the same the next time, so it is answered with success
            context.trace("A call told nothing that we know.")
        return CarrierAnswer()


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
