"""One ESME at the simulator: what its requests are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from risala.drivers.smpp.link import Link
from risala.drivers.smpp.pdu import (
    Bind,
    BindResp,
    BindTransmitter,
    CancelSm,
    DataSm,
    DataSmResp,
    Pdu,
    QuerySm,
    QuerySmResp,
    ReplaceSm,
    SubmitSm,
    SubmitSmResp,
    response_to,
)
from risala.drivers.smpp.receipt import STATE_NUMBERS
from risala.drivers.smpp.smsc_behaviour import Reaction
from risala.drivers.smpp.smsc_events import BindRefused, Bound, Submitted, Trouble, Unbound
from risala.drivers.smpp.smsc_mishaps import give
from risala.drivers.smpp.smsc_store import Account
from risala.drivers.smpp.smsc_wire import Wire
from risala.drivers.smpp.submit import decode_message, readable_address
from risala.drivers.smpp.tlv import SC_INTERFACE_VERSION, Tlv
from risala.sms.receipt import ReceiptState

if TYPE_CHECKING:
    from risala.drivers.smpp.simulator import SmscSimulator

_ESME_RINVCMDID: Final = 0x03
_ESME_RCANCELFAIL: Final = 0x11
_ESME_RREPLACEFAIL: Final = 0x13
_ESME_RMSGQFUL: Final = 0x14
_ESME_RBINDFAIL: Final = 0x0D
_ESME_RQUERYFAIL: Final = 0x67
_RECEIPT_WANTED: Final = 0x03


class SmscConnection:
    """The simulator's :class:`~risala.drivers.smpp.link.LinkHandler` for one connection."""

    def __init__(self, simulator: SmscSimulator, wire: Wire) -> None:
        self._simulator = simulator
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
            case QuerySm():
                self._query(link, request)
            case CancelSm():
                link.respond(request, response_to(request, _ESME_RCANCELFAIL))
            case ReplaceSm():
                link.respond(request, response_to(request, _ESME_RREPLACEFAIL))
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
            self._simulator.on_event(Unbound(account.system_id, link.reason or "ended"))

    def _bind(self, link: Link, request: Bind) -> None:
        simulator = self._simulator
        command_status = simulator.behaviour.on_bind(request)
        account = simulator.account(request.system_id) if command_status == 0 else None
        if account is None:
            command_status = _ESME_RBINDFAIL if command_status == 0 else command_status
            if command_status is not None:
                link.respond(request, response_to(request, command_status))
            simulator.on_event(BindRefused(request.system_id, command_status))
            return
        empty = response_to(request)
        assert isinstance(empty, BindResp)
        version = (Tlv(SC_INTERFACE_VERSION, bytes([simulator.config.interface_version])),)
        link.respond(request, type(empty)(simulator.config.system_id, tlvs=version))
        self._account = account
        simulator.on_event(Bound(request.system_id, request.name.removeprefix("bind_")))
        if not isinstance(request, BindTransmitter):
            account.receivers.append(link)
            account.pump()

    def _submit(self, link: Link, request: SubmitSm | DataSm) -> None:
        simulator, account = self._simulator, self._account
        assert account is not None, "the session lets none submit that is not bound"
        reaction = simulator.behaviour.on_submit(account.system_id, request, trio.current_time())
        command_status = reaction.command_status
        if not command_status and simulator.is_full:
            command_status = _ESME_RMSGQFUL
        ids = ("", "") if command_status else simulator.new_ids()
        submitted = self._submitted(account, request, ids[0], command_status, reaction)
        simulator.on_event(submitted)
        response = _submit_resp(request, ids[0], command_status)
        simulator.answer(
            reaction.answer_after_s,
            lambda: give(link, self._wire, request, response, reaction.mishap),
        )
        if not submitted.is_taken:
            return
        simulator.states[ids[0]] = ReceiptState.ENROUTE
        if request.registered_delivery & _RECEIPT_WANTED:
            for planned in reaction.receipts:
                simulator.plan_receipt(account, ids, request, planned)
        simulator.taken(account, submitted)

    def _submitted(
        self,
        account: Account,
        request: SubmitSm | DataSm,
        message_id: str,
        command_status: int,
        reaction: Reaction,
    ) -> Submitted:
        decoded = decode_message(request, self._simulator.config.default_alphabet)
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
        )

    def _query(self, link: Link, request: QuerySm) -> None:
        state = self._simulator.states.get(request.message_id)
        if state is None:
            link.respond(request, response_to(request, _ESME_RQUERYFAIL))
            return
        number = STATE_NUMBERS[state]
        link.respond(request, QuerySmResp(request.message_id, message_state=number))

    def _trouble(self, text: str) -> None:
        system_id = self._account.system_id if self._account else ""
        self._simulator.on_event(Trouble(system_id, text))


def _submit_resp(request: SubmitSm | DataSm, message_id: str, command_status: int) -> Pdu:
    if isinstance(request, DataSm):
        return DataSmResp(message_id, command_status=command_status)
    return SubmitSmResp(message_id, command_status=command_status)
