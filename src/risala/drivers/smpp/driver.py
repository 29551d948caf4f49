"""The SMPP driver: the links of one account at one SMSC, and their traffic."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import trio

from risala.drivers.smpp.channel import BindKind, Channel
from risala.drivers.smpp.habits import Habits, asks_for_receipts
from risala.drivers.smpp.inbox import SmppInbox
from risala.drivers.smpp.link import Link, LinkError, LinkHandler, NotSentError
from risala.drivers.smpp.outbind import OutbindListener
from risala.drivers.smpp.protocol.fields import FieldError
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, Pdu, QuerySmResp, SubmitSmResp
from risala.drivers.smpp.protocol.receipt import other_forms, query_receipt
from risala.drivers.smpp.protocol.status import refusal
from risala.drivers.smpp.protocol.submit import query_sm, submit_sm
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.watches import QuietWatch, ReceiptWatch
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    Cause,
    CommandRefusedError,
    DriverCommand,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Receipt,
    Refused,
    Scope,
    Segment,
    Unsent,
)
from risala.sms.values import quickly

_KINDS = {
    "transceiver": (BindKind.TRANSCEIVER,),
    "transmitter_receiver": (BindKind.TRANSMITTER, BindKind.RECEIVER),
}

_accepted = quickly(Accepted)
_BROUGHT: Final = (DeliverSm.command_id, DataSm.command_id)
_QUIET_LOOKS: Final = 10
"""Checks of a carrier's silence in each ``quiet_s``."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class _Waiting:
    """The caller that waits for the outcome of a submit."""

    def __init__(self) -> None:
        self.answered = trio.Event()
        self.outcome: Outcome | None = None
        self._instead: Callable[[Outcome], None] | None = None

    def hear(self, outcome: Outcome) -> None:
        if self._instead is not None:
            self._instead(outcome)
            return
        self.outcome = outcome
        self.answered.set()

    def leave(self, instead: Callable[[Outcome], None]) -> None:
        """Stop waiting: the outcome is passed there, now or when it comes."""
        self._instead = instead
        if self.outcome is not None:
            instead(self.outcome)


class SmppDriver:
    """See :class:`risala.plugins.contract.Driver`.

    Args:
        carrier: its configured name.
        rng: the source of the jitter of reconnecting.
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
            # In transaction mode the answer has the content of a receipt.
            receipts=asks_for_receipts(settings) or settings.transaction_mode,
            inbound=True,
            query=settings.query,
            validity=settings.validity != "none",
            window_max=settings.window_max,
            # Twice the answer's time: a submit that may have been refused for its reference is sent
            # a second time without one.
            submit_s=2 * settings.submit_timeout_s,
            account=f"{settings.host.lower()} {settings.system_id}",
            flash=settings.flash != "none",
        )
        self._rng = rng or random.Random()  # noqa: S311 - jitter is no secret
        self._now_ms = now_ms
        self._options = settings.submit_options
        self._verdicts = settings.verdicts
        self._causes = settings.causes
        self._channels: list[Channel] = []
        self._guests: list[Channel] = []
        """Channels on connections that the carrier opened (outbind), while they last."""
        self._senders: list[Channel] = []
        """The channels of both kinds that can send, once they are bound."""
        self._inbox: SmppInbox | None = None
        self._context: DriverContext | None = None
        self._habits = Habits(settings, self._learnt)
        self._receipts = ReceiptWatch(self._learnt)
        self._quiet = QuietWatch(settings.quiet_s if asks_for_receipts(settings) else 0.0)
        self._told_by: Channel | None = None

    # -- submitting --------------------------------------------------------------------------

    async def submit(self, segment: Segment) -> Outcome:
        waiting = _Waiting()
        self.post(segment, waiting.hear)
        try:
            await waiting.answered.wait()
        except trio.Cancelled:
            waiting.leave(partial(self._late, segment))
            raise
        assert waiting.outcome is not None
        return waiting.outcome

    def post(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        """See :class:`risala.plugins.contract.Posting`."""
        link = self._sending_link()
        if link is None:
            answered(Unsent(""))
            return
        self._post(link, segment, answered, has_reference=self._habits.references.is_given)

    def _post(
        self,
        link: Link,
        segment: Segment,
        answered: Callable[[Outcome], None],
        *,
        has_reference: bool,
    ) -> None:
        def settle(result: Pdu | LinkError) -> None:
            if isinstance(result, LinkError):
                answered(self._unanswered(link, result))
                return
            status = result.command_status
            if status and has_reference and self._habits.references.may_be_why(status):
                again = partial(self._tried_without_reference, answered)
                self._post(link, segment, again, has_reference=False)
                return
            answered(self._outcome(result, segment, has_reference=has_reference))

        try:
            request = submit_sm(segment, self._options, self._now_ms(), has_reference=has_reference)
            link.post(request, settle, segment, self.settings.submit_timeout_s)
        except NotSentError as fault:
            answered(Unsent(str(fault)))
        except ValueError:
            # FieldError, UnsendableError and the like. Their own texts are not passed on: they may
            # quote the message's text.
            answered(Refused(Scope.CARRIER, "", cause=Cause.NOT_ENCODABLE))

    def _unanswered(self, link: Link, fault: LinkError) -> Outcome:
        if isinstance(fault, NotSentError):
            return Unsent(str(fault))
        cause = Cause.NO_ANSWER if link.reason is None else Cause.LINK_LOST
        return self._habits.uncertain(str(fault), cause)

    def _tried_without_reference(
        self, answered: Callable[[Outcome], None], outcome: Outcome
    ) -> None:
        self._habits.tried_without_reference(is_taken=isinstance(outcome, Accepted))
        answered(outcome)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Ask by ``query_sm`` (SMPP 3.4 §4.8); None if the setting ``query`` is off.

        The SMSC answers only if the source address is that of the submit (§4.8.1).
        """
        link = self._sending_link()
        if link is None or not self.settings.query:
            return None
        try:
            response = await link.request(query_sm(carrier_id, sender, self._options))
        except (LinkError, FieldError):
            return None
        if not isinstance(response, QuerySmResp) or response.command_status:
            return None
        return query_receipt(response, carrier_id)

    def other_ids(self, carrier_id: str) -> tuple[str, ...]:
        """See :class:`risala.plugins.contract.IdForms`: by the setting ``message_id_form``."""
        return other_forms(carrier_id, self.settings.message_id_form)

    def _sending_link(self) -> Link | None:
        """The bound link that can send and has the fewest requests unanswered; None without such a
        link."""
        least_busy: Link | None = None
        for channel in self._senders:
            link = channel.link
            if link is None:
                continue
            if least_busy is None or link.session.outstanding < least_busy.session.outstanding:
                least_busy = link
        return least_busy

    def _outcome(self, response: Pdu, segment: Segment, *, has_reference: bool) -> Outcome:
        if response.command_status:
            return refusal(
                response.command_status,
                self._verdicts,
                self._causes,
                is_transaction=self.settings.transaction_mode,
            )
        if isinstance(response, SubmitSmResp) and self.settings.transaction_mode:
            return _accepted(response.message_id, "ESME_ROK", None, True)
        if isinstance(response, SubmitSmResp):
            self._habits.accepted(response, segment, has_reference=has_reference)
            self._quiet.accepted(trio.current_time())
            load = self._habits.load_percent(response.tlvs) if response.tlvs else None
            return _accepted(response.message_id, "ESME_ROK", load)
        # generic_nack with command_status 0: the carrier did not take it, and gives no reason.
        return Refused(Scope.CARRIER, "generic_nack", cause=Cause.UNSUPPORTED)

    # -- commands of the operator ------------------------------------------------------------

    commands = (DriverCommand("bind", "Connect and bind now, without waiting."),)

    async def command(self, name: str, arguments: Sequence[str]) -> Mapping[str, str]:
        """See :class:`risala.plugins.contract.Commandable`."""
        await trio.lowlevel.checkpoint()
        waiting = [channel for channel in self._channels if channel.link is None]
        if name != "bind" or not waiting:
            raise CommandRefusedError("Every link is bound.")
        for channel in waiting:
            channel.hurry()
        return {"links that connect now": str(len(waiting))}

    # -- the links' life ---------------------------------------------------------------------

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        self._context = context
        settings = self.settings
        self._inbox = SmppInbox(
            context,
            id_form=settings.message_id_form,
            causes=settings.receipt_causes,
            states=settings.states,
            default_alphabet=settings.default_alphabet,
            coding=settings.inbound_coding,
            now_ms=self._now_ms,
            parts_timeout_s=settings.parts_timeout_s,
            look_at=self._habits.receipt,
            watch=self._receipts,
        )
        self._guests = []
        self._channels = [
            self._channel(kind) for _ in range(settings.links) for kind in _KINDS[settings.bind]
        ]
        self._senders = [channel for channel in self._channels if channel.sends]
        # Reported at the start only: later the latest failure is more useful, until a bind
        # succeeds.
        waiting = Health(HealthState.DOWN, "Waiting for the carrier's outbind.")
        context.health(self._channels[0].health if self._channels else waiting)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._inbox.run)
            if settings.quiet_s:
                nursery.start_soon(self._watch_quiet)
            for channel in self._channels:
                nursery.start_soon(channel.run)
            if settings.outbind is not None:
                listener = OutbindListener(settings.outbind, self, self._guest, context.trace)
                nursery.start_soon(listener.run)

    async def _watch_quiet(self) -> None:
        """Bind receiving links again that have brought nothing for too long."""
        while True:
            await trio.sleep(self.settings.quiet_s / _QUIET_LOOKS)
            if not self._quiet.is_due(trio.current_time()):
                continue
            self._quiet.bound_again(trio.current_time())
            again = [one for one in self._channels if one.kind.receives and one.link is not None]
            self._learnt("No receipt and no message has come for a long time: binding again.")
            for channel in again:
                channel.bind_again()

    def _channel(self, kind: BindKind, handler: LinkHandler | None = None) -> Channel:
        assert self._context is not None
        return Channel(
            kind,
            self.settings,
            handler or self,
            on_change=self._tell_health,
            trace=self._context.trace,
            rng=self._rng,
            wire=self._context.traffic,
        )

    def _guest(self, handler: LinkHandler) -> Channel:
        pair = self.settings.bind == "transmitter_receiver"
        channel = self._channel(BindKind.RECEIVER if pair else BindKind.TRANSCEIVER, handler)
        self._guests = [one for one in self._guests if not one.has_ended]
        self._guests.append(channel)
        every = (*self._channels, *self._guests)
        self._senders = [one for one in every if one.sends]
        return channel

    def _tell_health(self, changed: Channel) -> None:
        """Report to the engine that the carrier is up while any channel can send; else the health
        of the channel that changed last."""
        assert self._context is not None
        if changed.link is not None:
            self._habits.bound(changed.sc_interface_version)
        bound = [one for one in (*self._channels, *self._guests) if one.link is not None]
        senders = [one for one in bound if one.sends]
        if not senders:
            sick = [one for one in self._channels if one.health.state is HealthState.SICK]
            health = (sick or [changed])[0].health
            state = HealthState.SICK if sick else HealthState.DOWN
            text = "Bound to receive, but not to send." if bound and not sick else health.text
            self._context.health(Health(state, text, health.details))
            return
        details: dict[str, str | int | float | None] = {
            "bind": self.settings.bind,
            "peer": changed.peer,
            "smsc": senders[0].system_id,
            "links": len(bound),
            **self._habits.details,
            **self._receipts.details,
        }
        if attention := self._quiet.attention or self._receipts.attention:
            details["attention"] = attention
        text = "Bound."
        if not any(one.kind.receives for one in bound):
            text = "Bound to send, but not to receive: receipts wait at the carrier."
        elif len(bound) < len(self._channels):
            text = f"Bound by {len(bound)} links of {len(self._channels)}."
        self._told_by = changed
        self._context.health(Health(HealthState.UP, text + self._habits.hint, details))

    def _learnt(self, news: str) -> None:
        if self._context is not None:
            self._context.trace(news)
        if self._told_by is not None:
            self._tell_health(self._told_by)

    # -- events of the links (LinkHandler) ---------------------------------------------------

    def on_request(self, link: Link, request: Pdu) -> None:
        assert self._inbox is not None
        if request.command_id in _BROUGHT and self._quiet.came():
            self._learnt("Receipts or messages are coming again.")
        self._inbox.deliver(link, request)

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        if isinstance(token, Segment):
            is_referenced = self._habits.references.is_given
            self._late(token, self._outcome(response, token, has_reference=is_referenced))

    def _late(self, segment: Segment, outcome: Outcome) -> None:
        if self._inbox is not None:
            self._inbox.late(segment, outcome)

    def on_trouble(self, link: Link, text: str) -> None:
        if self._context is not None:
            self._context.trace(f"The carrier broke the protocol: {text}.")
