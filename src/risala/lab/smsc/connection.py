"""One connection to the simulator: answers the requests of the ESME on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import trio

from risala.drivers.smpp.link import Link
from risala.drivers.smpp.protocol.checks import fault_of, submit_of, time_fault
from risala.drivers.smpp.protocol.destinations import Destination, Unsuccessful
from risala.drivers.smpp.protocol.pdu import (
    Bind,
    BindReceiverResp,
    BindResp,
    BindTransceiverResp,
    BindTransmitter,
    BindTransmitterResp,
    CancelSm,
    DataSm,
    DataSmResp,
    Pdu,
    QuerySm,
    QuerySmResp,
    ReplaceSm,
    SubmitMulti,
    SubmitMultiResp,
    SubmitSm,
    SubmitSmResp,
    response_to,
)
from risala.drivers.smpp.protocol.receipt import STATE_NUMBERS
from risala.drivers.smpp.protocol.submit import (
    ESM_TRANSACTION,
    decode_message,
    flashes,
    readable_address,
)
from risala.drivers.smpp.protocol.times import absolute_time
from risala.drivers.smpp.protocol.tlv import CONGESTION_STATE, SC_INTERFACE_VERSION, Tlv
from risala.lab.smsc.behaviour import Reaction
from risala.lab.smsc.config import SimulatorConfig
from risala.lab.smsc.events import BindRefused, Bound, Submitted, Trouble, Unbound
from risala.lab.smsc.exchange import Exchange
from risala.lab.smsc.mailroom import Content, MailRoom, recipient_of, source_of
from risala.lab.smsc.mishaps import Wire, give
from risala.lab.smsc.store import Account
from risala.sms.evident import InboundCoding
from risala.sms.receipt import ReceiptState

_ESME_RINVCMDID: Final = 0x03
_ESME_RMSGQFUL: Final = 0x14
_ESME_RBINDFAIL: Final = 0x0D
_ESME_RSUBMITFAIL: Final = 0x45
_ESME_RDELIVERYFAILURE: Final = 0xFE
_MODE_MASK: Final = 0x03
"""Bits of ``esm_class`` for the messaging mode (§5.2.12)."""
_BIND_ANSWERS: Final[dict[str, type[BindResp]]] = {
    "transmitter": BindTransmitterResp,
    "receiver": BindReceiverResp,
    "transceiver": BindTransceiverResp,
}


class SmscConnection:
    """The simulator's :class:`~risala.drivers.smpp.link.LinkHandler` for one connection."""

    def __init__(self, exchange: Exchange, mails: MailRoom, wire: Wire) -> None:
        self._exchange = exchange
        self._mails = mails
        self._wire = wire
        self._account: Account | None = None

    @property
    def is_bound(self) -> bool:
        return self._account is not None

    def on_request(self, link: Link, request: Pdu) -> None:
        match request:
            case Bind():
                self._bind(link, request)
            case SubmitSm() | DataSm():
                self._submit(link, request)
            case SubmitMulti():
                self._submit_multi(link, request)
            case QuerySm() | CancelSm() | ReplaceSm():
                now_ms = self._exchange.now_ms()
                answer = answer_to(self._mails, self._bound(), request, now_ms)
                link.respond(request, answer)
            case _:
                link.respond(request, response_to(request, _ESME_RINVCMDID))

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        self._trouble(f"{response.name} came too late")

    def on_trouble(self, link: Link, text: str) -> None:
        self._trouble(text)

    def ended(self, link: Link) -> None:
        """The connection is gone."""
        account, self._account = self._account, None
        if account is not None:
            if link in account.receivers:
                account.receivers.remove(link)
            self._exchange.on_event(Unbound(account.system_id, link.reason or "ended"))

    def _bind(self, link: Link, request: Bind) -> None:
        exchange = self._exchange
        command_status = exchange.behaviour.on_bind(request)
        account = exchange.account(request.system_id) if command_status == 0 else None
        if account is None:
            command_status = _ESME_RBINDFAIL if command_status == 0 else command_status
            if command_status is not None:
                link.respond(request, response_to(request, command_status))
            exchange.on_event(BindRefused(request.system_id, command_status))
            return
        empty = response_to(request)
        assert isinstance(empty, BindResp)
        version = (Tlv(SC_INTERFACE_VERSION, bytes([exchange.config.interface_version])),)
        answer = _BIND_ANSWERS.get(exchange.config.bind_answered_as or "", type(empty))
        link.respond(request, answer(exchange.config.system_id, tlvs=version))
        self._account = account
        exchange.on_event(Bound(request.system_id, request.name.removeprefix("bind_")))
        is_deaf, exchange.binds = exchange.binds < exchange.config.deaf_binds, exchange.binds + 1
        if not isinstance(request, BindTransmitter) and not is_deaf:
            account.receivers.append(link)
            account.pump()

    def _bound(self) -> Account:
        assert self._account is not None, "the session lets none ask that is not bound"
        return self._account

    def _submit(self, link: Link, request: SubmitSm | DataSm) -> None:
        message_id, receipt_id = self._exchange.new_ids()
        reaction = self._take(request, message_id, receipt_id)
        response = _submit_resp(request, message_id, reaction)
        self._answer(link, request, response, reaction)

    def _submit_multi(self, link: Link, request: SubmitMulti) -> None:
        """Take a message for several destinations: one message for each, under one id (§4.5.2)."""
        exchange = self._exchange
        fault = fault_of(request, exchange.now_ms())
        try:
            ends = [] if fault else destinations_of(exchange.config, request)
        except UnknownListError as unknown:
            ends, fault = [], unknown.command_status
        if fault:
            link.respond(request, SubmitMultiResp(command_status=fault))
            return
        ids = exchange.new_ids()
        reactions = [(to, self._take(submit_of(request, to), *ids)) for to in ends]
        refused = tuple(
            Unsuccessful(*to, reaction.command_status)
            for to, reaction in reactions
            if reaction.command_status
        )
        response = SubmitMultiResp(ids[0], unsuccess_sme=refused)
        if refused and len(refused) == len(ends):
            statuses = {one.error_status_code for one in refused}
            status = statuses.pop() if len(statuses) == 1 else _ESME_RSUBMITFAIL
            response = SubmitMultiResp(command_status=status, unsuccess_sme=refused)
        slowest = max((reaction for _, reaction in reactions), key=lambda it: it.answer_after_s)
        self._answer(link, request, response, slowest)

    def _answer(self, link: Link, request: Pdu, response: Pdu, reaction: Reaction) -> None:
        self._exchange.answer(
            reaction.answer_after_s,
            lambda: give(link, self._wire, request, response, reaction.mishap),
        )

    def _take(self, request: SubmitSm | DataSm, message_id: str, receipt_id: str) -> Reaction:
        """Take a message or refuse it; the reaction that was decided on."""
        exchange, account = self._exchange, self._bound()
        if fault := fault_of(request, exchange.now_ms()):
            reaction = Reaction(fault)
        else:
            reaction = exchange.behaviour.on_submit(account.system_id, request, trio.current_time())
            if request.esm_class & _MODE_MASK == ESM_TRANSACTION:
                reaction = _of_phone(reaction)
        if not reaction.command_status and exchange.is_full:
            reaction = replace(reaction, command_status=_ESME_RMSGQFUL)
        status = reaction.command_status
        known_as = "" if status else message_id
        submitted = self._submitted(account, request, known_as, status, reaction)
        exchange.on_event(submitted)
        if submitted.is_taken:
            if isinstance(request, SubmitSm) and request.replace_if_present_flag:
                replace_if_present(self._mails, account, request)
            now_ms = exchange.now_ms()
            content = Content(receipt_id, request, submitted, reaction.receipts, now_ms)
            self._mails.take(account, message_id, content)
        return reaction

    def _submitted(
        self,
        account: Account,
        request: SubmitSm | DataSm,
        message_id: str,
        command_status: int,
        reaction: Reaction,
    ) -> Submitted:
        decoded = decode_message(
            request, self._exchange.config.default_alphabet, InboundCoding.DECLARED
        )
        submit = request if isinstance(request, SubmitSm) else None
        return Submitted(
            system_id=account.system_id,
            message_id=message_id,
            command_status=command_status,
            mishap=reaction.mishap,
            is_taken=reaction.is_taken and not command_status,
            sender=readable_address(request.source_addr_ton, request.source_addr),
            recipient=readable_address(request.dest_addr_ton, request.destination_addr),
            text=decoded.text,
            data_coding=request.data_coding,
            concatenation=decoded.concatenation,
            registered_delivery=request.registered_delivery,
            validity_period=submit.validity_period if submit else "",
            priority_flag=submit.priority_flag if submit else 0,
            flash=flashes(request),
        )

    def _trouble(self, text: str) -> None:
        system_id = self._account.system_id if self._account else ""
        self._exchange.on_event(Trouble(system_id, text))


def _of_phone(reaction: Reaction) -> Reaction:
    """The reaction in transaction mode: the answer takes the place of the receipt."""
    if reaction.command_status or not reaction.receipts:
        return reaction
    last = reaction.receipts[-1]
    after_s = max(reaction.answer_after_s, last.after_s)
    if last.state is ReceiptState.DELIVERED:
        return replace(reaction, answer_after_s=after_s, receipts=())
    return replace(
        reaction,
        command_status=_ESME_RDELIVERYFAILURE,
        answer_after_s=after_s,
        is_taken=False,
        receipts=(),
    )


def _submit_resp(request: SubmitSm | DataSm, message_id: str, reaction: Reaction) -> Pdu:
    status, state = reaction.command_status, reaction.congestion_state
    kind = DataSmResp if isinstance(request, DataSm) else SubmitSmResp
    tlvs = () if state is None else (Tlv(CONGESTION_STATE, bytes([state])),)
    return kind("" if status else message_id, command_status=status, tlvs=tlvs)


# Requests of an ESME about its messages: query, cancel, replace.

_ESME_RINVMSGID: Final = 0x0C
_ESME_RCANCELFAIL: Final = 0x11
_ESME_RREPLACEFAIL: Final = 0x13
_ESME_RINVDLNAME: Final = 0x34

Ask = QuerySm | CancelSm | ReplaceSm


class UnknownListError(Exception):
    """A distribution list that the SMSC does not keep."""

    command_status = _ESME_RINVDLNAME


def destinations_of(config: SimulatorConfig, request: SubmitMulti) -> list[Destination]:
    """All recipients of a ``submit_multi``, including the members of its lists.

    Raises:
        UnknownListError: the SMSC does not have a named list.
    """
    destinations: list[Destination] = []
    for one in request.dest_addresses:
        if isinstance(one, Destination):
            destinations.append(one)
            continue
        members = config.distribution_lists.get(one.name)
        if members is None:
            raise UnknownListError
        destinations += [Destination(1, 1, member.removeprefix("+")) for member in members]
    return destinations


def answer_to(mails: MailRoom, account: Account, request: Ask, now_ms: int) -> Pdu:
    """Handle the request; returns the answer."""
    match request:
        case QuerySm():
            return _query(mails, account, request)
        case CancelSm():
            return response_to(request, _cancel(mails, account, request))
        case ReplaceSm():
            return response_to(request, _replace(mails, account, request, now_ms))


def replace_if_present(mails: MailRoom, account: Account, request: SubmitSm) -> None:
    """Cancel the waiting messages that this one replaces: those from the same sender to the same
    recipient (§5.2.18)."""
    ends = (source_of(request), recipient_of(request), request.service_type)
    for mail in mails.waiting(account, *ends):
        mails.cancel(mail)


def _query(mails: MailRoom, account: Account, request: QuerySm) -> Pdu:
    queried = mails.find(account, request.message_id, source_of(request))
    if not queried:
        return response_to(request, _ESME_RINVMSGID)
    # The messages of a submit_multi share an id, and the answer has one state for all: it is that
    # of one that is not done yet, while there is any.
    mail = min(queried, key=lambda one: one.state.is_final)
    return QuerySmResp(
        message_id=request.message_id,
        final_date="" if mail.done_ms is None else absolute_time(mail.done_ms),
        message_state=STATE_NUMBERS[mail.state],
        error_code=_octet(mail.error_code),
    )


def _cancel(mails: MailRoom, account: Account, request: CancelSm) -> int:
    if request.message_id:
        cancelled = mails.find(account, request.message_id, source_of(request))
        if not cancelled:
            return _ESME_RINVMSGID
    else:
        ends = (source_of(request), recipient_of(request), request.service_type)
        cancelled = mails.waiting(account, *ends)
    changed = [mail for mail in cancelled if mails.cancel(mail)]
    return 0 if changed else _ESME_RCANCELFAIL


def _replace(mails: MailRoom, account: Account, request: ReplaceSm, now_ms: int) -> int:
    replaced = mails.find(account, request.message_id, source_of(request))
    if not replaced:
        return _ESME_RINVMSGID
    times = (request.schedule_delivery_time, request.validity_period)
    if fault := time_fault(*times, now_ms):
        return fault
    changed = [mail for mail in replaced if mails.replace(mail, request)]
    return 0 if changed else _ESME_RREPLACEFAIL


def _octet(error_code: str) -> int:
    return int(error_code) % 256 if error_code.isdecimal() else 0
