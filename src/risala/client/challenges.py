"""The search for what answers a challenge."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from itertools import count
from typing import Any, Final

from .errors import UnreadableAnswerError

_BITS_MAX: Final = 32
_PARTS_MAX: Final = 64
"""What no service asks more of: it would take for ever."""


def solve_challenge(challenge: Mapping[str, Any]) -> dict[str, str]:
    """Solve a challenge: what the same call takes as ``challenge``.

    It computes for about half a second and waits for nothing meanwhile: in a program of many tasks
    call it in a thread. Of publishable keys alone, for programs that their users run.

    Args:
        challenge: `ChallengeRequiredError.challenge`.

    Raises:
        UnreadableAnswerError: this version of the client does not know such a challenge.
    """
    name, algorithm = challenge.get("id"), challenge.get("algorithm")
    bits, parts = challenge.get("bits"), challenge.get("parts")
    if (
        not isinstance(name, str)
        or algorithm != "SHA-256"
        or not (isinstance(bits, int) and 1 <= bits <= _BITS_MAX)
        or not (isinstance(parts, int) and 1 <= parts <= _PARTS_MAX)
    ):
        raise UnreadableAnswerError("This version of the client cannot solve such a challenge.")
    numbers = (_number(f"{name}.{part}.", 256 - bits) for part in range(parts))
    return {"id": name, "nonce": ".".join(map(str, numbers))}


def _number(text: str, free_bits: int) -> int:
    """The least number that, behind a text, has a hash below two to so many bits."""
    head = sha256(text.encode())
    for number in count():
        hashed = head.copy()
        hashed.update(str(number).encode())
        if not int.from_bytes(hashed.digest(), "big") >> free_bits:
            break
    return number
