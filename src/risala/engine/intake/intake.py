"""Accepts messages: everything between a validated body and its durable answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final

import structlog
import trio

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.actors.actor import Ref
from risala.engine.billing.claims import BillingMessage
from risala.engine.billing.payer import PayerPolicy
from risala.engine.billing.prices import Prices
from risala.engine.intake.batch import Judged, Keys, Result, firsts, in_order
from risala.engine.intake.draft import Ailing, Drafts, RequestDrafts
from risala.engine.intake.holding import Holding
from risala.engine.intake.opt_outs import OptOuts
from risala.engine.intake.policies import Policies, Ruled, Ruling
from risala.engine.intake.together import Answers, Together
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories.all import Repositories
from risala.engine.limits.claims import LimitsMessage, SetCodeGuards, SetGeneralRate
from risala.engine.limits.limits import guards_of
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import (
    UNCONFIRMED,
    Draining,
    LogSilent,
    OutcomeUnknown,
    Overloaded,
    Refusal,
    SenderNotApproved,
    StorageFailed,
)
from risala.engine.model.events import Callback
from risala.engine.model.ids import MessageIds
from risala.engine.model.lines import Line
from risala.engine.model.records.messages import (
    Acceptance,
    Change,
    NewCode,
    NewHookCode,
    NewMessage,
    NewVerification,
    Stamp,
)
from risala.engine.model.records.paying.payer import StoredPayer
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import Mode, Status
from risala.engine.rules.days import day_of
from risala.engine.rules.router import Router

log = structlog.get_logger(__name__)


_Slot = tuple[str, Mode, str]
"""Organization, mode and idempotency key."""
_SAY_AGAIN: Final = (
    "The disk failed while this was being stored, so it may or may not be stored. Send it again "
    "with the key in `data`: the answer shows the result."
)


_CONFIRM_AGAIN: Final = (
    "The second machine has not confirmed this in time, so it may or may not be stored. Send it "
    "again with the key in `data`: the answer shows the result."
)


@dataclass(frozen=True, slots=True)
class IntakeStatistics:
    intake: int
    intake_peak: int
    intake_max: int
    accepted: int


class Intake:
    def __init__(
        self,
        settings: Settings,
        recorder: Recorder,
        repositories: Repositories,
        ids: MessageIds,
        accounts: Accounts,
        senders: Senders,
        router: Router,
        limits: Ref[LimitsMessage],
        billing: Ref[BillingMessage],
        ailing: Ailing,
        policies: Policies,
    ) -> None:
        self._settings = settings
        self._recorder = recorder
        self._messages = repositories.messages
        self._verifications = repositories.verifications
        self._accounts = accounts
        self._senders = senders
        self.payer = PayerPolicy(settings, repositories.organizations.stored_payer())
        self.prices = Prices(settings, repositories.organizations.opened, self.payer)
        self.policies = policies
        self._limits = limits
        self._billing = billing
        self.drafts = Drafts(settings, self.prices, recorder.clock, ids, senders, router, ailing)
        self.opt_outs = OptOuts(repositories.inbound)
        self._together = Together(self.send_together, self._send_within)
        self._first_of_key: dict[_Slot, trio.Event] = {}
        self._taking = self._peak = self._accepted = 0
        self._draining = False
        self._log = log.bind()
        """Bound once, instead of for each line."""

    async def send(
        self,
        principal: Principal,
        command: SendMessage,
        *,
        by: AuditEntry | None = None,
        callback: Callback | None = None,
    ) -> bytes:
        """See :meth:`Gateway.send_message`.

        Args:
            by: the actor named in the audit trail, written in the same unit.
            callback: what to call as the message goes on, stored in the same unit.
        """
        if by is None and callback is None and self._waits_for_journal_alone:
            return await self._together.ask(principal, command)
        return await self._send_within(principal, command, by, callback)

    @property
    def _waits_for_journal_alone(self) -> bool:
        """Whether accepting a message waits for the journal and its log alone, if no other has its
        key."""
        return not self.policies.are_there and not self._recorder.journal.is_inline

    async def _send_within(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None = None,
        callback: Callback | None = None,
    ) -> bytes:
        told = [command.idempotency_key]
        work = partial(self._send, principal, command, by, callback, told)
        return await self._recorder.answers.within(work, partial(_unconfirmed, told))

    async def _send(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        callback: Callback | None,
        told: list[str | None],
    ) -> bytes:
        """As :meth:`send`; ``told`` gets the message's key, also if that is ours."""
        self._let_in(1)
        try:
            if command.idempotency_key is None:
                return await self._accept(principal, command, by, callback, told)
            return await self._accept_once(principal, command, by, callback, told)
        finally:
            self._let_out(1)

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[Result]:
        """See :meth:`Gateway.send_batch`."""
        told = [command.idempotency_key for command in commands]
        work = partial(self._send_batch, principal, commands, told)
        doubt = partial(_unconfirmed, told, of_batch=True)
        return await self._recorder.answers.within(work, doubt)

    async def _send_batch(
        self, principal: Principal, commands: Sequence[SendMessage], told: list[str | None]
    ) -> Sequence[Result]:
        self._let_in(len(commands))
        try:
            return await self._accept_batch(principal, commands, told)
        finally:
            self._let_out(len(commands))

    def retune(self, settings: Settings) -> None:
        """Apply prices and limits that were changed at run time."""
        self._settings = settings
        self.prices.retune(settings)
        self._limits.tell_nowait(SetGeneralRate(settings.limits.sms_per_s))
        self._limits.tell_nowait(SetCodeGuards(guards_of(settings.limits)))

    def follow_payer(self, stored: StoredPayer | None) -> None:
        """Follow operators' choice of who pays, from the next message on."""
        self.payer.choose(stored)
        self.prices.retune(self._settings)

    async def can_pay(self, organization_id: str) -> bool:
        """Whether an organization can pay for one segment at home now, or nobody pays."""
        if self.payer.is_self:
            return True
        organization = self._accounts.organization(organization_id)
        day = day_of(organization.time_zone, self._recorder.clock.now_ms())
        price = self.prices.per_segment_of(organization)
        return await self._holding(organization).can_pay(price, day)

    def drain(self) -> None:
        """Accept nothing from now on: the service stops."""
        self._draining = True

    @property
    def draining(self) -> bool:
        return self._draining

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
        return self._accepted

    def statistics(self) -> IntakeStatistics:
        return IntakeStatistics(
            self._taking, self._peak, self._settings.engine.intake_max, self._accepted
        )

    def _let_in(self, number: int) -> None:
        """Count so many messages as being accepted, until :meth:`_let_out`.

        Raises:
            Draining: the service stops.
            StorageFailed: the database cannot be written, or is not the one that was opened.
            Overloaded: too many are being accepted.
        """
        if self._draining:
            raise Draining
        if self._recorder.journal.condition.lasts:
            raise StorageFailed
        if self._taking + number > self._settings.engine.intake_max:
            raise Overloaded
        self._taking += number
        self._peak = max(self._peak, self._taking)

    def _let_out(self, number: int) -> None:
        self._taking -= number

    # -- one message

    async def _accept_once(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        callback: Callback | None,
        told: list[str | None],
    ) -> bytes:
        """Accept a message with a key. Of several requests with one key at the same time one
        proceeds; the others wait and find its answer in the journal."""
        slot = (principal.organization_id, principal.mode, command.idempotency_key or "")
        while True:
            known = self._messages.known_answer(*slot)
            if known is not None:
                await self._recorder.journal.settled()
                return known
            first = self._first_of_key.get(slot)
            if first is None:
                break
            await first.wait()
        # There was no await since the look-up in the journal, so no other request came in between.
        event = self._first_of_key[slot] = trio.Event()
        try:
            return await self._accept(principal, command, by, callback, told)
        finally:
            del self._first_of_key[slot]
            event.set()

    async def _accept(
        self,
        principal: Principal,
        command: SendMessage,
        by: AuditEntry | None,
        callback: Callback | None,
        told: list[str | None],
    ) -> bytes:
        organization = self._accounts.organization(principal.organization_id)
        ruled: Ruling | None = None
        if self.policies.are_there:
            (ruled,) = await self.policies.rule(principal, (command,))
        stamp = self._stamp(organization.id)
        holding = self._holding(organization)
        key: str | None = None
        try:
            new = self._drafted(
                self.drafts.of_request(organization, principal, 1), principal, command, ruled
            )
            if principal.mode is Mode.LIVE:
                await holding.take((new,))
            key = told[0] = new.idempotency_key
            accepted = await self._messages.accept(new, stamp, by, callback)
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, OutcomeUnknown):
                raise OutcomeUnknown(_SAY_AGAIN, (key,)) from error
            raise
        await holding.committed((new,), accepted)
        self._settled(organization, (new,), accepted.results, stamp)
        (response,) = accepted.results
        assert isinstance(response, bytes)
        return response

    # -- messages of many requests

    async def send_together(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Answers[bytes] | None:
        """As :meth:`send` for each of these requests of one key, by one unit.

        None for all or for one: it was not accepted, and has to be asked alone, so that it is told
        its own reason, or waits for another request with its idempotency key.

        A cancellation waits for it: the others that are taken with one that gave up do not.
        """
        if not self._waits_for_journal_alone:
            return None
        told = [command.idempotency_key for command in commands]
        work = partial(self._send_together, principal, commands, told)
        answers: Answers[bytes] | None = None
        with trio.CancelScope(shield=True):
            try:
                answers = await self._recorder.answers.within(work, partial(_unconfirmed, told))
            except LogSilent:
                pass
            except OutcomeUnknown:
                answers = [_unconfirmed((key,)) for key in told]
        return answers

    async def _send_together(
        self, principal: Principal, commands: Sequence[SendMessage], told: list[str | None]
    ) -> Answers[bytes] | None:
        """As :meth:`send_together`; ``told`` gets each message's key, also if that is ours."""
        slots = self._take_slots(principal, commands)
        try:
            accepted = await self._send_fresh(principal, commands, [*slots], told)
        finally:
            for slot in slots.values():
                if slot is not None:
                    self._first_of_key.pop(slot).set()
        if accepted is None:
            return None
        answers = dict(zip(slots, accepted, strict=True))
        return [answers.get(place) for place in range(len(commands))]

    def _take_slots(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> dict[int, _Slot | None]:
        """Hold the keys that no other request has: the places of the commands that may go on, with
        what they hold."""
        slots: dict[int, _Slot | None] = {}
        for place, command in enumerate(commands):
            if command.idempotency_key is None:
                slots[place] = None
                continue
            slot = (principal.organization_id, principal.mode, command.idempotency_key)
            if slot not in self._first_of_key:
                self._first_of_key[slot] = trio.Event()
                slots[place] = slot
        return slots

    async def _send_fresh(
        self,
        principal: Principal,
        all_commands: Sequence[SendMessage],
        places: Sequence[int],
        told: list[str | None],
    ) -> Sequence[bytes | Exception] | None:
        """Accept the messages at these places, whose keys no other request has. None: none of them
        was accepted."""
        commands = [all_commands[place] for place in places]
        if not commands:
            return ()
        try:
            organization = self._accounts.organization(principal.organization_id)
            stamp = self._stamp(organization.id)
            items = self._judged(organization, principal, commands, ())
            if any(isinstance(item, bytes) for item in items):
                await self._recorder.journal.settled()
            self._let_in(len(commands))
        except Exception:  # noqa: BLE001 -- of one of them perhaps: whose it is meets it alone
            return None
        for place, item in zip(places, items, strict=True):
            if isinstance(item, NewMessage):
                told[place] = item.idempotency_key
        prepared = [item for item in items if isinstance(item, NewMessage)]
        try:
            results = await self._accept_prepared(organization, principal, prepared, stamp)
        finally:
            self._let_out(len(commands))
        if results is None:
            return None
        each = iter(results)
        return [next(each) if isinstance(item, NewMessage) else item for item in items]

    async def _accept_prepared(
        self,
        organization: Organization,
        principal: Principal,
        news: Sequence[NewMessage],
        stamp: Stamp | None,
    ) -> Sequence[bytes | Exception] | None:
        """Accept messages of a request each. None: none of them was."""
        if not news:
            return ()
        holding = self._holding(organization)
        try:
            if principal.mode is Mode.LIVE:
                await holding.take(news)
            accepted = await self._messages.accept_each(news, stamp)
        except OutcomeUnknown as error:
            await holding.failed(error)
            return [_doubted(new) for new in news]
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, Exception):
                return None
            raise
        results: list[bytes | Exception] = [*accepted.results]
        doubts = [each for each in results if isinstance(each, OutcomeUnknown)]
        if doubts:
            await holding.failed(doubts[0])
        else:
            await holding.committed(news, accepted)
        self._settled(organization, news, accepted.results, stamp)
        return [
            _doubted(new) if isinstance(result, OutcomeUnknown) else result
            for new, result in zip(news, results, strict=True)
        ]

    # -- many messages

    async def _accept_batch(
        self, principal: Principal, commands: Sequence[SendMessage], told: list[str | None]
    ) -> Sequence[Result]:
        slots = {
            (principal.organization_id, principal.mode, command.idempotency_key)
            for command in commands
            if command.idempotency_key is not None
        }
        # All keys are claimed together, and none is held while waiting for one: so two batches that
        # share keys never wait for each other.
        while busy := slots & self._first_of_key.keys():
            await self._first_of_key[busy.pop()].wait()
        event = trio.Event()
        self._first_of_key.update(dict.fromkeys(slots, event))
        try:
            return await self._accept_claimed(principal, commands, told)
        finally:
            for slot in slots:
                del self._first_of_key[slot]
            event.set()

    async def _accept_claimed(
        self, principal: Principal, commands: Sequence[SendMessage], told: list[str | None]
    ) -> Sequence[Result]:
        organization = self._accounts.organization(principal.organization_id)
        stamp = self._stamp(organization.id)
        holding = self._holding(organization)
        keys = [command.idempotency_key for command in commands]
        rulings = await self._ruled(principal, commands) if self.policies.are_there else ()
        items = self._judged(organization, principal, commands, rulings)
        try:
            if principal.mode is Mode.LIVE:
                items = await self._held(holding, keys, items)
            prepared = [item for item in items if isinstance(item, NewMessage)]
            if not prepared:
                await self._recorder.journal.settled()
                return in_order(keys, items, ())
            told[:] = _named(keys, items)
            accepted = await self._messages.accept_batch(prepared, stamp)
        except BaseException as error:
            await holding.failed(error)
            if isinstance(error, OutcomeUnknown):
                named = tuple(_named(keys, items))
                raise OutcomeUnknown(_SAY_AGAIN, named, of_batch=True) from error
            raise
        await holding.committed(prepared, accepted)
        self._settled(organization, prepared, accepted.results, stamp)
        return in_order(keys, items, accepted.results)

    async def _ruled(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[Ruling | None]:
        """The policies' result for each command; None if its key was answered before, because it is
        no new message."""
        asked = [
            each.idempotency_key is None or self._known(principal, each.idempotency_key) is None
            for each in commands
        ]
        new = [each for each, is_asked in zip(commands, asked, strict=True) if is_asked]
        rulings = iter(await self.policies.rule(principal, new))
        return [next(rulings) if is_asked else None for is_asked in asked]

    def _judged(
        self,
        organization: Organization,
        principal: Principal,
        commands: Sequence[SendMessage],
        rulings: Sequence[Ruling | None],
    ) -> list[Judged]:
        """Each command's row, or its answer: by its key, sender and recipient.

        Args:
            rulings: the policies' results; empty if there are no policies.
        """
        drafts = self.drafts.of_request(organization, principal, len(commands))
        items: list[Judged] = []
        keys = [each.idempotency_key for each in commands if each.idempotency_key is not None]
        used = self._messages.used_keys(principal.organization_id, principal.mode, keys)
        for command, ruling in zip_longest(commands, rulings):
            key = command.idempotency_key
            try:
                known = self._known(principal, key) if key in used and key is not None else None
                items.append(known or self._drafted(drafts, principal, command, ruling))
            except Refusal as refusal:
                items.append(refusal)
        return items

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

    def _known(self, principal: Principal, key: str) -> bytes | None:
        return self._messages.known_answer(principal.organization_id, principal.mode, key)

    # -- a code

    async def send_code(
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
        stamp = self._stamp(organization.id)

        async def begin() -> Acceptance:
            return (await self._verifications.begin(new, stamp, by)).accepted

        work = partial(self._begin_code, organization, mode, new, stamp, begin)
        await self._recorder.answers.within(work, partial(OutcomeUnknown, UNCONFIRMED))

    async def send_hook_code(
        self, organization: Organization, mode: Mode, new: NewHookCode
    ) -> bytes:
        """Accept the SMS of a code that other software made: durable when this returns.

        Returns the answer, as of :meth:`send`; that of an earlier one with the same key.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not possible now.
        """
        stamp = self._stamp(organization.id)
        begin = partial(self._verifications.begin_hook_code, new, stamp)
        work = partial(self._begin_code, organization, mode, new, stamp, begin)
        doubt = partial(_unconfirmed, [new.message.idempotency_key])
        accepted = await self._recorder.answers.within(work, doubt)
        (response,) = accepted.results
        assert isinstance(response, bytes)
        return response

    async def _begin_code(
        self,
        organization: Organization,
        mode: Mode,
        new: NewCode,
        stamp: Stamp | None,
        begin: Callable[[], Awaitable[Acceptance]],
    ) -> Acceptance:
        message = new.message
        holding = self._holding(organization)
        self._let_in(1)
        try:
            if mode is Mode.LIVE:
                await holding.take_hour(new)
                await holding.reserve((message,))
            accepted = await begin()
        except BaseException as error:
            await holding.failed(error)
            raise
        finally:
            self._let_out(1)
        await holding.committed((message,), accepted)
        if accepted.id is not None:
            if mode is Mode.LIVE:
                self._recorder.minutes.accepted(1, message.created_at)
            self._tell(message)
        if stamp is not None:
            self._senders.look_again(organization.id)
        return accepted

    # -- the steps of all

    def _holding(self, organization: Organization) -> Holding:
        return Holding(self._limits, self._billing, organization)

    def _drafted(
        self,
        drafts: RequestDrafts,
        principal: Principal,
        command: SendMessage,
        ruling: Ruling | None,
    ) -> NewMessage:
        """The row to write, if its sender and recipient are allowed.

        Args:
            ruling: the policies' result for it; None: there are no policies.

        Raises:
            CountryNotOpen, SenderNotApproved, RecipientOptedOut, PolicyRefused: refused.
            PolicyFailed: a policy wrote a sender that cannot be used.
        """
        if ruling is None:
            new = drafts.of_send(command)
        elif isinstance(ruling, Ruled):
            new = self._rewritten(drafts, command, ruling)
        else:
            drafts.per_segment_to(command.to, CountryUse.SEND)
            raise ruling
        if principal.mode is Mode.LIVE:
            self.opt_outs.refuse(principal.organization_id, command.to)
        return new

    def _rewritten(self, drafts: RequestDrafts, command: SendMessage, ruled: Ruled) -> NewMessage:
        """The row of a message as the policies changed it."""
        try:
            new = drafts.of_send(ruled.command)
        except SenderNotApproved as error:
            if ruled.command.sender == command.sender:
                raise
            raise self.policies.failed(ruled.by, "Its sender is not allowed.") from error
        if not ruled.by:
            return new
        values = {**(new.line.values or {}), "policies": ", ".join(ruled.by)}
        return new._replace(line=Line(new.line.kind, values=values))

    def _stamp(self, organization_id: str) -> Stamp | None:
        """The stamp for a unit by which the organization's volume may approve a sender; None if no
        sender waits for that."""
        waits = self._senders.waits_for_volume(organization_id)
        return self._recorder.stamp() if waits else None

    def _settled(
        self,
        organization: Organization,
        prepared: Sequence[NewMessage],
        results: Sequence[Result],
        stamp: Stamp | None,
    ) -> None:
        """After a commit: notify the queue and the followers of the new messages."""
        told: set[tuple[str, int, int]] = set()
        accepted: list[str] = []
        for new, result in zip(prepared, results, strict=True):
            if result is new.response:
                accepted.append(new.id)
                # The queue needs a hint for only one of the messages with the same route, priority
                # and time; followers get each message.
                kind = (new.route, new.priority, new.due_at)
                if kind not in told or self._recorder.life.listeners:
                    told.add(kind)
                    self._tell(new)
        self._accepted += len(accepted)
        if accepted and prepared[0].mode == Mode.LIVE:
            self._recorder.minutes.accepted(len(accepted), prepared[0].created_at)
        # One line for a batch of any size. The log's context adds the request's id.
        self._log.debug("messages.accepted", message_ids=accepted, organization_id=organization.id)
        if stamp is not None:
            self._senders.look_again(organization.id)

    def _tell(self, new: NewMessage) -> None:
        """A new message is on disk: notify the queue."""
        self._recorder.listeners.deadline(new.valid_until)
        self._recorder.tell(
            (
                Change(
                    message_id=new.id,
                    organization_id=new.organization_id,
                    recipient=new.recipient,
                    status=Status.PENDING,
                    line=new.line,
                    at=new.created_at,
                    due_at=new.due_at,
                    priority=new.priority,
                    route=new.route,
                ),
            )
        )


def _doubted(new: NewMessage) -> OutcomeUnknown:
    return OutcomeUnknown(_SAY_AGAIN, (new.idempotency_key,))


def _unconfirmed(told: Sequence[str | None], *, of_batch: bool = False) -> OutcomeUnknown:
    """The error for messages with these keys, which the log has not confirmed in time."""
    return OutcomeUnknown(_CONFIRM_AGAIN, tuple(told), of_batch=of_batch)


def _named(keys: Keys, items: Sequence[Judged]) -> Iterator[str | None]:
    """The key of each message, also if it is ours."""
    for key, item in zip(keys, items, strict=True):
        yield item.idempotency_key if isinstance(item, NewMessage) else key
