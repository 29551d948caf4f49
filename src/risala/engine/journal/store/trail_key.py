"""The key that signs heads of the audit trail: beside the database, never in it.

Losing it ends nothing: the next head makes another one, and a line of the trail names it. Who has
it can sign a trail that they made up, so a copy of it belongs nowhere else.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from risala.engine.journal.store.key_file import write_key
from risala.engine.model.errors import StorageUnusable
from risala.engine.rules.trail.heads import SEED_BYTES

KEY_FILE: Final = "audit.key"


def load(data_dir: Path) -> bytes:
    """The private key of a data directory; made (0600) if there is none.

    Raises:
        StorageUnusable: it cannot be read or made, or is no key.
    """
    path = data_dir / KEY_FILE
    try:
        found = bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return _make(path)
    except (OSError, ValueError) as error:
        raise StorageUnusable(f"{path} cannot be read: {error}.") from error
    if len(found) != SEED_BYTES:
        raise StorageUnusable(f"{path} is not a key of {SEED_BYTES} bytes in hexadecimal.")
    return found


def _make(path: Path) -> bytes:
    seed = secrets.token_bytes(SEED_BYTES)
    write_key(path, f"{seed.hex()}\n")
    return seed
