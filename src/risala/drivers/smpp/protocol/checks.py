"""An SMSC's checks of a message: the standard's own limits (SMPP 3.4 §5.2). Pure.

Carriers are lenient in some of these and strict in others. The simulator is strict in all
(:func:`fault_of`), so that a client tested with it learns of every fault. The server for customers
cuts texts itself, and checks only the form of a request (:func:`form_fault`).
"""

from __future__ import annotations

from typing import Final

from risala.drivers.smpp.protocol.destinations import Destination
from risala.drivers.smpp.protocol.pdu import DataSm, ShortMessage, SubmitMulti, SubmitSm
from risala.drivers.smpp.protocol.submit import ESM_UDHI
from risala.drivers.smpp.protocol.times import parse_time
from risala.drivers.smpp.protocol.tlv import (
    MESSAGE_PAYLOAD,
    SAR_MSG_REF_NUM,
    SAR_SEGMENT_SEQNUM,
    SAR_TOTAL_SEGMENTS,
    Tlv,
)
from risala.drivers.smpp.protocol.tlv_names import PARAMETERS
from risala.sms.segment import parse_user_data_header

Taken = SubmitSm | SubmitMulti | DataSm

ESME_ROK: Final = 0
_RINVMSGLEN: Final = 0x01
_RINVPRTFLG: Final = 0x06
_RINVREGDLVFLG: Final = 0x07
_RINVSRCADR: Final = 0x0A
_RINVDSTADR: Final = 0x0B
_RINVSERTYP: Final = 0x15
_RINVNUMDESTS: Final = 0x33
_RINVESMCLASS: Final = 0x43
_RINVREPFLAG: Final = 0x54
_RINVSCHED: Final = 0x61
_RINVEXPIRY: Final = 0x62
_RINVOPTPARSTREAM: Final = 0xC0
_ROPTPARNOTALLWD: Final = 0xC1
_RINVPARLEN: Final = 0xC2
_RMISSINGOPTPARAM: Final = 0xC3

_SERVICE_TYPE_MAX: Final = 5
_ADDRESS_MAX: Final = 20
_DATA_SM_ADDRESS_MAX: Final = 64
_ALPHANUMERIC_MAX: Final = 11
"""Characters of a sender's name that fit the address field of a TPDU (TS 23.040 §9.1.2.5)."""
_TON_INTERNATIONAL: Final = 1
_TON_ALPHANUMERIC: Final = 5
_PRIORITY_MAX: Final = 3
_REGISTERED_MASK: Final = 0x1F
_OCTETS_MAX: Final = 140
_SEPTETS_MAX: Final = 160
_IN_OCTETS: Final = frozenset({0x02, 0x04, 0x08, 0x18})
"""Values of ``data_coding`` whose user data is sent octet by octet; that of all others is packed
into septets."""
_SAR: Final = (SAR_MSG_REF_NUM, SAR_TOTAL_SEGMENTS, SAR_SEGMENT_SEQNUM)


def fault_of(request: Taken, now_ms: int) -> int:
    """The ``command_status`` that refuses it; 0 if it is valid."""
    return form_fault(request, now_ms) or _user_data(request)


def form_fault(request: Taken, now_ms: int) -> int:
    """As :func:`fault_of`, without a check of the length of the user data."""
    checks = (_ends(request), _flags(request), _times(request, now_ms), _parameters(request))
    return next((status for status in checks if status), ESME_ROK)


def destination_fault(ton: int, address: str, octets_max: int = _ADDRESS_MAX) -> int:
    """As :func:`fault_of`, for the address of one destination."""
    if not 0 < len(address) <= octets_max:
        return _RINVDSTADR
    if ton == _TON_INTERNATIONAL and not address.removeprefix("+").isdecimal():
        return _RINVDSTADR
    return ESME_ROK


def time_fault(scheduled: str, validity: str, now_ms: int) -> int:
    """As :func:`fault_of`, for the two times that a message may have (§5.2.15, §5.2.16)."""
    for text, status in ((scheduled, _RINVSCHED), (validity, _RINVEXPIRY)):
        try:
            moment_ms = parse_time(text, now_ms) if text else now_ms
        except ValueError:
            return status
        if status == _RINVEXPIRY and text and moment_ms <= now_ms:
            return status
    return ESME_ROK


def _ends(request: Taken) -> int:
    if len(request.service_type) > _SERVICE_TYPE_MAX:
        return _RINVSERTYP
    octets_max = _DATA_SM_ADDRESS_MAX if isinstance(request, DataSm) else _ADDRESS_MAX
    source = request.source_addr
    is_name = request.source_addr_ton == _TON_ALPHANUMERIC
    if len(source) > (_ALPHANUMERIC_MAX if is_name else octets_max):
        return _RINVSRCADR
    if isinstance(request, SubmitMulti):
        # A wrong destination among several is named in the answer's own list.
        return ESME_ROK if request.dest_addresses else _RINVNUMDESTS
    return destination_fault(request.dest_addr_ton, request.destination_addr, octets_max)


def _flags(request: Taken) -> int:
    if request.registered_delivery & ~_REGISTERED_MASK:
        return _RINVREGDLVFLG
    if isinstance(request, DataSm):
        return ESME_ROK
    if request.priority_flag > _PRIORITY_MAX:
        return _RINVPRTFLG
    return _RINVREPFLAG if request.replace_if_present_flag > 1 else ESME_ROK


def _times(request: Taken, now_ms: int) -> int:
    if isinstance(request, DataSm):
        return ESME_ROK
    return time_fault(request.schedule_delivery_time, request.validity_period, now_ms)


def _parameters(request: Taken) -> int:
    if request.trailing:
        return _RINVOPTPARSTREAM
    if not all(_has_its_length(tlv) for tlv in request.tlvs):
        return _RINVPARLEN
    tags = {tlv.tag for tlv in request.tlvs}
    if MESSAGE_PAYLOAD in tags and not isinstance(request, DataSm) and request.short_message:
        return _ROPTPARNOTALLWD
    if MESSAGE_PAYLOAD not in tags and isinstance(request, DataSm):
        return _RMISSINGOPTPARAM
    return _RMISSINGOPTPARAM if 0 < len(tags.intersection(_SAR)) < len(_SAR) else ESME_ROK


def _has_its_length(tlv: Tlv) -> bool:
    row = PARAMETERS.get(tlv.tag)
    return row is None or row.octets_min <= len(tlv.value) <= row.octets_max


def _user_data(request: Taken) -> int:
    """As :func:`fault_of`, for the user data: a ``short_message`` that does not fit one TPDU is
    refused; a ``message_payload`` the SMSC itself cuts into parts."""
    if isinstance(request, DataSm) or not request.short_message:
        return ESME_ROK
    octets, header = request.short_message, 0
    if request.esm_class & ESM_UDHI:
        try:
            header = parse_user_data_header(octets).length
        except ValueError:
            return _RINVESMCLASS
    if request.data_coding in _IN_OCTETS:
        return _RINVMSGLEN if len(octets) > _OCTETS_MAX else ESME_ROK
    septets = -(-header * 8 // 7) + len(octets) - header
    return _RINVMSGLEN if septets > _SEPTETS_MAX else ESME_ROK


def submit_of(request: SubmitMulti, to: Destination) -> SubmitSm:
    """The ``submit_sm`` for one of the destinations of a ``submit_multi`` (§4.5)."""
    shared = {name: getattr(request, name) for name in _SHARED}
    return SubmitSm(
        **shared,
        dest_addr_ton=to.ton,
        dest_addr_npi=to.npi,
        destination_addr=to.address,
        tlvs=request.tlvs,
    )


_OWN: Final = {"dest_addr_ton", "dest_addr_npi", "destination_addr"}
_SHARED: Final = [name for name in ShortMessage.__annotations__ if name not in _OWN | {"layout"}]
