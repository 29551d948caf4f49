"""Ids: opaque, prefixed, ordered by time: ``sms_01KB0Z…``.

After the prefix stand 32 characters of Crockford base32: 48 bits of UTC epoch milliseconds, then
112 random bits (of an event: bits of a digest). Sorting ids as text
sorts them by their millisecond; within one there is no order.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import Final

from risala.engine.model.clock import Clock

_TIME_BYTES: Final = 6
_RANDOM_BYTES: Final = 14
_TIME_MASK: Final = (1 << 8 * _TIME_BYTES) - 1
_POOL_IDS: Final = 256
"""Ids for which random bytes are drawn at once."""
# Crockford's digits keep the order of their values, and have no I, L, O, U to misread.
_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in _CROCKFORD for low in _CROCKFORD)
_SHIFTS: Final = tuple(range(150, -1, -10))
_DIGITS: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{32}")


class RandomPool:
    """Random bytes drawn for many ids at once: the system call costs more than an id."""

    def __init__(self) -> None:
        self._pool = b""
        self._used = 0

    def __call__(self, count: int) -> bytes:
        if self._used + count > len(self._pool):
            self._pool = secrets.token_bytes(count * _POOL_IDS)
            self._used = 0
        start, self._used = self._used, self._used + count
        return self._pool[start : self._used]


class IdSource:
    """Makes ids from a clock and a source of randomness, both of which tests may own."""

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes] | None = None) -> None:
        self._clock = clock
        self._random_bytes = random_bytes or RandomPool()

    def new(self, prefix: str) -> str:
        """A new id, such as ``new("sms")``; never gives one twice."""
        time_ms = self._clock.now_ms()
        random = int.from_bytes(self._random_bytes(_RANDOM_BYTES), "big")
        return _written(prefix, time_ms, random)

    def chance(self) -> float:
        """A random number from 0 to less than 1, for waits that must not all end together."""
        return int.from_bytes(self._random_bytes(4), "big") / 2**32


def first_id(prefix: str, at_ms: int) -> str:
    """The least id of a millisecond: every id made before that millisecond is less, every later one
    is not."""
    return _written(prefix, at_ms, 0)


def derived_id(prefix: str, at_ms: int, *of_what: str) -> str:
    """An id that follows from its arguments alone: the same at each call.

    For units of work that make ids and may run twice: both runs must come to the same ids.

    Args:
        of_what: texts that together tell the thing from all others of that millisecond.
    """
    digest = hashlib.sha256("\0".join(of_what).encode()).digest()
    return _written(prefix, at_ms, int.from_bytes(digest[:_RANDOM_BYTES], "big"))


def _written(prefix: str, at_ms: int, low_bits: int) -> str:
    bits = (at_ms & _TIME_MASK) << (8 * _RANDOM_BYTES) | low_bits
    return f"{prefix}_{''.join([_PAIRS[bits >> shift & 1023] for shift in _SHIFTS])}"


def is_id(text: str, prefix: str) -> bool:
    """Whether a text has the shape of an id with this prefix; nothing may have that id."""
    return text.startswith(prefix + "_") and bool(_DIGITS.fullmatch(text, len(prefix) + 1))


def concat_reference(message_id: str) -> int:
    """The reference (0 to 65535) that a message's segments share: its id's last 16 bits.

    It follows from the id alone, so that a message's segments carry the same reference after a
    crash too.
    """
    last = 0
    for digit in message_id[-4:]:
        last = last * 32 + _CROCKFORD.index(digit)
    return last & 0xFFFF
