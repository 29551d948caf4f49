"""The server's keys: the present one, and former ones that are still valid. Pure.

What is derived for an id is derived with the key of the id's own time, so that it is the same
before, during and after a rotation, even if one process derives it and the next one compares it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.ids import KEY_COUNTER_BITS, key_of
from risala.sms.typed import typed_code

KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class ServerKey:
    secret: bytes = field(repr=False)
    since: int = 0
    """For ids of this time and later, UTC epoch milliseconds; 0: for all."""
    until: int | None = None
    """When it expires; None: it is the newest."""


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Keys, the newest first; there is always at least one."""

    keys: tuple[ServerKey, ...]

    @classmethod
    def of(cls, secret: bytes) -> KeyRing:
        """A ring of one key for all ids."""
        return cls((ServerKey(secret),))

    @property
    def newest(self) -> bytes:
        return self.keys[0].secret

    def for_id(self, identity: str) -> bytes:
        """The key for an id: that of the time in it, or else the newest."""
        key = key_of(identity)
        if key is None:
            return self.newest
        made_at = key >> KEY_COUNTER_BITS
        sealing_key = next((each for each in self.keys if each.since <= made_at), self.keys[-1])
        return sealing_key.secret

    def holding(self, now_ms: int) -> list[bytes]:
        """The valid keys, the newest first."""
        return [each.secret for each in self.keys if each.until is None or now_ms < each.until]

    def without_old(self, now_ms: int) -> KeyRing:
        """The ring without expired keys."""
        return KeyRing(
            tuple(each for each in self.keys if each.until is None or now_ms < each.until)
        )

    def rotated(self, secret: bytes, since: int, until: int | None) -> KeyRing:
        """The ring with a new key in front.

        Args:
            since: for ids of this time and later.
            until: when the former keys expire; None: at once.
        """
        new = ServerKey(secret, since)
        if until is None:
            return KeyRing((new,))
        old = (replace(each, until=min(each.until or until, until)) for each in self.keys)
        return KeyRing((new, *old))


def written(ring: KeyRing) -> str:
    """The text of a ring's file: one key per line, the newest first, as ``KEY SINCE UNTIL``."""
    lines = []
    for each in ring.keys:
        words = [each.secret.hex()]
        if each.since or each.until is not None:
            words.append(str(each.since))
        if each.until is not None:
            words.append(str(each.until))
        lines.append(" ".join(words))
    return "".join(f"{line}\n" for line in lines)


def read(text: str) -> KeyRing | None:
    """The ring in a text; None: the text is no ring."""
    keys = [_key(line.split()) for line in text.splitlines() if line.strip()]
    valid = [each for each in keys if each is not None]
    if not valid or len(valid) != len(keys) or not _is_ring(valid):
        return None
    return KeyRing(tuple(valid))


def _key(words: Sequence[str]) -> ServerKey | None:
    secret, *times = words
    if len(times) > 2 or not all(each.isascii() and each.isdigit() for each in times):
        return None
    try:
        key = bytes.fromhex(secret)
    except ValueError:
        return None
    if len(key) < KEY_BYTES:
        return None
    since = int(times[0]) if times else 0
    return ServerKey(key, since, int(times[1]) if len(times) > 1 else None)


def _is_ring(keys: Sequence[ServerKey]) -> bool:
    """The newest has no end, and each other has one."""
    return keys[0].until is None and all(each.until is not None for each in keys[1:])


# One-time codes: derived when they are needed, never stored. Pure.
#
# A code is HMAC-SHA256(key, its purpose) modulo 10^length. The database, its WAL or a backup alone
# reveals no code; neither does the key alone.

Ring = Callable[[], KeyRing]
"""Returns the present keys: they may be rotated while a reference to it is kept."""


class Codes:
    """Derives every code for one purpose."""

    def __init__(self, ring: Ring, purpose: str | None = None) -> None:
        """
        Args:
            purpose: what they are for; None: verification sessions, by the key itself.
        """
        self._ring = ring
        self._purpose = purpose

    def __repr__(self) -> str:
        return "<Codes ***>"

    def code(self, basis: str, length: int, *, test: bool) -> str:
        """The code of a session: ``length`` digits, zeros for a test key.

        Args:
            basis: the input of the derivation; begins with the id of the code's object.
        """
        if test:
            return "0" * length
        digest = hmac.new(self._key(basis), basis.encode(), hashlib.sha256).digest()
        return str(int.from_bytes(digest, "big") % 10**length).zfill(length)

    def _key(self, basis: str) -> bytes:
        secret = self._ring().for_id(basis.partition(" ")[0])
        return secret if self._purpose is None else key_for(secret, self._purpose)

    def matches(self, guess: str, basis: str, length: int, *, test: bool) -> bool:
        """Compare in constant time, however a person writes those digits."""
        return is_code(guess, self.code(basis, length, test=test))


def is_code(guess: str, code: str) -> bool:
    """Compare in constant time, however a person writes a code's digits."""
    cleaned = typed_code(guess)
    return hmac.compare_digest(cleaned.encode("utf-8", "surrogatepass"), code.encode())


def key_for(server_key: bytes, purpose: str) -> bytes:
    """A separate key for one purpose: what is derived from it fits nothing else."""
    return hmac.new(server_key, f"risala {purpose}".encode(), hashlib.sha256).digest()
