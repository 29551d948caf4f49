"""The systems that packages are made for, and the processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ARCHITECTURES: Final = ("amd64", "arm64")
"""As dpkg calls them."""
DEBIAN: Final = "http://deb.debian.org/debian"
UBUNTU: Final = "http://archive.ubuntu.com/ubuntu"


@dataclass(frozen=True)
class System:
    """A release of Debian or Ubuntu.

    Attributes:
        codename: what its archive calls it.
        mark: what a package's version says of it, as in ``1.0.0-1+deb12``.
        minor: its Python is 3.``minor``, by which the package runs.
        keyring: the keys of its archive, in a package of that archive.
    """

    codename: str
    mark: str
    minor: int
    archive: str
    components: str
    keyring: str


_DEBIAN_KEYS: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"
_UBUNTU_KEYS: Final = "/usr/share/keyrings/ubuntu-archive-keyring.gpg"
SYSTEMS: Final = (
    System("bookworm", "deb12", 11, DEBIAN, "main", _DEBIAN_KEYS),
    System("trixie", "deb13", 13, DEBIAN, "main", _DEBIAN_KEYS),
    System("noble", "ubuntu24.04", 12, UBUNTU, "main,universe", _UBUNTU_KEYS),
    System("resolute", "ubuntu26.04", 14, UBUNTU, "main,universe", _UBUNTU_KEYS),
)
"""Raspberry Pi OS with 64 bits is Debian of the same number, and takes its packages."""
