"""Signatures of backups by the audit trail's key: they show where a file comes from.

A signature is one line of JSON beside the backup. It covers the file's checksum, its name and the
time, so it is good for no other file.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.store.key_file import TRAIL_KEY_FILE, load_trail_key
from risala.engine.journal.upkeep import checksum
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.times import iso
from risala.engine.rules.trail.heads import public_key

_WORDS: Final = "risala backup 1"
"""The beginning of what is signed: a signature of something else is never one of a backup."""
_FILE_BYTES_MAX: Final = 4096
"""The most bytes of a signature's file: ten times what one has."""


class WrongOrigin(StorageUnusable):
    """A backup is not signed by the key that was asked for; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class BackupSignature:
    """What is beside a signed backup."""

    name: str
    """The file's name when it was signed, without its folder."""
    sha256: str
    """The file's checksum, in hexadecimal."""
    at: str
    """When it was signed, as ISO 8601 in UTC."""
    key: str
    """The public key, in base64."""
    signature: str
    """The signature in base64 (Ed25519, RFC 8032)."""

    @property
    def signed(self) -> bytes:
        return _signed(self.name, self.sha256, self.at)

    def is_genuine(self) -> bool:
        """Whether the signature is by the key that it names."""
        # Imported here: the library takes 7 MB, and most processes sign nothing.
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(b64decode(self.key, validate=True))
            key.verify(b64decode(self.signature, validate=True), self.signed)
        except (InvalidSignature, ValueError):
            return False
        return True


def signing_key(data_dir: Path) -> bytes:
    """The key of the audit trail, which signs.

    Raises:
        StorageUnusable: there is none yet, or it cannot be read.
    """
    path = data_dir / TRAIL_KEY_FILE
    if not path.exists():
        raise StorageUnusable(
            f"There is no {path}, so nothing can sign the backup. The service makes the key with "
            f"the first signed head of the audit trail, and a line of the trail names its public "
            f"half. Start the service, or back up without a signature."
        )
    return load_trail_key(data_dir)


def put_signature(file: Path, sha256: str, now_ms: int, seed: bytes) -> BackupSignature:
    """Write the signature beside a backup (0600).

    Raises:
        StorageUnusable: it cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    at = iso(now_ms)
    made = Ed25519PrivateKey.from_private_bytes(seed).sign(_signed(file.name, sha256, at))
    signature = BackupSignature(file.name, sha256, at, public_key(seed), b64encode(made).decode())
    content = {
        name: getattr(signature, name) for name in ("name", "sha256", "at", "key", "signature")
    }
    path = checksum.signature_of(file)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as out:
            out.write(json.dumps(content) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise StorageUnusable(f"{path} cannot be written: {error.strerror}.") from error
    return signature


def expect(source: Path, key: str, progress: Callable[[str, int, int], None]) -> BackupSignature:
    """Refuse a backup that this key has not signed as it is.

    Args:
        key: the public key, in base64, as a line of the audit trail names it.

    Raises:
        WrongOrigin: it has no signature, one by another key, or one of another content or name.
    """
    path = checksum.signature_of(source)
    signature = _read(path)
    if signature is None:
        raise WrongOrigin(f"{source} is not signed: there is no {path.name} beside it.")
    if signature.key != key:
        raise WrongOrigin(
            f"{source} is signed by another key: {signature.key[:60]!a}. The line `audit.key` of "
            f"the former trail has the right one; it has 44 characters."
        )
    if not signature.is_genuine():
        raise WrongOrigin(f"The signature in {path} is wrong: this key has not signed that.")
    if signature.name != source.name:
        raise WrongOrigin(
            f"The signature in {path} is of a file named {signature.name!a}. If only the name was "
            f"changed, give it back."
        )
    try:
        is_same = checksum.of_file(source, progress) == signature.sha256
    except OSError as error:
        raise WrongOrigin(f"{source} cannot be read: {error.strerror}.") from error
    if not is_same:
        raise WrongOrigin(
            f"{source} is not what was signed at {signature.at}: it was changed since, or is "
            f"another backup."
        )
    return signature


def _read(path: Path) -> BackupSignature | None:
    """The signature in a file; None: there is no such file.

    Raises:
        WrongOrigin: it is none.
    """
    try:
        with open(path, "rb") as file:
            content: Any = json.loads(file.read(_FILE_BYTES_MAX))
        names = ("name", "sha256", "at", "key", "signature")
        texts = [content[name] for name in names]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise WrongOrigin(f"{path} has no signature of a backup.") from error
    if not all(isinstance(each, str) for each in texts):
        raise WrongOrigin(f"{path} has no signature of a backup.")
    return BackupSignature(*texts)


def _signed(name: str, sha256: str, at: str) -> bytes:
    return json.dumps([_WORDS, name, sha256, at], separators=(",", ":")).encode()
