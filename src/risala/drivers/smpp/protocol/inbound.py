"""Messages from phones as ``deliver_sm`` and ``data_sm``, from an SMSC to an ESME (SMPP 3.4 §4.6,
§4.7). Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm
from risala.drivers.smpp.protocol.submit import ESM_UDHI, sar_tlvs
from risala.drivers.smpp.protocol.tlv import MESSAGE_PAYLOAD, Tlv
from risala.sms.address import source_address
from risala.sms.alphabet import choose_alphabet, encode_gsm7, encode_ucs2
from risala.sms.message import Alphabet, ReferenceBits
from risala.sms.segment import split, user_data_header

_DCS_UCS2: Final = 0x08


class InboundForm(StrEnum):
    """How a long message is cut and carried."""

    UDH8 = "udh8"
    UDH16 = "udh16"
    SAR = "sar"
    PAYLOAD = "payload"
    """Whole, in ``message_payload``."""
    DATA_SM = "data_sm"
    """Whole, in a ``data_sm``."""


def inbound_pdus(
    text: str, sender: str, recipient: str, reference: int, form: InboundForm = InboundForm.UDH8
) -> list[DeliverSm | DataSm]:
    """One message of a phone, in as many parts as it needs."""
    alphabet = choose_alphabet(text)
    encode: Callable[[str], bytes] = encode_gsm7 if alphabet is Alphabet.GSM7 else encode_ucs2
    origin = source_address(sender)
    fields: dict[str, Any] = {
        "source_addr_ton": int(origin.ton),
        "source_addr_npi": int(origin.npi),
        "source_addr": origin.text,
        "destination_addr": recipient,
        "data_coding": 0 if alphabet is Alphabet.GSM7 else _DCS_UCS2,
    }
    if form in (InboundForm.PAYLOAD, InboundForm.DATA_SM):
        kind = DataSm if form is InboundForm.DATA_SM else DeliverSm
        return [kind(**fields, tlvs=(Tlv(MESSAGE_PAYLOAD, encode(text)),))]
    bits: ReferenceBits = 16 if form is InboundForm.UDH16 else 8
    parts = split(text, alphabet, reference_bits=bits)
    if len(parts) == 1:
        return [DeliverSm(**fields, short_message=encode(text))]
    return [
        _part(fields, encode(part), reference, len(parts), number, form)
        for number, part in enumerate(parts, 1)
    ]


def _part(
    fields: dict[str, Any],
    octets: bytes,
    reference: int,
    total: int,
    number: int,
    form: InboundForm,
) -> DeliverSm:
    if form is InboundForm.SAR:
        tlvs = sar_tlvs(reference, total, number)
        return DeliverSm(**fields, short_message=octets, tlvs=tlvs)
    bits: ReferenceBits = 16 if form is InboundForm.UDH16 else 8
    header = user_data_header(reference, total, number, reference_bits=bits)
    return DeliverSm(**fields, esm_class=ESM_UDHI, short_message=header + octets)
