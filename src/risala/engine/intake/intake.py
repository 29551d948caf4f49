"""Taking messages in: everything between a validated body and its durable answer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog
import trio

from risala.config.model import Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.billing import billing
from risala.engine.intake.batch import BatchItem, Result, in_order
from risala.engine.intake.opt_outs import OptOuts
from risala.engine.journal.messages import acceptance
from risala.engine.journal.messages import reads as messages
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.rows import Change, NewMessage, Stamp
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.limits.limiter import Limiter
from risala.engine.model.commands import Mode, Organization, Principal, SendMessage
from risala.engine.model.errors import (
    Draining,
    InsufficientBalance,
    OutcomeUnknown,
    Overloaded,
    Refusal,
    SenderNotApproved,
    StorageFailed,
)
from risala.engine.model.ids import IdSource
from risala.engine.model.lines import JUST_ACCEPTED, Kind, Line, Values, Wait
from risala.engine.model.money import minor_units
from risala.engine.model.states import PRIORITY_CODE, PRIORITY_MESSAGE, Status
from risala.engine.rules.router import TEST_ROUTE, UNSERVED, Router
from risala.sms.address import fold_sender
from risala.sms.alphabet import smart_encode
from risala.sms.segment import count

log = structlog.get_logger(__name__)


_SAY_AGAIN: Final = (
    "The disk failed while this was stored; whether it is, is not known. "
    "Send it again with the key in `data`: the answer is the truth."
)
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


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
        reader: sqlite3.Connection,
        ids: IdSource,
        accounts: Accounts,
        senders: Senders,
        router: Router,
    ) -> None:
        self._settings = settings
        self._recorder = recorder
        self._reader = reader
        self._ids = ids
        self._accounts = accounts
        self._senders = senders
        self._router = router
        self._limiter = Limiter(settings.limits.sms_per_s)
        self.opt_outs = OptOuts(reader)
        self.per_segment = minor_units(settings.pricing.per_segment)
        """The general price, in minor units."""
        self.low_balance = minor_units(settings.pricing.low_balance)
        """Below this, in minor units, an organization is told that its balance is low."""
        self._first_of_key: dict[tuple[str, str, str], trio.Event] = {}
        self._taking = self._peak = self._accepted = 0
        self.draining = False
        self.ailing: Callable[[str, str, int], Values | None] = _nothing_ails
        """What keeps all carriers of a route from sending: route, number, segments."""

    async def send(
        self, principal: Principal, command: SendMessage, *, by: Signature | None = None
    ) -> bytes:
        """See :meth:`Gateway.send_message`."""
        with self.room(1):
            if command.idempotency_key is None:
                return await self._accept(principal, command, by)
            return await self._accept_once(principal, command, command.idempotency_key, by)

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> list[Result]:
        """See :meth:`Gateway.send_batch`."""
        with self.room(len(commands)):
            return await self._accept_batch(principal, commands)

    def retune(self, settings: Settings) -> None:
        """Take over prices and limits that were changed at run time."""
        self.per_segment = minor_units(settings.pricing.per_segment)
        self.low_balance = minor_units(settings.pricing.low_balance)
        self._limiter.sms_per_s = settings.limits.sms_per_s

    def statistics(self) -> IntakeStatistics:
        return IntakeStatistics(
            self._taking, self._peak, self._settings.engine.intake_max, self._accepted
        )

    @contextmanager
    def room(self, number: int) -> Iterator[None]:
        """Room for so many messages to be accepted inside the block.

        Raises:
            Draining: the service stops.
            StorageFailed: nothing may be stored, nor what is stored be trusted.
            Overloaded: too many are being accepted.
        """
        if self.draining:
            raise Draining
        if self._recorder.journal.condition.lasts:
            raise StorageFailed
        if self._taking + number > self._settings.engine.intake_max:
            raise Overloaded
        self._taking += number
        self._peak = max(self._peak, self._taking)
        try:
            yield
        finally:
            self._taking -= number

    # -- one message

    async def _accept_once(
        self, principal: Principal, command: SendMessage, key: str, by: Signature | None
    ) -> bytes:
        """One of many at once goes through; the others wait for what it leaves behind."""
        slot = (principal.organization_id, principal.mode.value, key)
        while True:
            known = messages.known_response(self._reader, *slot)
            if known is not None:
                return known
            first = self._first_of_key.get(slot)
            if first is None:
                break
            await first.wait()
        # No await since the look into the journal: nobody came between.
        event = self._first_of_key[slot] = trio.Event()
        try:
            return await self._accept(principal, command, by)
        finally:
            del self._first_of_key[slot]
            event.set()

    async def _accept(
        self, principal: Principal, command: SendMessage, by: Signature | None
    ) -> bytes:
        organization = self._accounts.organization(principal.organization_id)
        new = self._prepare(organization, principal.mode, command)
        stamp = self._stamp(organization.id)
        response = b""
        try:
            with trio.CancelScope(shield=True):
                response = await self._recorder.journal.commit(
                    signed(by, lambda conn: acceptance.accept_one(conn, new, stamp))
                )
        except BaseException as error:
            self._withdraw(organization, principal.mode, 1)
            if isinstance(error, OutcomeUnknown):
                raise OutcomeUnknown(_SAY_AGAIN, (new.idempotency_key,)) from error
            raise
        self._settled(organization, [new], [response], stamp)
        return response

    # -- many messages

    async def _accept_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> list[Result]:
        slots = {
            (principal.organization_id, principal.mode.value, command.idempotency_key)
            for command in commands
            if command.idempotency_key is not None
        }
        # Claimed all at once, and none while waiting: batches that share keys cannot wait for
        # each other.
        while busy := slots & self._first_of_key.keys():
            await self._first_of_key[busy.pop()].wait()
        event = trio.Event()
        self._first_of_key.update(dict.fromkeys(slots, event))
        try:
            return await self._accept_claimed(principal, commands)
        finally:
            for slot in slots:
                del self._first_of_key[slot]
            event.set()

    async def _accept_claimed(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> list[Result]:
        organization = self._accounts.organization(principal.organization_id)
        items = self._judge(organization, principal, commands)
        prepared = [item.new for item in items if item.new is not None]
        if not prepared:
            return in_order(items, ())
        tokens = sum(item.new is not None and not item.repeats for item in items)
        stamp = self._stamp(organization.id)
        results: list[Result] = []
        try:
            with trio.CancelScope(shield=True):
                results = await self._recorder.journal.commit(
                    lambda conn: acceptance.accept(conn, prepared, stamp)
                )
        except BaseException as error:
            self._withdraw(organization, principal.mode, tokens)
            if isinstance(error, OutcomeUnknown):
                keys = (item.new.idempotency_key if item.new else item.key for item in items)
                raise OutcomeUnknown(_SAY_AGAIN, tuple(keys), of_batch=True) from error
            raise
        accepted = self._settled(organization, prepared, results, stamp)
        self._withdraw(organization, principal.mode, tokens - accepted)
        return in_order(items, results)

    def _judge(
        self, organization: Organization, principal: Principal, commands: Sequence[SendMessage]
    ) -> list[BatchItem]:
        items: list[BatchItem] = []
        tried: set[str | None] = set()
        for command in commands:
            key = command.idempotency_key
            known = self._known(principal, command)
            if known is not None:
                items.append(BatchItem(key, answer=known))
                continue
            repeats = key is not None and key in tried
            try:
                new = self._prepare(organization, principal.mode, command, repeats=repeats)
            except Refusal as refusal:
                items.append(BatchItem(key, answer=refusal))
            else:
                tried.add(key)
                items.append(BatchItem(key, new, repeats=repeats))
        return items

    def _known(self, principal: Principal, command: SendMessage) -> bytes | None:
        key = command.idempotency_key
        if key is None:
            return None
        organization_id, mode = principal.organization_id, principal.mode.value
        return messages.known_response(self._reader, organization_id, mode, key)

    # -- the steps of both

    def _prepare(
        self,
        organization: Organization,
        mode: Mode,
        command: SendMessage,
        *,
        repeats: bool = False,
    ) -> NewMessage:
        """Sender, limits, balance, in this order; then the row to be.

        Takes a rate token, unless it ``repeats`` a key that has taken one.
        """
        sender, notice = self._sender(organization.id, command.sender)
        limited = mode is Mode.LIVE and not repeats and self._limiter.limits_sms(organization)
        if mode is Mode.LIVE:
            self.opt_outs.refuse(organization.id, command.to)
        if limited:
            self._limiter.check_sms(organization)
        new = self._new_message(organization, mode, command, sender, notice)
        if limited:
            # The transaction decides; this look spares a hopeless send its token.
            balance = self._accounts.balance(organization.id)
            if balance <= 0 or balance < new.price:
                raise InsufficientBalance
            self._limiter.take_sms(organization)
        return new

    def _withdraw(self, organization: Organization, mode: Mode, tokens: int) -> None:
        """Give back the rate tokens of what was not accepted."""
        if mode is Mode.LIVE and tokens:
            self._limiter.give_back_sms(organization, tokens)

    def _stamp(self, organization_id: str) -> Stamp | None:
        """Given to the unit where the volume may approve a sender."""
        waits = self._senders.waits_for_volume(organization_id)
        return self._recorder.stamp() if waits else None

    def _new_message(
        self,
        organization: Organization,
        mode: Mode,
        command: SendMessage,
        sender: str,
        notice: dict[str, str] | None,
    ) -> NewMessage:
        settings, live = self._settings, mode is Mode.LIVE
        body = smart_encode(command.body) if organization.smart_encoding else command.body
        size = count(body)
        route = self._router.route_key(command.to) if live else TEST_ROUTE
        now_ms = self._recorder.clock.now_ms()
        due_at = max(now_ms, command.send_at or now_ms)
        validity_s = command.validity_s or settings.delivery.validity_s
        message_id = self._ids.new("sms")
        # A key of ours may share the message's own random bits: it is no secret.
        key = command.idempotency_key or f"idk_{message_id[4:]}"
        return NewMessage(
            id=message_id,
            organization_id=organization.id,
            mode=mode.value,
            kind="sms",
            recipient=command.to,
            sender=sender,
            body=body,
            encoding=size.alphabet.value,
            segments=size.segments,
            price=billing.price(organization, self.per_segment, size.segments) if live else 0,
            currency=settings.service.currency,
            metadata=_JSON(command.metadata) if command.metadata else "{}",
            priority=PRIORITY_CODE if command.urgent else PRIORITY_MESSAGE,
            route=route,
            due_at=due_at,
            valid_until=due_at + validity_s * 1000,
            send_at=command.send_at,
            created_at=now_ms,
            idempotency_key=key,
            key_is_ours=command.idempotency_key is None,
            response=_response(message_id, key, organization.id, sender, notice),
            line=self.first_line(now_ms, due_at, route, command.to, size.segments),
            low_balance=billing.low_balance(organization, self.low_balance),
        )

    def first_line(
        self, now_ms: int, due_at: int, route: str, recipient: str, segments: int
    ) -> Line:
        """The first of a timeline: what the message waits for."""
        line = _first_line(now_ms, due_at, route)
        if line is JUST_ACCEPTED and (ailing := self.ailing(route, recipient, segments)):
            return Line(Kind.ACCEPTED, values=ailing)
        return line

    def _sender(
        self, organization_id: str, requested: str | None
    ) -> tuple[str, dict[str, str] | None]:
        """The sender to use, and the notice where it is not the one that was asked for."""
        default = self._settings.service.default_sender
        if requested is None or fold_sender(requested) == fold_sender(default):
            return default, None
        found = self._senders.by_name(organization_id, requested)
        if found is None or found.status == "denied":
            raise SenderNotApproved(requested)
        if found.status == "approved":
            return found.name, None
        return default, {
            "code": "SENDER_PENDING_APPROVAL",
            "requestedFrom": requested,
            "message": f"The sender {found.name!r} awaits approval; sent from {default!r}.",
        }

    def _settled(
        self,
        organization: Organization,
        prepared: Sequence[NewMessage],
        results: Sequence[Result],
        stamp: Stamp | None,
    ) -> int:
        """After the commit: tell the queue of what is new; how many were accepted."""
        told: set[tuple[str, int, int]] = set()
        accepted: list[str] = []
        for new, result in zip(prepared, results, strict=True):
            if result is new.response:
                accepted.append(new.id)
                # The queue needs to hear of one message of a kind; people watch each of them.
                kind = (new.route, new.priority, new.due_at)
                if kind not in told or self._recorder.life.listeners:
                    told.add(kind)
                    self.tell(new)
        self._accepted += len(accepted)
        # One line for a batch of any size; the request's id is in it by its context.
        log.debug("messages.accepted", message_ids=accepted, organization_id=organization.id)
        if stamp is not None:
            self._senders.look_again(organization.id)
        return len(accepted)

    def tell(self, new: NewMessage) -> None:
        """A new message is on disk: tell the queue."""
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


def _nothing_ails(*_: object) -> None:
    """While no carrier is connected nobody is told of one that is down."""


def _response(
    message_id: str,
    key: str,
    organization_id: str,
    sender: str,
    notice: dict[str, str] | None,
) -> bytes:
    """The body of the response (specification §2.2), written out: our ids need no escaping."""
    tail = f',"notice":{_JSON(notice)}' if notice else ""
    return (
        f'{{"accepted":true,"messageId":"{message_id}","idempotencyKey":{_JSON(key)},'
        f'"organizationId":"{organization_id}","from":{_JSON(sender)}{tail}}}'
    ).encode()


def _first_line(now_ms: int, due_at: int, route: str) -> Line:
    if route == UNSERVED:
        return Line(Kind.ACCEPTED, values={"wait": Wait.UNSERVED.value})
    if due_at > now_ms:
        return Line(Kind.ACCEPTED, values={"wait": Wait.SCHEDULED.value, "until": due_at})
    return JUST_ACCEPTED
