"""The phones that a simulated modem sends to: they join received parts, and send. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

from risala.drivers.modem.tpdu.coding import CharacterSet
from risala.drivers.modem.tpdu.pdu import Deliver, Submit, TpAddress, UserData
from risala.drivers.modem.tpdu.tpfields import TON_ALPHANUMERIC
from risala.sms.alphabet import choose_alphabet
from risala.sms.message import ReferenceBits
from risala.sms.segment import join, split, user_data_header

INCOMPLETE_MAX: Final = 1000
"""Messages that may wait for parts; if there are more, the oldest is dropped."""

T = TypeVar("T")


class Dice(Protocol):
    """The source of chance: a ``random.Random`` with a seed has this shape."""

    def random(self) -> float: ...
    def randrange(self, stop: int, /) -> int: ...
    def choice(self, seq: Sequence[T], /) -> T: ...
    def shuffle(self, x: list[T], /) -> None: ...


def readable(data: UserData) -> str:
    """A message's text; in hexadecimal if it carries octets and no text."""
    if data.coding.characters is not CharacterSet.EIGHT_BIT and not data.coding.compressed:
        return data.text
    text = data.data.decode("latin-1")
    return text if text.isprintable() else data.data.hex()


class Phones:
    """All phones that the modem sends to."""

    def __init__(self) -> None:
        self._incomplete: dict[tuple[object, ...], dict[int, str]] = {}

    def take(self, submit: Submit) -> tuple[str, int] | None:
        """Take a segment; the whole text and its number of segments once the last is here, else
        None."""
        text, place = readable(submit.user_data), submit.user_data.concatenation
        if place is None or place.total == 1:
            return join([text]), 1
        key = (submit.destination, place.reference, place.bits, place.total)
        parts = self._incomplete.setdefault(key, {})
        parts[place.number] = text
        if len(parts) == place.total:
            del self._incomplete[key]
            return join(parts[number] for number in sorted(parts)), place.total
        if len(self._incomplete) > INCOMPLETE_MAX:
            del self._incomplete[next(iter(self._incomplete))]
        return None


def address_of(sender: str) -> TpAddress:
    """The address of a sender: a name if it has letters, else a number."""
    if sender.removeprefix("+").isdecimal():
        return TpAddress.of_number(sender)
    return TpAddress(sender, TON_ALPHANUMERIC, 0)


def delivers(
    sender: str,
    text: str,
    reference: int,
    sent_at: datetime,
    *,
    message_class: int | None = None,
    reference_bits: ReferenceBits = 8,
) -> list[Deliver]:
    """The TPDUs of a message from a phone, in order.

    Raises:
        PduError: no PDU can hold it: the sender is too long, or has invalid characters.
    """
    alphabet = choose_alphabet(text)
    parts = split(text, alphabet, reference_bits=reference_bits)
    tpdus = []
    for number, part in enumerate(parts, 1):
        header = b""
        if len(parts) > 1:
            header = user_data_header(reference, len(parts), number, reference_bits=reference_bits)
        data = UserData.of_text(part, alphabet, header=header, message_class=message_class)
        deliver = Deliver(address_of(sender), data, sent_at, more_messages=number < len(parts))
        deliver.encode()  # raises here, and not later, if no PDU can hold it
        tpdus.append(deliver)
    return tpdus
