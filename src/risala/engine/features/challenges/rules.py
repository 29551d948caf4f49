"""What answers a challenge: hashes that begin with enough zero bits. Pure.

The work is in parts, of which each is a search. The time of one search varies widely, that of many
together little; and how many of them are done is an honest progress.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

from risala.dataclass import dataclass

ALGORITHM: Final = "SHA-256"
PARTS: Final = 16
"""Searches in one challenge. Of a hundred that take a second in the middle, one takes more than
1.7."""
LIFE_S: Final = 120
"""How long an answer is taken, in seconds (contract §14)."""
DIGITS_MAX: Final = 11
"""Digits of one part's number. With them, what is hashed has at most 55 octets: one block of
SHA-256 (FIPS 180-4 §5.1.1), so that each hash is as much work as any other."""
_is_nonce: Final = re.compile(
    rf"[0-9]{{1,{DIGITS_MAX}}}(?:\.[0-9]{{1,{DIGITS_MAX}}}){{{PARTS - 1}}}"
).fullmatch


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge as it is asked."""

    id: str
    bits: int
    """Zero bits at the beginning of each hash."""

    def wire(self) -> dict[str, Any]:
        """As the API answers it."""
        return {
            "id": self.id,
            "algorithm": ALGORITHM,
            "bits": self.bits,
            "parts": PARTS,
            "validSeconds": LIFE_S,
        }


def is_solved(challenge: Challenge, nonce: str) -> bool:
    """Whether a nonce answers a challenge: each part's number, together with the challenge's id and
    the part's index, has a hash that begins with enough zero bits.

    Args:
        nonce: a number for each part, with dots between them.
    """
    if _is_nonce(nonce) is None:
        return False
    free = 256 - challenge.bits
    return all(
        int.from_bytes(sha256(f"{challenge.id}.{part}.{number}".encode()).digest()) >> free == 0
        for part, number in enumerate(nonce.split("."))
    )


def solution(challenge: Challenge) -> str:
    """The least nonce that answers a challenge, found by search: it takes ``PARTS`` times two to
    the ``bits`` hashes in the mean. For tests and examples; clients have their own."""
    free = 256 - challenge.bits
    numbers = []
    for part in range(PARTS):
        head, number = sha256(f"{challenge.id}.{part}.".encode()), 0
        while True:
            hashed = head.copy()
            hashed.update(str(number).encode())
            if int.from_bytes(hashed.digest()) >> free == 0:
                break
            number += 1
        numbers.append(str(number))
    return ".".join(numbers)
