"""Recovery codes: each lets its owner in once, in place of a factor that is lost."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Final

from risala.engine.model.people_records.factors import RECOVERY_CODES
from risala.sms.typed import Purpose, typed

CHARACTERS: Final = 16
"""79 bits: a code cannot be guessed, so that a plain hash of it is right."""
_GROUP: Final = 4
_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without those that are read as another: i, l, o, 0, 1."""


def new_codes() -> tuple[str, ...]:
    """A set of codes, as its owner reads them."""
    return tuple(_grouped(_random()) for _ in range(RECOVERY_CODES))


def hashes_of(user_id: str, codes: Sequence[str]) -> list[bytes]:
    return [hash_of(user_id, code) for code in codes]


def hash_of(user_id: str, code: str) -> bytes:
    """The form of a code in the journal. How it is grouped and in which case it is typed does not
    matter."""
    letters = "".join(each for each in typed(code, Purpose.HEADING) if each.isalnum())
    return hashlib.sha256(f"{user_id} {letters}".encode("utf-8", "surrogatepass")).digest()


def _random() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(CHARACTERS))


def _grouped(code: str) -> str:
    return "-".join(code[at : at + _GROUP] for at in range(0, CHARACTERS, _GROUP))
