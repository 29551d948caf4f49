"""What a release is made of: who builds it, and in which file it is."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SUMS: Final = "SHA256SUMS"
NOTES: Final = "NOTES.md"


class Unbuilt(SystemExit):
    """A file is not there."""


@dataclass(frozen=True)
class Artefact:
    """What one target of the Makefile leaves in ``dist/``."""

    target: str
    patterns: tuple[str, ...]
    """Its files; ``{version}`` stands for the version."""
    needs: tuple[str, ...] = ()
    """Any one of these programs; without it the target is left out, and the tool says so."""
    is_roots: bool = False
    """Whether only root can make it."""

    def missing(self) -> str:
        """What has to be installed, or who has to run it; empty: nothing."""
        if self.needs and not any(map(shutil.which, self.needs)):
            return " or ".join(self.needs)
        return "root" if self.is_roots and os.geteuid() != 0 else ""

    def files(self, dist: Path, version: str) -> list[Path]:
        """Those that are there.

        Raises:
            Unbuilt: the target left none.
        """
        found = []
        for pattern in self.patterns:
            here = sorted(dist.glob(pattern.format(version=version)))
            if not here:
                raise Unbuilt(f"make {self.target} left no {pattern.format(version=version)}.")
            found += here
        return found


ALL: Final = (
    Artefact("dist", ("risala-{version}-py3-none-any.whl", "risala-{version}.tar.gz")),
    Artefact("sbom", ("risala.cdx.json",)),
    Artefact("bundle", ("risala.pyz",)),
    Artefact("deb", ("risala_{version}-*.deb",), ("dpkg-deb",)),
    Artefact("packages", ("risala_{version}-*.deb",), ("debootstrap",), is_roots=True),
    Artefact("container", ("risala_{version}_*.container.tar.xz",), ("podman", "docker")),
)


def sums(files: list[Path]) -> str:
    """As ``sha256sum --check`` reads them."""
    lines = []
    for path in sorted(files, key=lambda each: each.name):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)
