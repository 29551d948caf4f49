"""The server key: the source of codes and form tokens, beside the database, never in it.

Losing it ends what is pending (verification sessions, sign-ins under way), nothing else. It can be
rotated while the service runs: the file then has the former keys too, until all that was derived
from them has expired, and :func:`keep_forgetting` removes those.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.engine.journal.store.key_file import write_key
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Conflict, StorageUnusable
from risala.engine.rules.keyring import KEY_BYTES, KeyRing, read, written

KEY_FILE: Final = "server.key"
KEY_VARIABLE: Final = "RISALA_SERVER_KEY"
"""Hexadecimal; replaces the file."""
OLD_MS: Final = 14 * 86_400_000
"""How long a former key is valid: as long as a page with a form token may stay open; codes expire
within the hour."""
AHEAD_MS: Final = 10_000
"""A new key is for ids of this much later, when it is certainly in its file and in memory."""
_FROM_ENVIRONMENT: Final = (
    f"The server key comes from the environment variable {KEY_VARIABLE}: change it there, and start"
    " the service again. Codes that are under way end by that."
)


class ServerKeys:
    """The keys of a data directory: in its file, and in memory."""

    def __init__(self, data_dir: Path, environ: dict[str, str] | None = None) -> None:
        """Read the keys; make one (0600) if there is none.

        Raises:
            StorageUnusable: they cannot be read or made, or are invalid.
        """
        text = (os.environ if environ is None else environ).get(KEY_VARIABLE)
        self._path = None if text else data_dir / KEY_FILE
        if text:
            self._ring = parsed(text, f"the environment variable {KEY_VARIABLE}")
        else:
            self._ring = _load(data_dir / KEY_FILE)

    def __repr__(self) -> str:
        return "<ServerKeys ***>"

    def ring(self) -> KeyRing:
        """The present keys."""
        return self._ring

    def refuse_rotation(self) -> None:
        """Raise ``Conflict`` if the key is not ours to rotate."""
        if self._path is None:
            raise Conflict(_FROM_ENVIRONMENT)

    def rotate(self, clock: Clock, *, at_once: bool) -> KeyRing:
        """Use a new key for all that is made from a given time on.

        The file has it before memory does, and both before its time has come: every process derives
        with the same key, even after a crash.

        Args:
            at_once: the former keys end now: what is under way ends.

        Raises:
            Conflict: the key comes from the environment.
            StorageUnusable: the file cannot be written; nothing has changed.
        """
        self.refuse_rotation()
        assert self._path is not None
        secret = secrets.token_bytes(KEY_BYTES)
        while True:
            now_ms = clock.now_ms()
            since = now_ms + AHEAD_MS
            until = None if at_once else since + OLD_MS
            ring = self._ring.without_old(now_ms).rotated(secret, since, until)
            write_key(self._path, written(ring))
            if clock.now_ms() < since:  # else the disk was slow, and the time has come meanwhile
                self._ring = ring
                return ring

    def forget_old(self, now_ms: int) -> None:
        """Remove expired keys from the file; if it cannot be written, another time."""
        ring = self._ring.without_old(now_ms)
        if self._path is not None and ring != self._ring:
            write_key(self._path, written(ring))
            self._ring = ring


def _load(path: Path) -> KeyRing:
    try:
        return parsed(path.read_text(encoding="ascii"), str(path))
    except FileNotFoundError:
        ring = KeyRing.of(secrets.token_bytes(KEY_BYTES))
        write_key(path, written(ring))
        return ring
    except (OSError, UnicodeDecodeError) as error:
        raise StorageUnusable(f"{path} cannot be read: {error}.") from error


def parsed(text: str, where: str) -> KeyRing:
    """The keys in a text.

    Raises:
        StorageUnusable: it has none.
    """
    ring = read(text)
    if ring is None:
        raise StorageUnusable(
            f"{where} is not a server key. It must have at least {KEY_BYTES * 2} hexadecimal "
            "digits."
        )
    return ring


log = structlog.get_logger(__name__)

EVERY_S: Final = 3600.0


async def keep_forgetting(keys: ServerKeys, clock: Clock) -> None:
    """Remove expired keys from their file, until cancelled."""
    while True:
        try:
            keys.forget_old(clock.now_ms())
        except StorageUnusable as error:  # they are invalid nevertheless
            log.warning("server_key.unforgotten", reason=str(error))
        await trio.sleep(EVERY_S)
