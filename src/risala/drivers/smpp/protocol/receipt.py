"""Delivery receipts read out of ``deliver_sm`` and ``data_sm``, and written as text (SMPP 3.4
appendix B).

Carriers write the fields in every order and case, leave some out, quote ids, and mark receipts as
such or not; docs/reference/smsc-simulator.md lists the forms that the simulator can produce.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final

from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, QuerySmResp
from risala.drivers.smpp.protocol.receipt_words import (
    WORD_MAX,
    cause_of_word,
    clean,
    clean_word,
    state_of_word,
)
from risala.drivers.smpp.protocol.submit import (
    ESM_INTERMEDIATE,
    ESM_RECEIPT,
    plain_text,
    text_and_label,
)
from risala.drivers.smpp.protocol.tlv import (
    MESSAGE_STATE,
    NETWORK_ERROR_CODE,
    RECEIPTED_MESSAGE_ID,
    USER_MESSAGE_REFERENCE,
    Tlv,
    find,
)
from risala.sms.cause import Cause
from risala.sms.evident import InboundCoding
from risala.sms.receipt import Receipt, ReceiptState
from risala.sms.values import quickly

_receipt: Final = quickly(Receipt)

_ESM_KIND: Final = 0x3C
_ESM_DELIVERY_ACK: Final = 0x08
_RECEIPT_TEXT_MAX: Final = 1024
"""Characters of a receipt that are read: real ones have under 200."""
_ID_MAX: Final = 255
"""Characters of an id; the standard has 64."""
TOLD_MAX: Final = 1024
"""States and errors whose meaning is cached (under 2 MiB): carriers have some dozens."""
_ONE_WORD: Final = frozenset({"id", "stat", "err"})

_keys: Final = re.compile(
    r"(?i)\b(id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|err|text)\s*:"
).finditer
_usual: Final = re.compile(
    r"(?s)id:([^\s:'\"\0]{1,64}) sub:[0-9]+ dlvrd:[0-9]+ submit date:[0-9]+"
    r" done date:([0-9]+) stat:([A-Za-z]+) err:([0-9A-Za-z]+)(?: [Tt]ext:.*)?"
).fullmatch
"""The layout of appendix B to the letter, as most carriers send it: it has every field before its
text, so that nothing in the text counts. Looked for first, because it takes a fifth of the time."""
_is_decimal: Final = re.compile(r"[0-9]{1,20}").fullmatch
_is_hex: Final = re.compile(r"[0-9A-Fa-f]{1,16}").fullmatch

_BY_NUMBER: Final = {
    0: ReceiptState.ENROUTE,  # 5.0: SCHEDULED
    1: ReceiptState.ENROUTE,
    2: ReceiptState.DELIVERED,
    3: ReceiptState.EXPIRED,
    4: ReceiptState.DELETED,
    5: ReceiptState.UNDELIVERABLE,
    6: ReceiptState.ACCEPTED,
    7: ReceiptState.UNKNOWN,
    8: ReceiptState.REJECTED,
    9: ReceiptState.UNDELIVERABLE,  # 5.0: SKIPPED
}
STATE_WORDS: Final = {
    ReceiptState.ENROUTE: "ENROUTE",
    ReceiptState.DELIVERED: "DELIVRD",
    ReceiptState.EXPIRED: "EXPIRED",
    ReceiptState.DELETED: "DELETED",
    ReceiptState.UNDELIVERABLE: "UNDELIV",
    ReceiptState.ACCEPTED: "ACCEPTD",
    ReceiptState.UNKNOWN: "UNKNOWN",
    ReceiptState.REJECTED: "REJECTD",
}
_NO_FAULT: Final = frozenset(
    state for state in ReceiptState if state is ReceiptState.DELIVERED or not state.is_final
)
"""States that need no cause."""
STATE_NUMBERS: Final = {state: n for n, state in _BY_NUMBER.items() if 1 <= n <= 8}


NETWORK_CAUSES: Final = {
    1: Cause.UNKNOWN_NUMBER,  # unknownSubscriber
    5: Cause.UNKNOWN_NUMBER,  # unidentifiedSubscriber
    6: Cause.ABSENT,  # absentSubscriberSM
    9: Cause.BARRED,  # illegalSubscriber
    11: Cause.BARRED,  # teleserviceNotProvisioned
    12: Cause.BARRED,  # illegalEquipment
    13: Cause.BARRED,  # callBarred
    27: Cause.ABSENT,  # absentSubscriber
}
"""Errors of the mobile network itself (MAP, 3GPP TS 29.002 §17.5), which most carriers pass on as
``err``. Those that mean no more than "undelivered" are left out."""
_GSM: Final = 3
"""The network type of a ``network_error_code`` (§5.3.2.31) that has the numbers of
:data:`NETWORK_CAUSES`."""


class IdForm(StrEnum):
    """How a carrier writes a message id in receipts, compared with its answer to the submit."""

    SAME = "same"
    RESP_HEX_RECEIPT_DEC = "resp_hex_receipt_dec"
    RESP_DEC_RECEIPT_HEX = "resp_dec_receipt_hex"


def is_receipt(pdu: DeliverSm | DataSm, coding: InboundCoding = InboundCoding.AUTO) -> bool:
    """True for the state of a message, false for a person's message (§5.2.12)."""
    kind = pdu.esm_class & _ESM_KIND
    if kind in (ESM_RECEIPT, ESM_INTERMEDIATE):
        return True
    if kind not in (0, _ESM_DELIVERY_ACK):
        return False
    # Some carriers do not mark receipts, or mark them as a phone's acknowledgement: only their
    # content distinguishes them from a person's message.
    if find(pdu.tlvs, RECEIPTED_MESSAGE_ID) and find(pdu.tlvs, MESSAGE_STATE):
        return True
    # ``id:`` alone would not be enough: a person could write that.
    return {"id", "stat", "donedate"} <= _fields(plain_text(pdu, coding)).keys()


def parse_receipt(
    pdu: DeliverSm | DataSm,
    form: IdForm = IdForm.SAME,
    causes: Mapping[str, Cause] | None = None,
    states: Mapping[str, ReceiptState] | None = None,
    coding: InboundCoding = InboundCoding.AUTO,
) -> Receipt | None:
    """The receipt in a PDU; None if it names no message.

    ``causes`` is this carrier's meaning of its own ``err`` codes, ``states`` of its own words.

    Optional parameters have priority over the text, which carriers cut and reorder; if both have an
    id, that of the text is tried too. An unknown state word is taken as not final: the message then
    waits for a clearer one.
    """
    text, label = text_and_label(pdu, coding)
    fields = _fields(text)
    tlvs = {tlv.tag: tlv for tlv in reversed(pdu.tlvs)} if pdu.tlvs else {}  # the first one counts
    named = tlvs.get(RECEIPTED_MESSAGE_ID)
    ids = [each for each in (named.text[:_ID_MAX] if named else "", fields.get("id")) if each]
    if not ids:
        return None
    network = tlvs.get(NETWORK_ERROR_CODE)
    word, error, usual_state, raw = _meaning(
        fields.get("stat", ""), fields.get("err", ""), tlvs.get(MESSAGE_STATE), network
    )
    state = (states or {}).get(word, usual_state)
    is_known = state is not None
    state = state or ReceiptState.ENROUTE
    reference = tlvs.get(USER_MESSAGE_REFERENCE)
    return _receipt(
        carrier_id=ids[0],
        state=state,
        raw=raw,
        cause=None if state in _NO_FAULT else _cause(state, word, error, network, causes or {}),
        also_known_as=_other_names(ids, form) if len(ids) > 1 else other_forms(ids[0], form),
        recipient=_number(pdu.source_addr),
        sender=_number(pdu.destination_addr),
        reference=reference.number if reference and len(reference.value) == 2 else None,
        is_understood=is_known,
        label=None if label is None else str(label),
    )


def _other_names(ids: list[str], form: IdForm) -> tuple[str, ...]:
    """The other forms of a receipt's id; then the id of its text, if that is another."""
    others = other_forms(ids[0], form)
    if ids[1] == ids[0]:
        return others
    names = dict.fromkeys((*others, ids[1], *other_forms(ids[1], form)))
    names.pop(ids[0], None)
    return tuple(names)


@lru_cache(maxsize=TOLD_MAX)
def _meaning(
    stat: str, err: str, number: Tlv | None, network: Tlv | None
) -> tuple[str, str, ReceiptState | None, str]:
    """Word, error, state (None: nobody knows what the word means) and the carrier's words for
    them, which nearly all receipts have in common."""
    word = clean_word(stat)
    error = clean("", err)[:WORD_MAX]
    state = state_of_word(word)
    if number is not None:
        state = _BY_NUMBER.get(number.number, state)
    return word, error, state, _raw(word, error, number, network)


def _cause(
    state: ReceiptState, word: str, error: str, network: Tlv | None, causes: Mapping[str, Cause]
) -> Cause | None:
    """The cause in an error, if more precise: by the carrier's own table, the word, then the
    network's."""
    if error in causes:
        return causes[error]
    by_word = cause_of_word(word)
    if by_word is not None:
        return by_word
    if state is not ReceiptState.UNDELIVERABLE:
        return None
    if network is not None and len(network.value) == 3 and network.value[0] == _GSM:
        cause = NETWORK_CAUSES.get(int.from_bytes(network.value[1:]))
        if cause is not None:
            return cause
    return NETWORK_CAUSES.get(int(error)) if _is_decimal(error) else None


def other_forms(carrier_id: str, form: IdForm) -> tuple[str, ...]:
    """The possible forms of the submit's id for the id ``carrier_id`` of a receipt."""
    forms = [carrier_id.lower(), carrier_id.upper(), carrier_id.lstrip("0")]
    if form is IdForm.RESP_HEX_RECEIPT_DEC and _is_decimal(carrier_id):
        value = int(carrier_id)
        forms[:0] = (f"{value:x}", f"{value:X}", f"{value:08x}", f"{value:08X}")
    elif form is IdForm.RESP_DEC_RECEIPT_HEX and _is_hex(carrier_id):
        value = int(carrier_id, 16)
        forms[:0] = (f"{value}", f"{value:010}")
    others = dict.fromkeys(forms)
    others.pop(carrier_id, None)
    others.pop("", None)
    return tuple(others)


def format_receipt_text(
    message_id: str,
    state: ReceiptState,
    *,
    submit_date: str,
    done_date: str,
    error_code: str = "000",
    text: str = "",
) -> str:
    """A receipt's text in the layout of appendix B.

    Args:
        submit_date: ``YYMMDDhhmm``.
        done_date: ``YYMMDDhhmm``.
        error_code: the field ``err``.
        text: the message's text, of which the first 20 characters are written.
    """
    delivered = "001" if state is ReceiptState.DELIVERED else "000"
    return (
        f"id:{message_id} sub:001 dlvrd:{delivered} submit date:{submit_date} "
        f"done date:{done_date} stat:{STATE_WORDS[state]} err:{error_code} text:{text[:20]}"
    )


def _fields(text: str) -> dict[str, str]:
    """Fields of the text form by lower-case key without spaces (``id``, ``donedate``), if any.

    Of a repeated field before ``text:`` the first counts. After ``text:`` comes the beginning of
    the customer's message, which may contain anything: a field counts there only if it is missing
    before, and then the last one, since a carrier's own fields follow the message.
    """
    text = text[:_RECEIPT_TEXT_MAX]
    usual = _usual(text)
    if usual is not None:
        carrier_id, done, state, error = usual.groups()
        return {"id": carrier_id, "donedate": done, "stat": state, "err": error}
    return _searched(text)


def _searched(text: str) -> dict[str, str]:
    """Fields in any order and layout."""
    matches = list(_keys(text))
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    in_text = False
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=False):
        key = match[1].lower().replace(" ", "").replace("_", "")
        if key == "text":
            in_text = True
            continue
        value = text[match.end() : end].strip(" \t\r\n\0\"'")
        if key in _ONE_WORD:
            # Only the first word of an id: the next one may be the beginning of the message.
            value = next(iter(value.split()), "").rstrip("\"'")[:_ID_MAX]
        if in_text:
            after[key] = value
        else:
            before.setdefault(key, value)
    return {**after, **before}


def _network_error(tlv: Tlv) -> str:
    """A ``network_error_code`` in words: the type of network, then its own number (§5.3.2.31)."""
    if len(tlv.value) != 3:
        return tlv.value.hex()[:WORD_MAX]
    return f"{tlv.value[0]}-{int.from_bytes(tlv.value[1:])}"


def _raw(word: str, error: str, number: Tlv | None, network: Tlv | None) -> str:
    parts = []
    if word:
        parts.append(word)
    if error:
        parts.append(f"err:{error}")
    if number is not None:
        parts.append(f"message_state:{number.number % 256}")
    if network is not None:
        parts.append(f"network_error_code:{_network_error(network)}")
    return " ".join(parts) or "no state"


def _number(address: str) -> str | None:
    digits = address.removeprefix("+")
    return f"+{digits}" if digits.isascii() and digits.isdigit() else None


def query_receipt(response: QuerySmResp, carrier_id: str) -> Receipt:
    """A ``query_sm_resp`` as a receipt (§4.8.2), for the queried id."""
    state = _BY_NUMBER.get(response.message_state, ReceiptState.ENROUTE)
    raw = f"query_sm message_state:{response.message_state} error_code:{response.error_code}"
    return Receipt(carrier_id=carrier_id, state=state, raw=raw)


# Notices that receipts write message ids in another form than the answers. Pure.
#
# An operator has no other sign why all messages stay ``sent``: a receipt with an unknown id may
# simply belong to another customer of the carrier.

IDS_MAX: Final = 2000
"""Answers whose ids are remembered: receipts mostly come within seconds."""
RECEIPTS_MIN: Final = 5
"""Receipts in a row without any id known from an answer, before another form is suggested: one
short number may be another's hexadecimal by chance."""


class IdWatch:
    """Watches one carrier's ids, which the settings have read in the form ``form``."""

    def __init__(self, form: IdForm) -> None:
        self._form = form
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._seen: IdForm | None = None
        self._in_a_row = 0

    def answered(self, carrier_id: str) -> None:
        """A submit was answered with this id."""
        self._answered[plain_id(carrier_id)] = None
        if len(self._answered) > IDS_MAX:
            self._answered.popitem(last=False)

    def better_form(self, receipt_id: str) -> IdForm | None:
        """Learn from a receipt's id. Returns the form in which receipts would match the answers,
        once that is certain enough; else None."""
        if self._knows(receipt_id, self._form):
            self._in_a_row = 0
            return None
        better = next((form for form in IdForm if self._knows(receipt_id, form)), None)
        if better is None:
            return None
        self._in_a_row = self._in_a_row + 1 if better is self._seen else 1
        self._seen = better
        return better if self._in_a_row >= RECEIPTS_MIN else None

    def _knows(self, receipt_id: str, form: IdForm) -> bool:
        if plain_id(receipt_id) in self._answered:
            return True
        return any(plain_id(one) in self._answered for one in other_forms(receipt_id, form))


def plain_id(carrier_id: str) -> str:
    """An id as the engine compares them: case and leading zeros do not matter."""
    return carrier_id.casefold().lstrip("0")
