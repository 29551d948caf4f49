"""One modem on one open port, from ready to trouble: sending, receiving, looking after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Final

import trio

from risala.drivers.modem.at.engine import Answer, Urc
from risala.drivers.modem.at.errors import ErrorMeaning
from risala.drivers.modem.at.fields import Registration
from risala.drivers.modem.at.lines import RESTARTED
from risala.drivers.modem.card import limits
from risala.drivers.modem.card.balance import Balance
from risala.drivers.modem.inbound.calls import ModemCalls
from risala.drivers.modem.inbound.inbox import ModemInbox
from risala.drivers.modem.inbound.intake import ModemIntake
from risala.drivers.modem.network import lte
from risala.drivers.modem.network.chips import chip_of
from risala.drivers.modem.ready.pin import Unready
from risala.drivers.modem.ready.start import Facts
from risala.drivers.modem.sender import ModemSender, Records
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.talk.dialogue import Dialogues
from risala.drivers.modem.talk.link import HUNG_UP, LinkError, NoAnswerError, PortLostError
from risala.drivers.modem.watch import Sight, Watch
from risala.plugins.contract import (
    Declined,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Segment,
)

_TAIL: Final = 4
"""Digits of an IMSI and an ICCID that are shown: enough to distinguish SIMs."""


_MODE_S: Final = 60.0
"""A modem may leave its network before it answers a command that changes its mode."""
_REFUSALS: Final = {
    Registration.DENIED: "The network denies this SIM; ask its operator.",
    Registration.EMERGENCY: (
        "The network gives this SIM emergency calls alone; ask its operator whether it is active."
    ),
    Registration.RESTRICTED: (
        "The network gives this SIM restricted local services alone; ask its operator whether it is"
        " active."
    ),
}


class ModemSession:
    """A ready modem on one open port: its running tasks, and its health."""

    def __init__(
        self,
        context: DriverContext,
        asker: Asker,
        facts: Facts,
        settings: ModemSettings,
        records: Records,
        balance: Balance,
    ) -> None:
        self._context = context
        self._asker = asker
        self._facts = facts
        self._settings = settings
        self._records = records
        self.balance = balance
        self.dialogues = Dialogues(asker, self._on_unasked, context.trace, settings.inbound_coding)
        intake = ModemIntake(
            context,
            asker.link,
            records.log,
            records.parts,
            records.now_ms,
            wants_messages=settings.inbound,
            assembly_timeout_s=settings.assembly_timeout_s,
            coding=settings.inbound_coding,
        )
        self.inbox = ModemInbox(context, asker, facts, intake)
        self._calls = ModemCalls(context, asker) if facts.shows_callers else None
        self.chip = chip_of(facts.identity)
        self.sender = ModemSender(asker, facts, self.inbox, settings, records, self._why_lte)
        self._watch = Watch(asker, self.inbox, settings.check_every_s, self._on_sight)
        self._seen = False
        self._fault: LinkError | Unready | None = None
        self._scope = trio.CancelScope()

    @property
    def ready(self) -> bool:
        """Whether segments may be submitted."""
        return self._fault is None and self._seen and self.health.state is HealthState.UP

    def over_quota(self, segment: Segment) -> Outcome | None:
        """The refusal of a segment if the SIM's day or month has no room for it; else None."""
        refusal = limits.refusal(self._records.tally.quota, segment, self._records.now_ms())
        if refusal is not None:
            self.publish()
        return refusal

    def declines(self, recipient: str, segments: int, *, is_next: bool) -> Declined | None:
        """See :class:`~risala.plugins.contract.Choosy`."""
        quota, now_ms = self._records.tally.quota, self._records.now_ms()
        declined = limits.declined(quota, recipient, segments, now_ms, is_next=is_next)
        if is_next and declined is not None:
            self.publish()
        return declined

    async def serve(self) -> None:
        """Serve until the modem can no longer be served.

        Raises:
            LinkError: it does not answer, or the line was hung up.
            Unready: it answers, but cannot send.
        """
        with self._scope, closing(self.dialogues):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._guard, self._watch.run)
                nursery.start_soon(self._guard, self.sender.run)
                nursery.start_soon(self._guard, self.inbox.run)
                if self._calls is not None:
                    nursery.start_soon(self._guard, self._calls.run)
                nursery.start_soon(self._guard, self._ask_balance)
                nursery.start_soon(self._guard, self._notice_loss)
                nursery.start_soon(self._begin_days)
        if self._fault is not None:
            raise self._fault

    async def _guard(self, task: Callable[[], Awaitable[None]]) -> None:
        try:
            await task()
        except (LinkError, Unready) as fault:
            # Kept and raised by serve(): out of the nursery it would come wrapped in a group.
            self._end(fault)

    def _end(self, fault: LinkError | Unready) -> None:
        self._fault = self._fault or fault
        self.sender.end(self._fault)
        self._scope.cancel()

    async def _notice_loss(self) -> None:
        await self._asker.link.wait_lost()
        raise PortLostError(HUNG_UP)

    async def _ask_balance(self) -> None:
        await self.balance.run(self.dialogues, self.publish, self._context.trace)

    async def _begin_days(self) -> None:
        """Notify the engine at each midnight (UTC) that the day's quota is new."""
        while True:
            await trio.sleep(self._records.tally.quota.next_day_s(self._records.now_ms()) + 1)
            self.publish()

    def _on_unasked(self, text: str) -> None:
        if text:
            self._context.trace(f"The network says: {text}")

    def on_urc(self, urc: Urc) -> None:
        if urc.name in RESTARTED:
            self._asker.link.engine.forget()
            self._end(NoAnswerError("the modem restarted"))
        elif urc.name == "+CUSD":
            self.dialogues.on_urc(urc)
        elif self._calls is None or not self._calls.on_urc(urc):
            self.inbox.on_urc(urc)

    # -- health ----------------------------------------------------------------------------------

    def _on_sight(self, _: Sight) -> None:
        self._seen = True
        self.publish()

    def publish(self) -> None:
        if self._seen and self._fault is None:
            self._context.health(self.health)

    @property
    def health(self) -> Health:
        sight, name = self._watch.sight, self._facts.identity.name
        if not sight.registered:
            refusal = _REFUSALS.get(sight.registration) if sight.registration is not None else None
            if refusal is not None:
                return self._health(HealthState.SICK, refusal)
            return self._health(HealthState.DOWN, "Searching for a network.")
        quota, now_ms = self._records.tally.quota, self._records.now_ms()
        if used_up := limits.day_over(quota, now_ms):
            return self._health(HealthState.DOWN, used_up)
        where = f" on {sight.operator}" if sight.operator else ""
        sentences = [f"{name} is ready{where}.", limits.month_over(quota, now_ms)]
        sentences += [self._lte_warning, self._silence_of_reports, self.balance.attention or ""]
        return self._health(HealthState.UP, " ".join(filter(None, sentences)))

    def _health(self, state: HealthState, text: str) -> Health:
        return Health(state, text, self._details(), receipts=self._facts.routing.reports)

    @property
    def _lte_warning(self) -> str:
        return lte.warning(self._watch.sight.service, self.chip, self._context.carrier)

    def _why_lte(self, trouble: ErrorMeaning) -> str:
        return lte.reason(self._watch.sight.service, self.chip, self._context.carrier, trouble)

    async def by_operator(self, command: str) -> Answer | None:
        """Send a command that the operator has asked for; None if the modem does not answer it.

        Raises:
            LinkError: it answers nothing, or the line was hung up.
        """
        return await self._asker.try_(command, _MODE_S, by_operator=True)

    @property
    def _silence_of_reports(self) -> str:
        if self._facts.routing.reports:
            return ""
        if not self._settings.reports:
            return "It gives no delivery reports (reports = false)."
        return "It gives no delivery reports, because the modem does not pass them on."

    @property
    def _attention(self) -> str | None:
        """A warning for the operator; None without one. Missing reports are left out if the
        settings request none."""
        quota, now_ms = self._records.tally.quota, self._records.now_ms()
        silence = self._silence_of_reports if self._settings.reports else ""
        month = limits.month_over(quota, now_ms)
        warnings = (month, self._lte_warning, silence, self.balance.attention)
        return " ".join(filter(None, warnings)) or None

    def _details(self) -> dict[str, str | int | float | None]:
        sight, facts, quota = self._watch.sight, self._facts, self._records.tally.quota
        identity, balance = facts.identity, self.balance
        registered = sight.registration.name.lower() if sight.registration is not None else None
        details: dict[str, str | int | float | None] = {
            "model": identity.name,
            "imei": identity.imei or None,
            "imsi": f"…{identity.imsi[-_TAIL:]}" if identity.imsi else None,
            "iccid": f"…{identity.iccid[-_TAIL:]}" if identity.iccid else None,
            "number": identity.number or None,
            "smsc": facts.smsc or None,
            "calls": None if self._calls is None else "yes",
            "operator": sight.operator or None,
            "registration": registered,
            "signal_dbm": sight.signal_dbm,
            "reports": "yes" if facts.routing.reports else "no",
            "segments_today": quota.segments,
            "segments_per_day_max": quota.segments_max,
            "recipients_this_month": quota.recipients,
            "recipients_per_month_max": quota.recipients_max,
        }
        if sight.usage is not None:
            details["storage"] = f"{facts.storage} {sight.usage.used}/{sight.usage.total}"
        if balance.text:
            details["ussd"] = balance.text
            details["sim_balance"] = balance.amount
            details["sim_balance_is"] = "low" if balance.is_low else "fine"
        details["attention"] = self._attention
        return details
