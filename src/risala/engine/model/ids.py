"""Ids: opaque, prefixed, ordered by time: ``sms_01KB0Z…``.

After the prefix come 32 characters of Crockford base32: 48 bits of UTC epoch milliseconds, then 112
random bits. Sorting ids as text sorts them by their millisecond; within one there is no order.

For messages and events the first 63 bits are a *key*, by which the database finds their row: the
milliseconds, and a counter in place of 15 random bits, so that no two have the same one.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # it brings Trio, and commands read records that make ids
    from risala.engine.model.clock import Clock

_TIME_BYTES: Final = 6
_RANDOM_BYTES: Final = 14
_TIME_MASK: Final = (1 << 8 * _TIME_BYTES) - 1
_POOL_BYTES: Final = 4096
"""Random bytes drawn together: enough for about two hundred ids."""
# Crockford's digits keep the order of their values, and have no I, L, O, U to misread.
_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in _CROCKFORD for low in _CROCKFORD)
_SHIFTS: Final = tuple(range(150, -1, -10))
_ANY_DIGIT: Final = (_CROCKFORD * 8).encode()
"""A digit for each random byte: each of the 32 for eight bytes, so that all are equally likely."""
_DIGITS: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{32}")


class RandomPool:
    """Random bytes drawn for many ids together: the system call costs more than an id."""

    def __init__(self) -> None:
        self._pool = b""
        self._used = 0

    def __call__(self, count: int) -> bytes:
        if self._used + count > len(self._pool):
            self._pool = secrets.token_bytes(max(count, _POOL_BYTES))
            self._used = 0
        start, self._used = self._used, self._used + count
        return self._pool[start : self._used]


KEY_COUNTER_BITS: Final = 15
"""Bits below a key's milliseconds: 32,768 messages of one millisecond before the next is used."""
_KEY_REST_BITS: Final = 160 - 63
_KEY_DIGITS: Final = 13
_PYTHON_DIGITS: Final = str.maketrans(_CROCKFORD, "0123456789abcdefghijklmnopqrstuv")
"""Crockford's digits as ``int`` reads them."""
_REST_DIGITS: Final = 32 - _KEY_DIGITS
_RANDOM_DIGITS: Final = 32 - 10


def next_key(last: int, now_ms: int) -> int:
    """The key after ``last``: of this millisecond, or just greater if the clock went back."""
    return max(last + 1, now_ms << KEY_COUNTER_BITS)


def key_ms(key: int) -> int:
    """The millisecond that a key begins with."""
    return key >> KEY_COUNTER_BITS


def key_of(identity: str) -> int | None:
    """The first 63 bits of an id; None for a text that is no id."""
    digits = identity.partition("_")[2]
    if not _DIGITS.fullmatch(digits):
        return None
    return int(digits[:_KEY_DIGITS].translate(_PYTHON_DIGITS), 32) >> 2  # of 13 digits' 65 bits


NUMBER_CHARACTERS_MAX: Final = 20
"""Characters of a key that is read as a number: 19 are enough for every decimal number of 63 bits,
and software may write zeros before it."""
_KEY_END: Final = 1 << 63
"""The first number that is too large for a key."""
_is_decimal: Final = re.compile(rf"[0-9]{{1,{NUMBER_CHARACTERS_MAX}}}").fullmatch
_is_hex: Final = re.compile(rf"[0-9A-Fa-f]{{1,{NUMBER_CHARACTERS_MAX}}}").fullmatch


def keys_of(number: str) -> tuple[int, ...]:
    """The possible keys of a number, which SMPP customers may get as a message's id; empty: it is
    no number.

    Digits alone may be decimal or hexadecimal. No two messages have both keys: a key begins with
    the time, so a decimal one read as hexadecimal, or the reverse, is too large or far too early.
    """
    keys: list[int] = []
    if _is_decimal(number):
        keys.append(int(number))
    if _is_hex(number):
        keys.append(int(number, 16))
    return tuple(key for key in keys if key < _KEY_END)


def event_id(key: int, subject_id: str) -> str:
    """The id of an event: its key, and the end of its subject's id.

    Readers of the event know that id, so nothing is revealed; and as nothing is random, nothing
    need be stored.
    """
    return f"evt_{_key_start(key)}{_CROCKFORD[(key & 7) << 2]}{subject_id[-19:]}"


class MessageIds:
    """Ids of messages: no two have the same key, even if the clock is set."""

    def __init__(self, last_key: int, random_bytes: Callable[[int], bytes] | None = None) -> None:
        """
        Args:
            last_key: the highest in the file.
        """
        self._last_key = last_key
        self._random_bytes = random_bytes or RandomPool()

    def new(self, now_ms: int, count: int = 1) -> list[tuple[int, str]]:
        """Keys and ids of so many messages that are accepted at this time, in their order.

        An id is :func:`message_id` of its key and of 97 random bits, of which all except two are
        drawn as digits.
        """
        first = next_key(self._last_key, now_ms)
        self._last_key = first + count - 1
        drawn = self._random_bytes((1 + _REST_DIGITS) * count)
        digits = drawn.translate(_ANY_DIGIT).decode("ascii")
        made: list[tuple[int, str]] = []
        start, shared = "", -1
        at = 0
        for key in range(first, first + count):
            if key >> 3 != shared:
                start, shared = _key_start(key), key >> 3
            end = at + 1 + _REST_DIGITS
            between = _CROCKFORD[(key & 7) << 2 | drawn[at] & 3]
            made.append((key, f"sms_{start}{between}{digits[at + 1 : end]}"))
            at = end
        return made


@lru_cache(maxsize=64)
def _nine_digits(bits: int) -> str:
    """45 bits; cached, because ids of the same eight milliseconds begin with the same."""
    return "".join([_CROCKFORD[bits >> shift & 31] for shift in range(40, -1, -5)])


def _key_start(key: int) -> str:
    """The first 60 bits of a key."""
    return f"{_nine_digits(key >> 18)}{_PAIRS[key >> 8 & 1023]}{_CROCKFORD[key >> 3 & 31]}"


def message_id(key: int, rest: int) -> str:
    """The id of a key and 97 more bits."""
    return _text("sms", key << _KEY_REST_BITS | rest)


class IdSource:
    """Makes ids from a clock and a source of randomness, both of which tests can replace."""

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes] | None = None) -> None:
        self._clock = clock
        self._random_bytes = random_bytes or RandomPool()

    def new(self, prefix: str) -> str:
        """A new id, such as ``new("sms")``; never gives one twice."""
        time_ms = self._clock.now_ms() & _TIME_MASK
        drawn = self._random_bytes(1 + _RANDOM_DIGITS)
        between = _CROCKFORD[(time_ms & 7) << 2 | drawn[0] & 3]
        rest = drawn[1:].translate(_ANY_DIGIT).decode("ascii")
        return f"{prefix}_{_nine_digits(time_ms >> 3)}{between}{rest}"

    def random_bytes(self, count: int) -> bytes:
        return self._random_bytes(count)

    def chance(self) -> float:
        """A random number from 0 to less than 1, for waits that must not all end together."""
        return int.from_bytes(self._random_bytes(4), "big") / 2**32


def first_id(prefix: str, at_ms: int) -> str:
    """The least id of a millisecond: every id made earlier is less, every later one is not."""
    return _written(prefix, at_ms, 0)


def derived_id(prefix: str, at_ms: int, *parts: str | int) -> str:
    """The id of an object that has a number: always the same, and it does not reveal the number."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return _written(prefix, at_ms, int.from_bytes(digest[:_RANDOM_BYTES], "big"))


def _written(prefix: str, at_ms: int, low_bits: int) -> str:
    return _text(prefix, (at_ms & _TIME_MASK) << (8 * _RANDOM_BYTES) | low_bits)


def _text(prefix: str, bits: int) -> str:
    return f"{prefix}_{''.join([_PAIRS[bits >> shift & 1023] for shift in _SHIFTS])}"


def is_id(text: str, prefix: str) -> bool:
    """Whether a text has the form of an id with this prefix; it need not exist."""
    return text.startswith(prefix + "_") and bool(_DIGITS.fullmatch(text, len(prefix) + 1))


ID_END_MIN: Final = 5
"""Characters from which a text may be the end of an id: fewer are at the end of too many."""
_END: Final = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{ID_END_MIN},32}}", re.ASCII | re.IGNORECASE)


def is_id_end(text: str) -> bool:
    """Whether a text may be the end of an id, or the whole of it without its prefix."""
    return _END.fullmatch(text) is not None


def concat_reference(message_id: str) -> int:
    """The reference (0 to 65535) that a message's segments share: its id's last 16 bits.

    It follows from the id alone, so a message's segments carry the same reference after a crash
    too.
    """
    last = 0
    for digit in message_id[-4:]:
        last = last * 32 + _CROCKFORD.index(digit)
    return last & 0xFFFF
