"""Accepts messages: everything between a validated body and its durable answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

from risala.config.model import Settings
from risala.engine.intake.groups import Groups
from risala.engine.intake.holding import Holding
from risala.engine.intake.intake_places import IntakePlaces, IntakeStatistics, KeysUnderWay
from risala.engine.intake.policies import Ruling
from risala.engine.intake.steps import (
    SAY_AGAIN,
    IntakeSteps,
    Judged,
    Keys,
    Result,
    firsts,
    in_order,
    unconfirmed,
)
from risala.engine.intake.together import Together
from risala.engine.journal.messages.messages import Around
from risala.engine.journal.messages.verifications import VerificationRepository
from risala.engine.limits.claims import SetCodeGuards, SetGeneralRate
from risala.engine.limits.limits import guards_of
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import UNCONFIRMED, OutcomeUnknown, Refusal
from risala.engine.model.records.ledger import StoredPayer
from risala.engine.model.records.messages import (
    Acceptance,
    NewCode,
    NewMessage,
    NewSealedCode,
    NewVerification,
    Stamp,
)
from risala.engine.model.records.people.organizations import Organization
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
        self.send_code_again = codes.send_again

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
        keys = [command.idempotency_key]
        work = partial(self._send, principal, command, by, around, keys)
        return await self._steps.recorder.answers.within(work, partial(unconfirmed, keys))

    async def _send(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        around: Around | None,
        keys: list[str | None],
    ) -> bytes:
        """As :meth:`send`; ``keys`` gets the message's key, also if that is ours."""
        with self._places.inside(1):
            if command.idempotency_key is None:
                return await self._accept(principal, command, by, around, keys)
            return await self._accept_once(principal, command, by, around, keys)

    async def _accept_once(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        around: Around | None,
        keys: list[str | None],
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
            return await self._accept(principal, command, by, around, keys)

    async def _accept(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        around: Around | None,
        keys: list[str | None],
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
            key = keys[0] = new.idempotency_key
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


# Accepts the messages of a batch, by one unit of work.


class Batches:
    def __init__(self, steps: IntakeSteps, places: IntakePlaces, keys: KeysUnderWay) -> None:
        self._steps = steps
        self._places = places
        self._keys = keys

    async def send(self, principal: Principal, commands: Sequence[SendMessage]) -> Sequence[Result]:
        """See :meth:`Gateway.send_batch`."""
        keys = [command.idempotency_key for command in commands]
        work = partial(self._send, principal, commands, keys)
        doubt = partial(unconfirmed, keys, of_batch=True)
        return await self._steps.recorder.answers.within(work, doubt)

    async def _send(
        self, principal: Principal, commands: Sequence[SendMessage], final_keys: list[str | None]
    ) -> Sequence[Result]:
        """As :meth:`send`; ``final_keys`` gets each message's key, also if that is ours."""
        slots = {
            (principal.organization_id, principal.mode, command.idempotency_key)
            for command in commands
            if command.idempotency_key is not None
        }
        with self._places.inside(len(commands)):
            # All keys are claimed together, and none is held while waiting for one: so two batches
            # that share keys never wait for each other.
            await self._keys.wait_free(slots)
            with self._keys.held(slots):
                return await self._accept(principal, commands, final_keys)

    async def _accept(
        self, principal: Principal, commands: Sequence[SendMessage], final_keys: list[str | None]
    ) -> Sequence[Result]:
        organization = self._steps.accounts.organization(principal.organization_id)
        stamp = self._steps.stamp(organization.id)
        holding = self._steps.holding(organization)
        keys = [command.idempotency_key for command in commands]
        rulings = (
            await self._steps.ruled(principal, commands) if self._steps.policies.are_there else ()
        )
        items = self._steps.judged(organization, principal, commands, rulings)
        try:
            if principal.mode is Mode.LIVE:
                items = await self._held(holding, keys, items)
            prepared = [item for item in items if isinstance(item, NewMessage)]
            if not prepared:
                if any(isinstance(item, bytes) for item in items):
                    await self._steps.recorder.journal.settled()
                return in_order(keys, items, ())
            final_keys[:] = _named(keys, items)
            accepted = await self._steps.messages.accept_batch(prepared, stamp)
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, OutcomeUnknown):
                named = tuple(_named(keys, items))
                raise OutcomeUnknown(SAY_AGAIN, named, of_batch=True) from error
            raise
        await holding.committed(prepared, accepted)
        self._steps.settled(organization, prepared, accepted.results, stamp)
        return in_order(keys, items, accepted.results)

    async def _held(self, holding: Holding, keys: Keys, items: list[Judged]) -> list[Judged]:
        """The items, with a token and a price held for those to write: for all together, or, if
        refused, for one after the other, as far as possible."""
        news = firsts(keys, items)
        try:
            if news:
                await holding.take(news)
        except Refusal:
            return await self._held_singly(holding, keys, items)
        return items

    async def _held_singly(
        self, holding: Holding, keys: Keys, items: Sequence[Judged]
    ) -> list[Judged]:
        held: list[Judged] = []
        with_keys: set[str | None] = set()
        for key, item in zip(keys, items, strict=True):
            held.append(item)
            # Only an accepted item saves a later one with its key a token and a price.
            if isinstance(item, NewMessage) and key not in with_keys:
                try:
                    await holding.take((item,))
                except Refusal as refusal:
                    held[-1] = refusal
                else:
                    with_keys |= {key} - {None}
        return held


def _named(keys: Keys, items: Sequence[Judged]) -> Iterator[str | None]:
    """The key of each message, also if it is ours."""
    for key, item in zip(keys, items, strict=True):
        yield item.idempotency_key if isinstance(item, NewMessage) else key


# Accepts the messages that carry codes.


class IntakeCodes:
    def __init__(
        self, steps: IntakeSteps, places: IntakePlaces, verifications: VerificationRepository
    ) -> None:
        self._steps = steps
        self._places = places
        self._verifications = verifications

    async def send(
        self,
        organization: Organization,
        mode: Mode,
        new: NewVerification,
        *,
        by: AuditEntry | None = None,
    ) -> None:
        """Accept a code's SMS and open its session: durable when this returns, or neither.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not possible now.
        """
        stamp = self._steps.stamp(organization.id)

        async def begin() -> Acceptance:
            return (await self._verifications.begin(new, stamp, by)).accepted

        work = partial(self._begin_code, organization, mode, new, stamp, begin)
        await self._steps.recorder.answers.within(work, partial(OutcomeUnknown, UNCONFIRMED))

    async def send_sealed(
        self, organization: Organization, mode: Mode, new: NewSealedCode
    ) -> bytes:
        """Accept the SMS of a code that other software made: durable when this returns.

        Returns the answer, as of :meth:`Intake.send`; that of an earlier one with the same key.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not possible now.
        """
        stamp = self._steps.stamp(organization.id)
        begin = partial(self._verifications.begin_sealed_code, new, stamp)
        work = partial(self._begin_code, organization, mode, new, stamp, begin)
        doubt = partial(unconfirmed, [new.message.idempotency_key])
        accepted = await self._steps.recorder.answers.within(work, doubt)
        (response,) = accepted.results
        assert isinstance(response, bytes)
        return response

    async def send_again(
        self,
        organization: Organization,
        mode: Mode,
        new: NewCode,
        begin: Callable[[Stamp | None], Awaitable[Acceptance]],
    ) -> None:
        """Accept a further message with the code of a session: durable when this returns.

        Args:
            begin: commits it, as the repositories do.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not possible now.
        """
        stamp = self._steps.stamp(organization.id)
        begun = partial(begin, stamp)
        work = partial(self._begin_code, organization, mode, new, stamp, begun)
        await self._steps.recorder.answers.within(work, partial(OutcomeUnknown, UNCONFIRMED))

    async def _begin_code(
        self,
        organization: Organization,
        mode: Mode,
        new: NewCode,
        stamp: Stamp | None,
        begin: Callable[[], Awaitable[Acceptance]],
    ) -> Acceptance:
        message = new.message
        is_free = isinstance(new, NewVerification) and new.is_fixed
        holding = self._steps.holding(organization)
        with self._places.inside(1):
            try:
                if mode is Mode.LIVE:
                    await holding.take_hour(new)
                    if not is_free:
                        await holding.reserve((message,))
                accepted = await begin()
            except BaseException as error:
                await holding.failed(error)
                raise
        await holding.committed((message,), accepted)
        if accepted.id is not None:
            if mode is Mode.LIVE:
                self._steps.recorder.minutes.accepted(1, message.created_at)
            self._steps.tell(message)
        if stamp is not None:
            self._steps.senders.look_again(organization.id)
        return accepted
