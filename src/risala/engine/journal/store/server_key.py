"""The server key: what codes and form tokens are derived from, beside the database, never in it.

Losing it ends what is pending (verification sessions, sign-ins under way), nothing else.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from risala.engine.journal.store.lock import StorageUnusable

KEY_FILE: Final = "server.key"
KEY_VARIABLE: Final = "RISALA_SERVER_KEY"
"""Hexadecimal; takes the place of the file."""
KEY_BYTES: Final = 32


def load_server_key(data_dir: Path, environ: dict[str, str] | None = None) -> bytes:
    """The key of a data directory; makes it (0600) where there is none.

    Raises:
        StorageUnusable: the key cannot be read or made, or is none.
    """
    given = (os.environ if environ is None else environ).get(KEY_VARIABLE)
    if given:
        return _parse(given, f"the environment variable {KEY_VARIABLE}")
    path = data_dir / KEY_FILE
    try:
        return _parse(path.read_text(encoding="ascii"), str(path))
    except FileNotFoundError:
        return _make(path)
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
    """Write a new key at one stroke: a crash leaves none or a whole one."""
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
