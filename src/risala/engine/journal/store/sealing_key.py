"""The sealing key: seals the secrets that the database keeps; beside it, never in it.

Losing it loses those secrets: webhooks, hooks, signed calls and members' second factors need new
ones. So it is exported once, when a service is set up, and kept apart from the backups. It is not
the server key, whose loss ends what is pending and nothing else.

A rotation puts a new key in front; the former ones stay in the file, because older backups need
them, until an operator has them forgotten.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from risala.engine.journal.store.key_file import write_key
from risala.engine.model.errors import Conflict, SecretLost, StorageUnusable
from risala.engine.rules import sealing
from risala.engine.rules.sealing import (
    KEY_BYTES,
    NONCE_BYTES,
    SealingKey,
    SealingRing,
    SecretPurpose,
)

KEY_FILE: Final = "sealing.key"
KEY_VARIABLE: Final = "RISALA_SEALING_KEY"
"""Hexadecimal; replaces the file. Several keys, the newest first, have commas between them."""
_FROM_ENVIRONMENT: Final = (
    f"The sealing key comes from the environment variable {KEY_VARIABLE}: change it there (the new"
    " key, a comma, the old key), start the service again, and rotate then."
)


class SealingKeys:
    """The keys of a data directory: in its file, and in memory. The file is read or made when a
    key is first wanted."""

    def __init__(self, data_dir: Path, environ: Mapping[str, str] | None = None) -> None:
        self._given = (os.environ if environ is None else environ).get(KEY_VARIABLE)
        self._path = data_dir / KEY_FILE
        self._ring: SealingRing | None = None
        self._is_changing = False

    def __repr__(self) -> str:
        return "<SealingKeys ***>"

    @property
    def are_there(self) -> bool:
        """Whether there is a key already: nothing is made to find out."""
        return bool(self._given) or self._ring is not None or self._path.exists()

    def ring(self) -> SealingRing:
        """The present keys; one is made (0600) if there is none.

        Raises:
            StorageUnusable: they cannot be read or made, or are invalid.
        """
        if self._ring is None:
            self._ring = self._load()
        return self._ring

    def seal(self, purpose: SecretPurpose, identity: str, secret: bytes) -> str:
        """A secret as the database may keep it. Not within a unit of work, which may run twice.

        Args:
            identity: the id of its row.
        """
        return sealing.seal(
            self.ring(), purpose, identity, secret, secrets.token_bytes(NONCE_BYTES)
        )

    def unseal(self, purpose: SecretPurpose, identity: str, sealed: str) -> bytes:
        """The secret that was sealed for this purpose and row.

        Raises:
            SecretLost: its key is not here, or it was changed or moved.
        """
        return sealing.unseal(self.ring(), purpose, identity, sealed)

    def refuse_change(self) -> None:
        """Raise ``Conflict`` if the keys are not ours to change."""
        if self._given:
            raise Conflict(_FROM_ENVIRONMENT)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Nobody else changes the keys until the newest one has sealed every secret. Otherwise one
        caller could delete the key that another caller seals with.

        Raises:
            Conflict: the key comes from the environment, or somebody changes the keys already.
        """
        self.refuse_change()
        if self._is_changing:
            raise Conflict("The sealing keys are being changed. Wait until that has ended.")
        self._is_changing = True
        try:
            yield
        finally:
            self._is_changing = False

    def rotate(self) -> SealingRing:
        """Seal with a new key from now on. The file has it before memory does.

        Raises:
            Conflict: the key comes from the environment.
            StorageUnusable: the file cannot be written; nothing has changed.
        """
        new = SealingKey(secrets.token_bytes(KEY_BYTES))
        return self._take(SealingRing((new, *self.ring().keys)))

    def add(self, ring: SealingRing) -> SealingRing:
        """Open with these keys too; the present one still seals.

        Raises:
            Conflict: the keys come from the environment.
            StorageUnusable: the file cannot be written; nothing has changed.
        """
        own = self.ring().keys if self.are_there else ()  # none is made beside the first one
        return self._take(SealingRing(tuple(dict.fromkeys((*own, *ring.keys)))))

    def forget_old(self) -> SealingRing:
        """Keep the newest key alone.

        Raises:
            Conflict: the keys come from the environment.
            StorageUnusable: the file cannot be written; nothing has changed.
        """
        return self._take(SealingRing((self.ring().newest,)))

    def _take(self, ring: SealingRing) -> SealingRing:
        self.refuse_change()
        write_key(self._path, sealing.written(ring))
        self._ring = ring
        return ring

    def _load(self) -> SealingRing:
        if self._given:
            return parsed(self._given, f"The environment variable {KEY_VARIABLE}")
        try:
            return parsed(self._path.read_text(encoding="ascii"), str(self._path))
        except FileNotFoundError:
            ring = SealingRing((SealingKey(secrets.token_bytes(KEY_BYTES)),))
            write_key(self._path, sealing.written(ring))
            return ring
        except (OSError, UnicodeDecodeError) as error:
            raise StorageUnusable(f"{self._path} cannot be read: {error}.") from error


class OpeningKeys(SealingKeys):
    """Keys that only open: where there are none, none is made."""

    def __init__(self, data_dir: Path, more: SealingRing | None = None) -> None:
        """``more`` are keys that are not in the data directory yet."""
        super().__init__(data_dir)
        self._more = () if more is None else more.keys

    def unseal(self, purpose: SecretPurpose, identity: str, sealed: str) -> bytes:
        own = self.ring().keys if self.are_there else ()
        if not (own or self._more):
            raise SecretLost(purpose, identity)
        ring = SealingRing(tuple(dict.fromkeys((*own, *self._more))))
        return sealing.unseal(ring, purpose, identity, sealed)


def parsed(text: str, where: str) -> SealingRing:
    """The keys in a text.

    Raises:
        StorageUnusable: it has none.
    """
    ring = sealing.read(text)
    if ring is None:
        digits = KEY_BYTES * 2
        raise StorageUnusable(
            f"{where} is not a sealing key. Each key has exactly {digits} hexadecimal digits."
        )
    return ring
