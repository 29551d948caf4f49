"""Messages that simulated phones send: long ones in parts, in any order, and twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

import trio

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


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundPlan:
    """The messages that phones send by themselves."""

    rate_per_s: float = 1.0
    messages_max: int | None = None
    """How many messages phones send in all; None: they never stop."""
    senders: Sequence[str] = ("+22236123456",)
    recipient: str = "1234"
    texts: Sequence[str] = ("Hello",)
    forms: Sequence[InboundForm] = (InboundForm.UDH8,)
    twice_percent: float = 0.0
    """Parts that are sent twice."""
    shuffle: bool = False
    """Parts go in any order."""
    seed: int = 1


class DeliverCall(Protocol):
    """Have these sent; False where nobody has ever bound who could take them."""

    def __call__(self, *pdus: DeliverSm | DataSm) -> bool: ...


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


class Phones:
    """Sends by a plan; without one it sends nothing."""

    def __init__(self, plan: InboundPlan | None, deliver: DeliverCall) -> None:
        self._plan = plan
        self._deliver = deliver
        self.texts: list[str] = []
        """What was sent by a plan with an end, in order."""

    async def run(self) -> None:
        plan = self._plan
        if plan is None:
            return
        rng = random.Random(plan.seed)  # noqa: S311 - a run should repeat itself
        count = 0
        while plan.messages_max is None or count < plan.messages_max:
            await trio.sleep(1 / plan.rate_per_s)
            text = plan.texts[count % len(plan.texts)]
            if not self._deliver(*self._message(plan, text, count, rng)):
                continue  # nobody is there yet
            count += 1
            if plan.messages_max is not None:
                self.texts.append(text)

    def _message(
        self, plan: InboundPlan, text: str, count: int, rng: random.Random
    ) -> list[DeliverSm | DataSm]:
        sender = plan.senders[count % len(plan.senders)]
        form = plan.forms[count % len(plan.forms)]
        pdus = inbound_pdus(text, sender, plan.recipient, count + 1, form)
        if len(pdus) > 1:  # a whole message sent twice would be two messages
            pdus += [pdu for pdu in pdus if rng.uniform(0, 100) < plan.twice_percent]
            if plan.shuffle:
                rng.shuffle(pdus)
        return pdus
