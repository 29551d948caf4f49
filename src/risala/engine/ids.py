"""Ids: opaque, prefixed, ordered by time: ``sms_01KB0Z…``.

After the prefix stand 32 characters of Crockford base32: 48 bits of UTC epoch milliseconds, then
112 random bits. Sorting ids as text sorts them by their millisecond; within one there is no order.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable
from typing import Final

from risala.engine.clock import Clock

_TIME_BYTES: Final = 6
_RANDOM_BYTES: Final = 14
_RFC4648: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
# Crockford's digits keep the order of their values, and have no I, L, O, U to misread.
_CROCKFORD: Final = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ENCODE: Final = bytes.maketrans(_RFC4648, _CROCKFORD)
_DIGITS: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{32}")


class IdSource:
    """Makes ids from a clock and a source of randomness, both of which tests may own."""

    def __init__(
        self, clock: Clock, random_bytes: Callable[[int], bytes] = secrets.token_bytes
    ) -> None:
        self._clock = clock
        self._random_bytes = random_bytes

    def new(self, prefix: str) -> str:
        """A new id, such as ``new("sms")``; never gives one twice."""
        time = self._clock.now_ms().to_bytes(_TIME_BYTES, "big")
        bits = base64.b32encode(time + self._random_bytes(_RANDOM_BYTES))  # 160: no padding
        return f"{prefix}_{bits.translate(_ENCODE).decode()}"


def is_id(text: str, prefix: str) -> bool:
    """Whether a text has the shape of an id with this prefix; tells nothing of its existence."""
    return text.startswith(prefix + "_") and bool(_DIGITS.fullmatch(text, len(prefix) + 1))


def concat_reference(message_id: str) -> int:
    """The reference (0 to 65535) that a message's segments share: its id's last 16 bits.

    Pure, so that the segments of one message carry the same reference after a crash too.
    """
    last = 0
    for digit in message_id[-4:].encode():
        last = last * 32 + _CROCKFORD.index(digit)
    return last & 0xFFFF
