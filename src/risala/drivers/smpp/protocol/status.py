"""Every ``command_status``: its name, a sentence for people, and its effect on a submit.

SMPP 3.4 §5.1.3 and 5.0 §4.7.6. ``FINAL`` fails the customer's message for good, so only statuses
that any carrier would answer for this recipient have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.sms.cause import Cause
from risala.sms.outcome import Outcome, Refused, Scope, Throttled


class StatusVerdict(StrEnum):
    """The effect of a refusal; the words for ``status_verdicts`` in the configuration."""

    THROTTLED = "throttled"
    """Slow down: the message keeps its place."""
    NOW = "now"
    """Try again later."""
    CARRIER = "carrier"
    """The refusal holds for this carrier: another one may take the message."""
    FINAL = "final"
    """No carrier would take it."""


@dataclass(frozen=True, slots=True)
class CommandStatus:
    """One value of ``command_status`` (§5.1.3), and its effect on a submit."""

    value: int
    name: str
    verdict: StatusVerdict
    text: str
    cause: Cause


_T, _N, _C, _F = (
    StatusVerdict.THROTTLED,
    StatusVerdict.NOW,
    StatusVerdict.CARRIER,
    StatusVerdict.FINAL,
)

_ROWS: Final = (
    (0x01, "ESME_RINVMSGLEN", _C, "The carrier says that the message is too long for it."),
    (0x02, "ESME_RINVCMDLEN", _C, "The carrier could not read the request (its length)."),
    (0x03, "ESME_RINVCMDID", _C, "The carrier does not know this kind of request."),
    (0x04, "ESME_RINVBNDSTS", _N, "The carrier says that this link is not bound for that."),
    (0x05, "ESME_RALYBND", _N, "The carrier says that this account is bound already."),
    (0x06, "ESME_RINVPRTFLG", _C, "The carrier does not take this priority_flag."),
    (0x07, "ESME_RINVREGDLVFLG", _C, "The carrier does not take this registered_delivery."),
    (0x08, "ESME_RSYSERR", _N, "The carrier has a technical fault."),
    (0x0A, "ESME_RINVSRCADR", _C, "The carrier does not allow this sender."),
    (0x0B, "ESME_RINVDSTADR", _F, "The carrier does not accept the recipient's number."),
    (0x0C, "ESME_RINVMSGID", _C, "The carrier does not know this message id."),
    (0x0D, "ESME_RBINDFAIL", _N, "The carrier refused the bind."),
    (0x0E, "ESME_RINVPASWD", _N, "The carrier says that the password is wrong."),
    (0x0F, "ESME_RINVSYSID", _N, "The carrier does not know this system_id."),
    (0x11, "ESME_RCANCELFAIL", _C, "The carrier could not cancel the message."),
    (0x13, "ESME_RREPLACEFAIL", _C, "The carrier could not replace the message."),
    (0x14, "ESME_RMSGQFUL", _T, "The carrier's queue is full."),
    (0x15, "ESME_RINVSERTYP", _C, "The carrier does not take this service_type."),
    (0x33, "ESME_RINVNUMDESTS", _C, "The carrier does not take this number of recipients."),
    (0x34, "ESME_RINVDLNAME", _C, "The carrier does not know this distribution list."),
    (0x40, "ESME_RINVDESTFLAG", _C, "The carrier does not take this destination flag."),
    (0x42, "ESME_RINVSUBREP", _C, "The carrier does not replace messages."),
    (0x43, "ESME_RINVESMCLASS", _C, "The carrier does not take this esm_class."),
    (0x44, "ESME_RCNTSUBDL", _C, "The carrier cannot submit to a distribution list."),
    (0x45, "ESME_RSUBMITFAIL", _N, "The carrier did not take the message."),
    (0x48, "ESME_RINVSRCTON", _C, "The carrier does not take the sender's type of number."),
    (0x49, "ESME_RINVSRCNPI", _C, "The carrier does not take the sender's numbering plan."),
    (0x50, "ESME_RINVDSTTON", _C, "The carrier does not take the recipient's type of number."),
    (0x51, "ESME_RINVDSTNPI", _C, "The carrier does not take the recipient's numbering plan."),
    (0x53, "ESME_RINVSYSTYP", _C, "The carrier does not take this system_type."),
    (0x54, "ESME_RINVREPFLAG", _C, "The carrier does not take this replace_if_present_flag."),
    (0x55, "ESME_RINVNUMMSGS", _C, "The carrier does not take this number of messages."),
    (0x58, "ESME_RTHROTTLED", _T, "The carrier asks us to slow down."),
    (0x61, "ESME_RINVSCHED", _C, "The carrier does not take this delivery time."),
    (0x62, "ESME_RINVEXPIRY", _C, "The carrier does not take this validity period."),
    (0x63, "ESME_RINVDFTMSGID", _C, "The carrier does not know this predefined message."),
    (0x64, "ESME_RX_T_APPN", _N, "The carrier cannot take the message for now."),
    (0x65, "ESME_RX_P_APPN", _F, "The carrier refused the message for good."),
    (0x66, "ESME_RX_R_APPN", _F, "The carrier rejected the message."),
    (0x67, "ESME_RQUERYFAIL", _C, "The carrier could not answer the query."),
    (0xC0, "ESME_RINVOPTPARSTREAM", _C, "The carrier could not read the optional parameters."),
    (0xC1, "ESME_ROPTPARNOTALLWD", _C, "The carrier does not allow an optional parameter."),
    (0xC2, "ESME_RINVPARLEN", _C, "The carrier does not take the length of a parameter."),
    (0xC3, "ESME_RMISSINGOPTPARAM", _C, "The carrier misses an optional parameter."),
    (0xC4, "ESME_RINVOPTPARAMVAL", _C, "The carrier does not take an optional parameter's value."),
    (0xFE, "ESME_RDELIVERYFAILURE", _N, "The carrier could not deliver the message."),
    (0xFF, "ESME_RUNKNOWNERR", _N, "The carrier gave no reason."),
    (0x100, "ESME_RSERTYPUNAUTH", _C, "The account may not use this service_type."),
    (0x101, "ESME_RPROHIBITED", _C, "The account may not do this."),
    (0x102, "ESME_RSERTYPUNAVAIL", _N, "The service_type is not available for now."),
    (0x103, "ESME_RSERTYPDENIED", _C, "The carrier denied the service_type."),
    (0x104, "ESME_RINVDCS", _C, "The carrier does not take this data_coding."),
    (0x105, "ESME_RINVSRCADDRSUBUNIT", _C, "The carrier does not take the sender's subunit."),
    (0x106, "ESME_RINVDSTADDRSUBUNIT", _C, "The carrier does not take the recipient's subunit."),
    (0x107, "ESME_RINVBCASTFREQINT", _C, "The carrier does not take the broadcast's interval."),
    (0x108, "ESME_RINVBCASTALIAS_NAME", _C, "The carrier does not know the broadcast's alias."),
    (0x109, "ESME_RINVBCASTAREAFMT", _C, "The carrier does not take the broadcast's area."),
    (0x10A, "ESME_RINVNUMBCAST_AREAS", _C, "The carrier does not take this number of areas."),
    (0x10B, "ESME_RINVBCASTCNTTYPE", _C, "The carrier does not take the broadcast's content type."),
    (0x10C, "ESME_RINVBCASTMSGCLASS", _C, "The carrier does not take the broadcast's class."),
    (0x10D, "ESME_RBCASTFAIL", _N, "The carrier could not broadcast the message."),
    (0x10E, "ESME_RBCASTQUERYFAIL", _C, "The carrier could not answer the query of a broadcast."),
    (0x10F, "ESME_RBCASTCANCELFAIL", _C, "The carrier could not cancel the broadcast."),
    (0x110, "ESME_RINVBCAST_REP", _C, "The carrier does not take this number of repetitions."),
    (0x111, "ESME_RINVBCASTSRVGRP", _C, "The carrier does not take the broadcast's service group."),
    (0x112, "ESME_RINVBCASTCHANIND", _C, "The carrier does not take the broadcast's channel."),
)

_CAUSES: Final = {
    0x04: Cause.NOT_ALLOWED,
    0x05: Cause.NOT_ALLOWED,
    0x08: Cause.CARRIER_FAULT,
    0x0A: Cause.SENDER_REFUSED,
    0x0B: Cause.RECIPIENT_REFUSED,
    0x0D: Cause.NOT_ALLOWED,
    0x0E: Cause.NOT_ALLOWED,
    0x0F: Cause.NOT_ALLOWED,
    0x14: Cause.THROTTLED,
    0x45: Cause.REJECTED,
    0x58: Cause.THROTTLED,
    0x64: Cause.REJECTED,
    0x65: Cause.REJECTED,
    0x66: Cause.REJECTED,
    0xFE: Cause.REJECTED,
    0xFF: Cause.REJECTED,
    0x100: Cause.NOT_ALLOWED,
    0x101: Cause.NOT_ALLOWED,
    0x102: Cause.REJECTED,
    0x103: Cause.NOT_ALLOWED,
    0x10D: Cause.REJECTED,
}
"""Causes by status; those that are missing are about the form of a request: ``UNSUPPORTED``.

Only ``ESME_RSYSERR`` means that the carrier has a fault. If a status means only that the carrier
did not take the message, so does the cause: ``REJECTED``."""
_SAYS_IT_ALL: Final = (
    Cause.SENDER_REFUSED,
    Cause.RECIPIENT_REFUSED,
    Cause.THROTTLED,
    Cause.CARRIER_FAULT,
)
"""Causes whose own sentence is as precise as the status's, which therefore is not kept."""
_SAYS_NO_MORE: Final = (0x45, 0x65, 0x66, 0xFF)
"""Statuses whose sentence is no more precise than that of ``REJECTED``."""

_OF_PHONE: Final = {
    0x0B: (Scope.FINAL, Cause.UNKNOWN_NUMBER),
    0x64: (Scope.RECIPIENT, Cause.PHONE_FULL),
    0x65: (Scope.FINAL, Cause.PHONE_FULL),
    0x66: (Scope.FINAL, Cause.PHONE_FULL),
    0xFE: (Scope.RECIPIENT, Cause.ABSENT),
}
"""In transaction mode, where the answer is the network's or the phone's: the number is unknown, the
phone refused the message for now or for good, or could not be reached. None of this is a fault of
the carrier."""

STATUSES: Final[dict[int, CommandStatus]] = {
    value: CommandStatus(value, name, verdict, text, _CAUSES.get(value, Cause.UNSUPPORTED))
    for value, name, verdict, text in _ROWS
}
ESME_RINVCMDID: Final = 0x03
ESME_RBINDFAIL: Final = 0x0D
VENDOR_FIRST: Final = 0x400
VENDOR_LAST: Final = 0x4FF
_UNKNOWN_TEXT: Final = "The carrier refused with a code that the standard does not know."
_VENDOR_TEXT: Final = "The carrier refused with a code of its own; its manual tells the reason."


def status_of(command_status: int) -> CommandStatus:
    """The row for any value, including those that the standard leaves to vendors or reserves.

    By default a vendor's code means that another carrier may take the message, and a reserved one
    that it may be tried again.
    """
    row = STATUSES.get(command_status)
    if row is not None:
        return row
    if VENDOR_FIRST <= command_status <= VENDOR_LAST:
        return CommandStatus(
            command_status, f"VENDOR_0x{command_status:03X}", _C, _VENDOR_TEXT, Cause.REJECTED
        )
    return CommandStatus(
        command_status, f"UNKNOWN_0x{command_status:08X}", _N, _UNKNOWN_TEXT, Cause.REJECTED
    )


def refusal(
    command_status: int,
    verdicts: Mapping[int, StatusVerdict] | None = None,
    causes: Mapping[int, Cause] | None = None,
    *,
    is_transaction: bool = False,
) -> Outcome:
    """The outcome of a submit answered by this status, which is not 0.

    Args:
        verdicts: this carrier's meaning of its codes, if it differs from the standard.
        causes: this carrier's causes by its codes, if they differ from the standard.
        is_transaction: the submit asked for the phone's answer (``esm_class`` 2).
    """
    row = status_of(command_status)
    is_set = command_status in (verdicts or {}) or command_status in (causes or {})
    if is_transaction and command_status in _OF_PHONE and not is_set:
        scope, why = _OF_PHONE[command_status]
        return Refused(scope, row.name, cause=why)
    verdict = (verdicts or {}).get(command_status, row.verdict)
    cause, text = row.cause, row.text
    if causes and command_status in causes:
        cause, text = causes[command_status], ""
    elif cause in _SAYS_IT_ALL or row.value in _SAYS_NO_MORE:
        text = ""
    if verdict is StatusVerdict.THROTTLED:
        return Throttled(row.name, text, cause=cause)
    return Refused(Scope(verdict.value), row.name, text, cause)


BIND_ADVICE: Final[dict[int, str]] = {
    0x0E: "The carrier says that the password is wrong. Correct it in this carrier's settings.",
    0x0F: "The carrier does not know this system_id. Correct it in this carrier's settings.",
}
"""Refused binds that no retry can fix: what the operator must do."""
BIND_HINTS: Final[dict[int, str]] = {
    0x05: "An older link may still be open there; the carrier closes it in time.",
    0x0D: (
        "If this continues, ask the carrier whether the account is enabled and this machine's "
        "address is on its list."
    ),
}
"""Refused binds that may be temporary: carriers answer so while they restart, or have no room."""


def is_unknown_request(command_status: int, *, is_nack: bool) -> bool:
    """Whether an answer means that the carrier does not support this kind of request.

    ``ESME_RINVCMDID`` does. So does a ``generic_nack`` (§4.3), unless its status means that the
    request may pass later.
    """
    lasting = not command_status or status_of(command_status).verdict is StatusVerdict.CARRIER
    return command_status == ESME_RINVCMDID or (is_nack and lasting)


def unknown_bind(request: str, bind: str) -> str:
    """What the operator must do if a carrier does not support a kind of bind, in a sentence or two.

    Args:
        request: the name of the bind that it answered by ``ESME_RINVCMDID`` or ``generic_nack``.
        bind: the current setting ``bind``.
    """
    other = "transmitter_receiver" if bind == "transceiver" else "transceiver"
    return f'The carrier does not know {request}. Set bind = "{other}" in this carrier\'s settings.'
