"""Receipts as SMSCs write them: one id in two forms, one state in a dozen layouts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, SubmitSm
from risala.drivers.smpp.protocol.receipt import STATE_NUMBERS, STATE_WORDS, format_receipt_text
from risala.drivers.smpp.protocol.submit import ESM_INTERMEDIATE, ESM_RECEIPT, ESM_UDHI
from risala.drivers.smpp.protocol.tlv import (
    MESSAGE_PAYLOAD,
    MESSAGE_STATE,
    RECEIPTED_MESSAGE_ID,
    USER_MESSAGE_REFERENCE,
    Tlv,
    find,
)
from risala.sms.receipt import ReceiptState

_DCS_BINARY: Final = 0x02
_DCS_UCS2: Final = 0x08
_PADDED_DIGITS: Final = 24


class IdStyle(StrEnum):
    """The forms of one message id in answers and receipts."""

    SAME = "same"
    """Hexadecimal in both."""
    RESP_HEX_RECEIPT_DEC = "resp_hex_receipt_dec"
    RESP_DEC_RECEIPT_HEX = "resp_dec_receipt_hex"
    RECEIPT_UPPER = "receipt_upper"
    """Lower-case hexadecimal in answers, upper-case in receipts."""
    RECEIPT_PADDED = "receipt_padded"
    """Decimal, with leading zeros in receipts."""
    UUID = "uuid"
    NONE = "none"
    """No id in answers; hexadecimal in receipts."""
    ONE_FOR_ALL = "one_for_all"
    """One id in all answers; hexadecimal in receipts."""


def ids_of(number: int, style: IdStyle) -> tuple[str, str]:
    """A message's id as the answer writes it, and as receipts write it."""
    decimal, hexadecimal = str(number), f"{number:x}"
    match style:
        case IdStyle.RESP_HEX_RECEIPT_DEC:
            return hexadecimal, decimal
        case IdStyle.RESP_DEC_RECEIPT_HEX:
            return decimal, hexadecimal
        case IdStyle.RECEIPT_UPPER:
            return hexadecimal, hexadecimal.upper()
        case IdStyle.RECEIPT_PADDED:
            return decimal, decimal.zfill(_PADDED_DIGITS)
        case IdStyle.UUID:
            uuid = str(UUID(int=number))
            return uuid, uuid
        case IdStyle.NONE:
            return "", hexadecimal
        case IdStyle.ONE_FOR_ALL:
            return "1", hexadecimal
        case IdStyle.SAME:
            return hexadecimal, hexadecimal


class ReceiptForm(StrEnum):
    """Layouts of receipts that carriers use."""

    STANDARD = "standard"
    """Appendix B, and the optional parameters."""
    TEXT_ONLY = "text_only"
    """Appendix B alone."""
    TLV_ONLY = "tlv_only"
    """The optional parameters alone."""
    UPPER_CASE = "upper_case"
    """``ID:… STAT:…`` and spaces in odd places."""
    REORDERED = "reordered"
    """The state first, the id last."""
    SPARSE = "sparse"
    """``id`` and ``stat``, nothing else."""
    LONG_DATES = "long_dates"
    """Fourteen digits."""
    QUOTED = "quoted"
    """The id in quotes."""
    UNMARKED = "unmarked"
    """``esm_class`` 0, as for a person's message."""
    UCS2 = "ucs2"
    BINARY = "binary"
    """``data_coding`` 2: octets of no alphabet."""
    PAYLOAD = "payload"
    """The text in ``message_payload``."""
    UDHI = "udhi"
    """``esm_class`` 0x44, with a user data header before the text."""
    DATA_SM = "data_sm"
    """In a ``data_sm``."""


_NO_TLVS: Final = frozenset(ReceiptForm) - {
    ReceiptForm.STANDARD,
    ReceiptForm.TLV_ONLY,
    ReceiptForm.DATA_SM,
}
_UDH: Final = bytes((4, 0x24, 2, 1, 1))
"""A user data header with an element that no receipt needs: a national language table."""


def receipt_pdu(
    request: SubmitSm | DataSm,
    message_id: str,
    state: ReceiptState,
    error_code: str = "000",
    form: ReceiptForm = ReceiptForm.STANDARD,
    *,
    submitted_ms: int,
    done_ms: int,
    repeats_reference: bool = True,
    cuts_reference: bool = False,
) -> DeliverSm | DataSm:
    """The receipt of a submit. Its text leaves out the beginning of the message, which carriers
    repeat there."""
    text = _text(form, message_id, state, error_code, submitted_ms, done_ms)
    octets = b"" if form is ReceiptForm.TLV_ONLY else text.encode()
    data_coding = 0
    esm_class = ESM_RECEIPT if state.is_final else ESM_INTERMEDIATE
    tlvs: tuple[Tlv, ...] = ()
    if form not in _NO_TLVS:
        tlvs = (
            Tlv(RECEIPTED_MESSAGE_ID, message_id.encode() + b"\0"),
            Tlv(MESSAGE_STATE, bytes([STATE_NUMBERS[state]])),
        )
    if repeats_reference and (reference := find(request.tlvs, USER_MESSAGE_REFERENCE)):
        octet = bytes([0, reference.number & 0xFF])
        cut = Tlv(USER_MESSAGE_REFERENCE, octet) if cuts_reference else reference
        tlvs = (*tlvs, cut)
    match form:
        case ReceiptForm.UCS2:
            octets, data_coding = text.encode("utf-16-be"), _DCS_UCS2
        case ReceiptForm.BINARY:
            data_coding = _DCS_BINARY
        case ReceiptForm.UNMARKED:
            esm_class = 0
        case ReceiptForm.UDHI:
            octets, esm_class = _UDH + octets, esm_class | ESM_UDHI
        case ReceiptForm.PAYLOAD | ReceiptForm.DATA_SM:
            octets, tlvs = b"", (*tlvs, Tlv(MESSAGE_PAYLOAD, octets))
        case _:
            pass
    ends: dict[str, Any] = {
        "source_addr_ton": request.dest_addr_ton,
        "source_addr_npi": request.dest_addr_npi,
        "dest_addr_ton": request.source_addr_ton,
        "dest_addr_npi": request.source_addr_npi,
        "esm_class": esm_class,
        "data_coding": data_coding,
        "source_addr": request.destination_addr,
        "destination_addr": request.source_addr,
        "tlvs": tlvs,
    }
    return (
        DataSm(**ends) if form is ReceiptForm.DATA_SM else DeliverSm(**ends, short_message=octets)
    )


def _text(
    form: ReceiptForm,
    message_id: str,
    state: ReceiptState,
    error_code: str,
    submitted_ms: int,
    done_ms: int,
) -> str:
    word = STATE_WORDS[state]
    digits = 14 if form is ReceiptForm.LONG_DATES else 10
    dates: Mapping[str, str] = {
        "submit_date": _date(submitted_ms, digits),
        "done_date": _date(done_ms, digits),
    }
    match form:
        case ReceiptForm.SPARSE:
            return f"id:{message_id} stat:{word}"
        case ReceiptForm.QUOTED:
            message_id = f'"{message_id}"'
        case ReceiptForm.REORDERED:
            return (
                f"stat:{word} err:{error_code} done date:{dates['done_date']} dlvrd:001 sub:001"
                f" submit date:{dates['submit_date']} id:{message_id}"
            )
        case ReceiptForm.UPPER_CASE:
            return (
                f"ID: {message_id} SUB:001 DLVRD:001 SUBMIT_DATE:{dates['submit_date']}"
                f" DONE_DATE:{dates['done_date']} STAT: {word.lower()} ERR:{error_code} TEXT:"
            )
        case _:
            pass
    return format_receipt_text(message_id, state, error_code=error_code, **dates)


def _date(epoch_ms: int, digits: int) -> str:
    return _date_of(epoch_ms // 1000, digits)


@lru_cache(maxsize=64)  # the receipts of a busy second share theirs
def _date_of(epoch_s: int, digits: int) -> str:
    moment = datetime.fromtimestamp(epoch_s, UTC)
    return moment.strftime("%Y%m%d%H%M%S" if digits == 14 else "%y%m%d%H%M")
