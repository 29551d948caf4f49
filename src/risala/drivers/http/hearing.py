"""What a carrier tells by itself, or when asked: receipts and texts from phones. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from risala.drivers.http.judging import ID_CHARACTERS_MAX, Hide, shown_word
from risala.drivers.http.shape import HeardShape, InboundShape, QueryShape, ReceiptShape
from risala.drivers.http.sources import CarrierContent, Source, each_in, known_word, looked_up
from risala.sms.message import Inbound
from risala.sms.receipt import Receipt, ReceiptState

_NUMBER: Final = re.compile(r"(?:tel:)?(\+?)([0-9][0-9 ().\-]{2,24}[0-9])")
INTERNATIONAL_DIGITS: Final = 8
"""A shorter number is a service's, which has no country's code."""
_NO_WORD: Final = "?"


def number_of(written: str, *, plus: bool) -> str:
    """A number as the engine reads it, without `tel:` and spaces; a name stays as it is.

    Args:
        plus: numbers come with their country's code and without the ``+``.
    """
    number = _NUMBER.fullmatch(written.strip())
    if number is None:
        return written.strip()
    digits = "".join(each for each in number[2] if each.isdigit())
    # A blank where a form's `+` was not escaped is a plus, too.
    is_plus_left_out = plus and len(digits) >= INTERNATIONAL_DIGITS
    is_international = bool(number[1]) or written.startswith(" ") or is_plus_left_out
    if is_international and not digits.startswith("00"):
        return f"+{digits}"
    return digits


def _items(shape: HeardShape, content: CarrierContent) -> Iterator[CarrierContent]:
    """Each thing that is told, if it is of the kinds that this table reads."""
    for each in each_in(shape.each, content):
        if shape.kind is None or looked_up(shape.kind, each) in shape.kinds:
            yield each


def receipts_in(shape: ReceiptShape, content: CarrierContent, hide: Hide) -> Iterator[Receipt]:
    """The receipts that a request or an answer holds."""
    for each in _items(shape, content):
        carrier_id = looked_up(shape.id, each).strip()
        word = known_word(shape.word, each, shape.words)
        if carrier_id and word and len(carrier_id) <= ID_CHARACTERS_MAX:
            yield _receipt(shape, carrier_id, word, looked_up(shape.code, each).strip(), each, hide)


def _receipt(
    shape: ReceiptShape, carrier_id: str, word: str, code: str, content: CarrierContent, hide: Hide
) -> Receipt:
    verdict = shape.words.get(word.casefold())
    known_code = "" if code in shape.none else code
    cause = shape.codes.get(known_code.casefold())
    raw = f"{shown_word(word, hide) or _NO_WORD} {shown_word(known_code, hide)}".strip()
    recipient = number_of(looked_up(shape.to, content), plus=shape.plus)
    if verdict is None:
        return Receipt(
            carrier_id,
            ReceiptState.ENROUTE,
            raw,
            recipient=recipient or None,
            is_understood=False,
        )
    is_final_failure = verdict.state.is_final and verdict.state is not ReceiptState.DELIVERED
    return Receipt(
        carrier_id,
        verdict.state,
        raw,
        cause=(cause or verdict.cause) if is_final_failure else None,
        recipient=recipient or None,
    )


def receipt_of_query(
    shape: ReceiptShape, query: QueryShape, carrier_id: str, content: CarrierContent, hide: Hide
) -> Receipt | None:
    """What a carrier says of a message when it is asked; None: nothing that we know."""
    word = known_word(query.word or shape.word, content, shape.words)
    answered_id = looked_up(query.id, content).strip() if query.id is not None else carrier_id
    if answered_id != carrier_id or word.casefold() not in shape.words:
        return None
    code = looked_up(query.code or shape.code, content).strip()
    return _receipt(shape, carrier_id, word, code, content, hide)


def texts_in(
    shape: InboundShape, content: CarrierContent, received_at_ms: int
) -> Iterator[Inbound]:
    """The texts that a request or an answer holds."""
    for each in _items(shape, content):
        sender = number_of(looked_up(shape.sender, each), plus=shape.plus)
        if not sender:
            continue
        carrier_id = looked_up(shape.id, each).strip()
        yield Inbound(
            sender,
            number_of(looked_up(shape.to, each), plus=shape.plus) or None,
            looked_up(shape.text, each),
            received_at_ms,
            carrier_ids=(carrier_id,) if carrier_id else (),
        )


def cursor_in(shape: HeardShape, source: Source | None, content: CarrierContent) -> str:
    """The last item's id, from which the next question goes on; empty if there is none."""
    cursor = ""
    for each in each_in(shape.each, content):
        cursor = looked_up(source, each).strip() or cursor
    return cursor
