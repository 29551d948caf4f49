"""Requests of an ESME about its messages: query, cancel, replace."""

from __future__ import annotations

from typing import Final

from risala.drivers.smpp.protocol.checks import time_fault
from risala.drivers.smpp.protocol.destinations import Destination
from risala.drivers.smpp.protocol.pdu import (
    CancelSm,
    Pdu,
    QuerySm,
    QuerySmResp,
    ReplaceSm,
    SubmitMulti,
    SubmitSm,
    response_to,
)
from risala.drivers.smpp.protocol.receipt import STATE_NUMBERS
from risala.drivers.smpp.protocol.times import absolute_time
from risala.lab.smsc.config import SimulatorConfig
from risala.lab.smsc.mailroom import MailRoom, recipient_of, source_of
from risala.lab.smsc.store import Account

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
    found: list[Destination] = []
    for one in request.dest_addresses:
        if isinstance(one, Destination):
            found.append(one)
            continue
        members = config.distribution_lists.get(one.name)
        if members is None:
            raise UnknownListError
        found += [Destination(1, 1, member.removeprefix("+")) for member in members]
    return found


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
    found = mails.find(account, request.message_id, source_of(request))
    if not found:
        return response_to(request, _ESME_RINVMSGID)
    # The messages of a submit_multi share an id, and the answer has one state for all: it is that
    # of one that is not done yet, while there is any.
    mail = min(found, key=lambda one: one.state.is_final)
    return QuerySmResp(
        message_id=request.message_id,
        final_date="" if mail.done_ms is None else absolute_time(mail.done_ms),
        message_state=STATE_NUMBERS[mail.state],
        error_code=_octet(mail.error_code),
    )


def _cancel(mails: MailRoom, account: Account, request: CancelSm) -> int:
    if request.message_id:
        found = mails.find(account, request.message_id, source_of(request))
        if not found:
            return _ESME_RINVMSGID
    else:
        ends = (source_of(request), recipient_of(request), request.service_type)
        found = mails.waiting(account, *ends)
    changed = [mail for mail in found if mails.cancel(mail)]
    return 0 if changed else _ESME_RCANCELFAIL


def _replace(mails: MailRoom, account: Account, request: ReplaceSm, now_ms: int) -> int:
    found = mails.find(account, request.message_id, source_of(request))
    if not found:
        return _ESME_RINVMSGID
    times = (request.schedule_delivery_time, request.validity_period)
    if fault := time_fault(*times, now_ms):
        return fault
    changed = [mail for mail in found if mails.replace(mail, request)]
    return 0 if changed else _ESME_RREPLACEFAIL


def _octet(error_code: str) -> int:
    return int(error_code) % 256 if error_code.isdecimal() else 0
