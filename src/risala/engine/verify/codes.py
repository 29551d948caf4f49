"""One-time codes: derived when they are needed, never stored.

A code is HMAC-SHA256(server key, session id) modulo 10^length. Whoever has the database, its WAL or
a backup has no code, nor has whoever has the key file alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from risala.engine.journal.store.lock import StorageUnusable

KEY_FILE: Final = "server.key"
KEY_VARIABLE: Final = "RISALA_SERVER_KEY"
"""Environment variable with the server key in hexadecimal, in place of the key file."""
KEY_BYTES: Final = 32
_DIGITS: Final = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "01234567890123456789")


class Codes:
    """Knows every session's code, by the server key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "<Codes ***>"

    def code(self, session_id: str, length: int, *, test: bool) -> str:
        """The code of a session: ``length`` digits, zeros for a test key."""
        if test:
            return "0" * length
        digest = hmac.new(self._key, session_id.encode(), hashlib.sha256).digest()
        return str(int.from_bytes(digest, "big") % 10**length).zfill(length)

    def matches(self, guess: str, session_id: str, length: int, *, test: bool) -> bool:
        """Whether a guess is the session's code, compared in constant time. Spaces around it are
        left out, and Arabic-Indic digits are read."""
        cleaned = guess.strip().translate(_DIGITS)
        expected = self.code(session_id, length, test=test)
        return hmac.compare_digest(cleaned.encode("utf-8", "surrogatepass"), expected.encode())


def load_codes(data_dir: Path, environ: dict[str, str] | None = None) -> Codes:
    """The codes of a data directory; makes its key (0600) where there is none.

    Losing the key ends the pending sessions, nothing else.

    Raises:
        StorageUnusable: the key cannot be read or made, or the file holds no key.
    """
    given = (os.environ if environ is None else environ).get(KEY_VARIABLE)
    if given:
        return Codes(_parse(given, f"the environment variable {KEY_VARIABLE}"))
    path = data_dir / KEY_FILE
    try:
        return Codes(_parse(path.read_text(encoding="ascii"), str(path)))
    except FileNotFoundError:
        return Codes(_make(path))
    except (OSError, UnicodeDecodeError) as error:
        raise StorageUnusable(f"{path} cannot be read: {error}.") from error


def _parse(text: str, where: str) -> bytes:
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) < KEY_BYTES:
        raise StorageUnusable(
            f"{where} is no server key: it must hold at least {KEY_BYTES * 2} hexadecimal digits."
        )
    return key


def _make(path: Path) -> bytes:
    """Write a new key atomically: after a crash there is either no key or a whole one."""
    key = secrets.token_bytes(KEY_BYTES)
    draft = path.with_suffix(".tmp")
    try:
        draft.unlink(missing_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        with open(os.open(draft, flags, 0o600), "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StorageUnusable(f"{path} cannot be made: {error.strerror}.") from error
    return key
