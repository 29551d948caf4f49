"""The messages of a simulated SMSC, from their submit on.

A message waits until ``schedule_delivery_time``, and for :attr:`SimulatorConfig.hold_s` from then;
then its phone gets it. While it waits it can be cancelled and replaced, and its validity may end.
Afterwards only its state is kept, for queries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from risala.drivers.smpp.protocol.pdu import CancelSm, DataSm, QuerySm, ReplaceSm, SubmitSm
from risala.drivers.smpp.protocol.submit import decode_message
from risala.drivers.smpp.protocol.times import parse_time
from risala.lab.smsc.behaviour import PlannedReceipt
from risala.lab.smsc.events import Changed, Submitted
from risala.lab.smsc.exchange import Exchange
from risala.lab.smsc.receipts import IdStyle, ReceiptForm, receipt_pdu
from risala.lab.smsc.store import Account, StoredDelivery
from risala.sms.evident import InboundCoding
from risala.sms.receipt import ReceiptState

Source = tuple[int, int, str]
"""Type, plan and address of a sender; a query about a message must name the same (§4.8.1)."""


@dataclass(frozen=True, slots=True)
class Content:
    """The parts of a message that are needed only as long as something still happens to it."""

    receipt_id: str
    """The message's id as receipts write it."""
    request: SubmitSm | DataSm
    submitted: Submitted
    receipts: tuple[PlannedReceipt, ...]
    submitted_ms: int

    def wants(self, state: ReceiptState) -> bool:
        """Whether a receipt of this state was requested (§5.2.17; 3 is of 5.0)."""
        match self.request.registered_delivery & 0x03:
            case 0:
                return False
            case 2:
                return state is not ReceiptState.DELIVERED
            case 3:
                return state is ReceiptState.DELIVERED or not state.is_final
            case _:
                return True


@dataclass(slots=True, eq=False)
class PhoneMail:
    """One message to one phone, or one part of it: the facts that are kept to the end."""

    account: Account
    message_id: str
    source: Source
    state: ReceiptState = ReceiptState.ENROUTE
    error_code: str = "000"
    done_ms: int | None = None
    """When the message reached a final state; None before that."""
    turn: int = 0
    """Counts replacements: a step that was planned before the last one does not happen."""


class MailRoom:
    """Holds messages, gives them to phones, and plans their receipts."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._mails: OrderedDict[str, list[PhoneMail]] = OrderedDict()
        self._waiting: dict[PhoneMail, Content] = {}

    def take(self, account: Account, message_id: str, content: Content) -> None:
        """Take the message of a submit that was accepted."""
        mail = PhoneMail(account, message_id, source_of(content.request))
        # If the answer has no id, or the same for all, the message cannot be queried; it is kept
        # under the id that its receipts have.
        shares_id = self._exchange.config.id_form in (IdStyle.NONE, IdStyle.ONE_FOR_ALL)
        known_as = content.receipt_id if shares_id else message_id
        self._mails.setdefault(known_as, []).append(mail)
        if len(self._mails) > self._exchange.config.messages_max:
            self._mails.popitem(last=False)
        self._plan(mail, content)

    def find(self, account: Account, message_id: str, source: Source) -> list[PhoneMail]:
        """The messages of this id, if they are this account's and this sender's."""
        mails = self._mails.get(message_id, [])
        return [mail for mail in mails if mail.account is account and mail.source == source]

    def waiting(
        self, account: Account, source: Source, recipient: Source, service_type: str
    ) -> list[PhoneMail]:
        """The messages between these two that no phone has yet."""
        return [
            mail
            for mail, content in self._waiting.items()
            if (mail.account is account and mail.source == source)
            and recipient_of(content.request) == recipient
            and content.request.service_type == service_type
        ]

    def cancel(self, mail: PhoneMail) -> bool:
        """Cancel a message; False if its phone has it already."""
        content = self._waiting.get(mail)
        if content is None:
            return False
        self._tell(mail, "canceled", content)
        self._finish(mail, content, ReceiptState.DELETED)
        return True

    def replace(self, mail: PhoneMail, by: ReplaceSm) -> bool:
        """Replace the text of a message; False if its phone has it already.

        Of the two times, one that ``by`` leaves empty stays as it was (§4.10.1).
        """
        content = self._waiting.get(mail)
        if content is None or not isinstance(content.request, SubmitSm):
            return False
        old = content.request
        request = replace(
            old,
            schedule_delivery_time=by.schedule_delivery_time or old.schedule_delivery_time,
            validity_period=by.validity_period or old.validity_period,
            registered_delivery=by.registered_delivery,
            sm_default_msg_id=by.sm_default_msg_id,
            short_message=by.short_message,
        )
        decoded = decode_message(
            request, self._exchange.config.default_alphabet, InboundCoding.DECLARED
        )
        submitted = replace(
            content.submitted,
            text=decoded.text,
            concatenation=decoded.concatenation,
            validity_period=request.validity_period,
        )
        content = replace(content, request=request, submitted=submitted)
        mail.turn += 1
        self._tell(mail, "replaced", content)
        self._plan(mail, content)
        return True

    # -- deliveries and other ends -----------------------------------------------------------

    def _plan(self, mail: PhoneMail, content: Content) -> None:
        exchange, request = self._exchange, content.request
        now_ms = exchange.now_ms()
        wait_s, life_s = exchange.config.hold_s, None
        if isinstance(request, SubmitSm):
            wait_s += _seconds_until(request.schedule_delivery_time, now_ms) or 0.0
            life_s = _seconds_until(request.validity_period, now_ms)
        if exchange.config.ignores_validity:
            life_s = None
        if wait_s <= 0:
            self._give(mail, content)
            return
        self._waiting[mail] = content
        if life_s is not None and life_s < wait_s:
            expire = partial(self._finish, mail, content, ReceiptState.EXPIRED)
            self._later(mail, life_s, expire)
        else:
            self._later(mail, wait_s, partial(self._give, mail, content))

    def _give(self, mail: PhoneMail, content: Content) -> None:
        """Give a message to its phone; receipts follow."""
        self._waiting.pop(mail, None)
        for planned in content.receipts:
            self._later(mail, planned.after_s, partial(self._report, mail, content, planned))
        self._exchange.accepted(mail.account, content.submitted)

    def _report(self, mail: PhoneMail, content: Content, planned: PlannedReceipt) -> None:
        self._move(mail, planned.state, planned.error_code)
        if planned.is_sent:
            self._send(mail, content, planned.form)

    def _finish(self, mail: PhoneMail, content: Content, state: ReceiptState) -> None:
        self._waiting.pop(mail, None)
        mail.turn += 1
        self._move(mail, state, "000")
        self._send(mail, content, ReceiptForm.STANDARD)

    def _move(self, mail: PhoneMail, state: ReceiptState, error_code: str) -> None:
        mail.state, mail.error_code = state, error_code
        mail.done_ms = self._exchange.now_ms() if state.is_final else None

    def _send(self, mail: PhoneMail, content: Content, form: ReceiptForm) -> None:
        config = self._exchange.config
        if not content.wants(mail.state) or mail.state in config.silent_states:
            return
        pdu = receipt_pdu(
            *(content.request, content.receipt_id, mail.state, mail.error_code, form),
            submitted_ms=content.submitted_ms,
            done_ms=mail.done_ms or self._exchange.now_ms(),
            repeats_reference=config.repeats_references,
            cuts_reference=config.cuts_references,
        )
        if own := config.receipt_tlvs:
            pdu = replace(pdu, tlvs=(*pdu.tlvs, *own))
        self._exchange.keep(mail.account, StoredDelivery(pdu, mail.message_id, mail.state))

    def _later(self, mail: PhoneMail, wait_s: float, action: Callable[[], None]) -> None:
        turn = mail.turn
        self._exchange.planned += 1

        def due() -> None:
            self._exchange.planned -= 1
            if mail.turn == turn:
                action()

        self._exchange.timetable.after(wait_s, due)

    def _tell(self, mail: PhoneMail, change: str, content: Content) -> None:
        text = content.submitted.text
        self._exchange.on_event(Changed(mail.account.system_id, mail.message_id, change, text))


def source_of(request: SubmitSm | DataSm | QuerySm | CancelSm | ReplaceSm) -> Source:
    """The address of the sender of a message or of a query."""
    return request.source_addr_ton, request.source_addr_npi, request.source_addr


def recipient_of(request: SubmitSm | DataSm | CancelSm) -> Source:
    """The address of a message's recipient."""
    return request.dest_addr_ton, request.dest_addr_npi, request.destination_addr


def _seconds_until(time: str, now_ms: int) -> float | None:
    return (parse_time(time, now_ms) - now_ms) / 1000 if time else None
