"""The SMPP driver: one transceiver link to one SMSC, kept alive for life."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable
from typing import Final

import trio

from risala.drivers.smpp.fields import FieldError
from risala.drivers.smpp.inbox import Inbox
from risala.drivers.smpp.link import Link, LinkError, LinkLimits, NotSentError
from risala.drivers.smpp.pdu import (
    BindTransceiver,
    BindTransceiverResp,
    Pdu,
    QuerySm,
    QuerySmResp,
    SubmitSmResp,
)
from risala.drivers.smpp.receipt import query_receipt
from risala.drivers.smpp.session import Role, Session
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.status import BIND_ADVICE, refusal, status_of
from risala.drivers.smpp.submit import submit_sm
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Receipt,
    Refused,
    Scope,
    Segment,
    Uncertain,
    Unsent,
)

_UNBIND_S: Final = 2.0
"""How long a stop waits for the carrier to say goodbye."""
_STABLE_S: Final = 10.0
"""A link that was bound this long begins its backoff anew; a shorter one was no success."""


class _BindRefusedError(Exception):
    def __init__(self, command_status: int) -> None:
        super().__init__(status_of(command_status).name)
        self.command_status = command_status


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class SmppDriver:
    """See :class:`risala.plugins.contract.Driver`.

    Args:
        carrier: its configured name.
        rng: where the jitter of reconnecting comes from.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        carrier: str,
        settings: SmppSettings,
        *,
        rng: random.Random | None = None,
        now_ms: Callable[[], int] = _wall_ms,
    ) -> None:
        self.carrier = carrier
        self.settings = settings
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=True,
            query=settings.query,
            validity=True,
            window_max=settings.window_max,
        )
        self._rng = rng or random.Random()  # noqa: S311 - jitter is no secret
        self._now_ms = now_ms
        self._options = settings.submit_options
        self._verdicts = settings.verdicts
        self._limits = LinkLimits(
            settings.response_timeout_s, settings.enquire_link_s, settings.window_max
        )
        self._peer = f"{settings.host}:{settings.port}"
        self._link: Link | None = None
        self._inbox: Inbox | None = None
        self._context: DriverContext | None = None

    # -- submitting --------------------------------------------------------------------------

    async def submit(self, segment: Segment) -> Outcome:
        link = self._link
        if link is None:
            return Unsent("not bound")
        try:
            request = submit_sm(segment, self._options, self._now_ms())
            response = await link.request(request, segment)
        except NotSentError as fault:
            return Unsent(str(fault))
        except LinkError as fault:
            return Uncertain(str(fault))
        except ValueError:
            # FieldError, UnsendableError and their like. Their own words stay here: they may hold
            # what the message says.
            return Refused(
                Scope.CARRIER, "not encodable", "This carrier's alphabet cannot carry the message."
            )
        return self._outcome(response)

    async def query(self, carrier_id: str) -> Receipt | None:
        """Ask by ``query_sm`` (SMPP 3.4 §4.8); None where the setting ``query`` is off."""
        link = self._link
        if link is None or not self.settings.query:
            return None
        try:
            response = await link.request(QuerySm(message_id=carrier_id))
        except (LinkError, FieldError):
            return None
        if not isinstance(response, QuerySmResp) or response.command_status:
            return None
        return query_receipt(response, carrier_id)

    def _outcome(self, response: Pdu) -> Outcome:
        if response.command_status:
            return refusal(response.command_status, self._verdicts)
        if isinstance(response, SubmitSmResp):
            return Accepted(response.message_id, "ESME_ROK")
        # generic_nack without a reason: the carrier did not take it.
        return Refused(Scope.CARRIER, "generic_nack", "The carrier did not understand the request.")

    # -- the link's life ---------------------------------------------------------------------

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        self._context = context
        self._inbox = Inbox(
            context,
            id_form=self.settings.message_id_form,
            default_alphabet=self.settings.default_alphabet,
            now_ms=self._now_ms,
            part_limits=self.settings.part_limits,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._inbox.run)
            await self._connect_for_life(context)

    async def _connect_for_life(self, context: DriverContext) -> None:
        failures = 0
        # Once only: later the last failure is the better news until a bind succeeds.
        context.health(Health(HealthState.DOWN, f"Connecting to {self._peer}."))
        while True:
            began = trio.current_time()
            wait_s: float | None = None
            try:
                reason = await self._connect_once(context)
                health = Health(HealthState.DOWN, f"The link to {self._peer} ended: {reason}.")
            except _BindRefusedError as refused:
                health, wait_s = self._refused(refused.command_status)
            except (OSError, trio.TooSlowError, trio.BrokenResourceError, LinkError) as fault:
                health = Health(HealthState.DOWN, _why(self._peer, fault))
            if trio.current_time() - began > _STABLE_S:
                failures = 0
            if wait_s is None:
                wait_s = self._backoff_s(failures)
                failures += 1
            context.health(health)
            context.trace(f"{health.text} Trying again in {wait_s:.1f} s.")
            await trio.sleep(wait_s)

    async def _connect_once(self, context: DriverContext) -> str:
        """Connect, bind and serve; returns why it ended."""
        with trio.fail_after(self.settings.connect_timeout_s):
            stream = await self._open_stream()
        link = Link(stream, Session(Role.ESME), self, self._limits)
        fault: _BindRefusedError | LinkError | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            try:
                await self._serve(link, context)
            except (_BindRefusedError, LinkError) as caught:
                fault = caught  # kept, because a nursery would wrap it in a group
            finally:
                self._link = None
                with trio.move_on_after(_UNBIND_S, shield=True):
                    await link.unbind()
                link.end("stopped")
        if fault is not None:
            raise fault
        return link.reason or "ended"

    async def _serve(self, link: Link, context: DriverContext) -> None:
        system_id = await self._bind(link)
        self._link = link
        context.trace(f"Bound to {self._peer} as transceiver; the SMSC is {system_id!r}.")
        context.health(Health(HealthState.UP, "Bound.", self._details(system_id)))
        await link.wait_ended()

    async def _bind(self, link: Link) -> str:
        settings = self.settings
        response = await link.request_beyond_window(
            BindTransceiver(
                system_id=settings.system_id,
                password=settings.password.get_secret_value(),
                system_type=settings.system_type,
                interface_version=settings.interface_version,
            )
        )
        if response.command_status:
            raise _BindRefusedError(response.command_status)
        return response.system_id if isinstance(response, BindTransceiverResp) else ""

    async def _open_stream(self) -> trio.abc.Stream:
        settings = self.settings
        if not settings.tls:
            return await trio.open_tcp_stream(settings.host, settings.port)
        trust = ssl.create_default_context(cafile=settings.tls_ca_file)
        stream = await trio.open_ssl_over_tcp_stream(
            settings.host, settings.port, ssl_context=trust
        )
        try:
            await stream.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return stream

    def _refused(self, command_status: int) -> tuple[Health, float | None]:
        row = status_of(command_status)
        details = {"command_status": row.name}
        advice = BIND_ADVICE.get(command_status)
        if advice is not None:
            return Health(HealthState.SICK, advice, details), self.settings.bind_refused_wait_s
        return Health(HealthState.DOWN, f"The bind was refused. {row.text}", details), None

    def _backoff_s(self, failures: int) -> float:
        """Exponential, with up to half of it taken off so that many links do not march in step."""
        settings = self.settings
        longest = min(
            settings.reconnect_first_s * 2.0 ** min(failures, 30), settings.reconnect_max_s
        )
        return longest * self._rng.uniform(0.5, 1.0)

    def _details(self, system_id: str) -> dict[str, str | int | float | None]:
        return {"bind": self.settings.bind, "peer": self._peer, "smsc": system_id}

    # -- what the link tells (LinkHandler) ---------------------------------------------------

    def on_request(self, link: Link, request: Pdu) -> None:
        assert self._inbox is not None
        self._inbox.deliver(link, request)

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        if isinstance(token, Segment) and self._inbox is not None:
            self._inbox.late(token, self._outcome(response))

    def on_trouble(self, link: Link, text: str) -> None:
        if self._context is not None:
            self._context.trace(f"The carrier broke the protocol: {text}.")


def _why(peer: str, fault: BaseException) -> str:
    match fault:
        case trio.TooSlowError():
            return f"No connection to {peer} in time."
        case trio.BrokenResourceError(__cause__=ssl.SSLError() as cause):
            return f"No TLS with {peer}: {cause.reason}."
        case LinkError():
            return f"No bind with {peer}: {fault}."
        case _:
            return f"No connection to {peer}."
