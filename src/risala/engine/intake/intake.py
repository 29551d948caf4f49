"""Accepts messages: everything between a validated body and its durable answer."""

from __future__ import annotations

from functools import partial

from risala.config.model import Settings
from risala.engine.intake.batches import Batches
from risala.engine.intake.codes import IntakeCodes
from risala.engine.intake.groups import Groups
from risala.engine.intake.intake_places import IntakePlaces, IntakeStatistics, KeysUnderWay
from risala.engine.intake.policies import Ruling
from risala.engine.intake.steps import SAY_AGAIN, IntakeSteps, unconfirmed
from risala.engine.intake.together import Together
from risala.engine.journal.repositories.messages import Around
from risala.engine.journal.repositories.verifications import VerificationRepository
from risala.engine.limits.claims import SetCodeGuards, SetGeneralRate
from risala.engine.limits.limits import guards_of
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import OutcomeUnknown
from risala.engine.model.records.payer import StoredPayer
from risala.engine.model.states import Mode
from risala.engine.rules.days import day_of


class Intake:
    def __init__(
        self, settings: Settings, steps: IntakeSteps, verifications: VerificationRepository
    ) -> None:
        self._settings = settings
        self._steps = steps
        self.payer = steps.payer
        self.prices = steps.prices
        self.policies = steps.policies
        self.drafts = steps.drafts
        self.opt_outs = steps.opt_outs
        self._places = IntakePlaces(steps.recorder.journal, settings.engine.intake_max)
        self._keys = KeysUnderWay()
        self._groups = Groups(steps, self._places, self._keys)
        self._together = Together(self._groups.send, self._send_within)
        self.send_together = self._groups.send
        self.send_batch = Batches(steps, self._places, self._keys).send
        codes = IntakeCodes(steps, self._places, verifications)
        self.send_code = codes.send
        self.send_sealed_code = codes.send_sealed

    async def send(
        self,
        principal: Principal,
        command: SendMessage,
        *,
        by: AuditEntry | None = None,
        around: Around | None = None,
    ) -> bytes:
        """See :meth:`Gateway.send_message`.

        Args:
            by: the actor named in the audit trail, written in the same unit.
            around: makes one unit of what accepts it and of what is stored with it.
        """
        if by is None and around is None and self._groups.are_possible:
            return await self._together.ask(principal, command)
        return await self._send_within(principal, command, by, around)

    def retune(self, settings: Settings) -> None:
        """Apply prices and limits that were changed at run time."""
        self._settings = settings
        self._places.retune(settings.engine.intake_max)
        self.prices.retune(settings)
        self._steps.limits.tell_nowait(SetGeneralRate(settings.limits.sms_per_s))
        self._steps.limits.tell_nowait(SetCodeGuards(guards_of(settings.limits)))

    def follow_payer(self, stored: StoredPayer | None) -> None:
        """Follow operators' choice of who pays, from the next message on."""
        self.payer.choose(stored)
        self.prices.retune(self._settings)

    async def can_pay(self, organization_id: str) -> bool:
        """Whether an organization can pay for one segment at home now, or nobody pays."""
        if self.payer.is_self:
            return True
        organization = self._steps.accounts.organization(organization_id)
        day = day_of(organization.time_zone, self._steps.recorder.clock.now_ms())
        price = self.prices.per_segment_of(organization)
        return await self._steps.holding(organization).can_pay(price, day)

    def drain(self) -> None:
        """Accept nothing from now on: the service stops."""
        self._places.draining = True

    @property
    def draining(self) -> bool:
        return self._places.draining

    @property
    def per_segment(self) -> int:
        """The general price, in minor units."""
        return self.prices.per_segment

    @property
    def low_balance(self) -> int:
        """Below this, in minor units, an organization is notified that its balance is low."""
        return self.prices.low_balance

    @property
    def accepted(self) -> int:
        """Messages that were accepted since the start."""
        return self._steps.accepted

    def statistics(self) -> IntakeStatistics:
        return self._places.statistics(self._steps.accepted)

    # -- one message

    async def _send_within(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None = None,
        around: Around | None = None,
    ) -> bytes:
        told = [command.idempotency_key]
        work = partial(self._send, principal, command, by, around, told)
        return await self._steps.recorder.answers.within(work, partial(unconfirmed, told))

    async def _send(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        around: Around | None,
        told: list[str | None],
    ) -> bytes:
        """As :meth:`send`; ``told`` gets the message's key, also if that is ours."""
        with self._places.inside(1):
            if command.idempotency_key is None:
                return await self._accept(principal, command, by, around, told)
            return await self._accept_once(principal, command, by, around, told)

    async def _accept_once(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        around: Around | None,
        told: list[str | None],
    ) -> bytes:
        """Accept a message with a key. Of several requests with one key at the same time one
        proceeds; the others wait and find its answer in the journal."""
        slot = (principal.organization_id, principal.mode, command.idempotency_key or "")
        while True:
            known = self._steps.messages.known_answer(*slot)
            if known is not None:
                await self._steps.recorder.journal.settled()
                return known
            if slot not in self._keys:
                break
            await self._keys.wait_free({slot})
        # There was no await since the look-up in the journal, so no other request came in between.
        with self._keys.held((slot,)):
            return await self._accept(principal, command, by, around, told)

    async def _accept(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        around: Around | None,
        told: list[str | None],
    ) -> bytes:
        organization = self._steps.accounts.organization(principal.organization_id)
        ruled: Ruling | None = None
        if self.policies.are_there:
            (ruled,) = await self.policies.rule(principal, (command,))
        stamp = self._steps.stamp(organization.id)
        holding = self._steps.holding(organization)
        key: str | None = None
        try:
            new = self._steps.drafted(
                self.drafts.of_request(organization, principal, 1), principal, command, ruled
            )
            if principal.mode is Mode.LIVE:
                await holding.take((new,))
            key = told[0] = new.idempotency_key
            accepted = await self._steps.messages.accept(new, stamp, by, around)
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, OutcomeUnknown):
                raise OutcomeUnknown(SAY_AGAIN, (key,)) from error
            raise
        await holding.committed((new,), accepted)
        self._steps.settled(organization, (new,), accepted.results, stamp)
        (response,) = accepted.results
        assert isinstance(response, bytes)
        return response
