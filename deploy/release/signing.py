"""The key of the release, by which everything that people install is signed.

It lies in a keyring of GnuPG's, on a smart card or beside: this only names it, by its fingerprint.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FINGERPRINT: Final = re.compile(r"[0-9A-F]{40}")


@dataclass(frozen=True)
class ReleaseKey:
    """A key that can sign here.

    Attributes:
        fingerprint: 40 letters of hex, of the primary key. The signature may be of a part of it.
    """

    fingerprint: str

    def public(self) -> bytes:
        """The public key alone, as gpgv and apt read a keyring."""
        return _gpg("--export", "--export-options", "export-minimal", self.fingerprint)

    def detached(self, path: Path) -> Path:
        """Sign a file; the signature is beside it, with ``.asc`` at its end."""
        signature = path.with_name(f"{path.name}.asc")
        _gpg(*self._signs, "--armor", "--output", str(signature), "--detach-sign", str(path))
        return signature

    def clear(self, path: Path, signed: Path) -> Path:
        """Write the text of a file and its signature into one file."""
        _gpg(*self._signs, "--output", str(signed), "--clear-sign", str(path))
        return signed

    @property
    def _signs(self) -> tuple[str, ...]:
        return ("--yes", "--local-user", self.fingerprint, "--digest-algo", "SHA512")


def release_key(named: str) -> ReleaseKey:
    """The key of a fingerprint, which may have spaces in it.

    Raises:
        SystemExit: that is no fingerprint, or GnuPG has no secret key of it.
    """
    fingerprint = "".join(named.split()).upper()
    if not FINGERPRINT.fullmatch(fingerprint):
        raise SystemExit(f"{named!r} is no fingerprint: gpg --list-secret-keys prints 40 letters.")
    listed = _gpg("--list-secret-keys", "--with-colons", fingerprint).decode()
    if f":{fingerprint}:" not in listed:
        raise SystemExit(f"{fingerprint} is not the fingerprint of a primary key.")
    return ReleaseKey(fingerprint)


def _gpg(*words: str) -> bytes:
    try:
        done = subprocess.run(("gpg", "--batch", *words), check=False, capture_output=True)
    except FileNotFoundError as error:
        raise SystemExit("There is no gpg here: sudo apt-get install gnupg") from error
    if done.returncode:
        raise SystemExit(f"gpg {words[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
