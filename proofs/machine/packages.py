"""The Debian packages of two sources, built on the Debian that they are for."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from proofs.evidence import ROOT
from proofs.machine.image import Image, in_root
from proofs.machine.machine import Machine
from proofs.machine.tools import CannotRun

PACKED: Final = (
    "src",
    "deploy",
    "pyproject.toml",
    "requirements.lock",
    "requirements-standby.lock",
    "requirements-pdf.lock",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
)
"""What a package is made of: other changes make no other package."""
TOOLS: Final = (
    "echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/unsafe-io; apt-get update -q;"
    " apt-get install -q -y --no-install-recommends make python3-venv dpkg-dev"
)
"""A folder that only builds packages need not outlive a power cut."""


@dataclass(frozen=True)
class Packages:
    """``before`` is built from the commit before, and is the one that ``now`` replaces."""

    before: Path
    now: Path


def git(*arguments: str) -> str:
    """
    Raises:
        CannotRun: git refused, for example because it does not know the commit.
    """
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise CannotRun(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def sources(commit: str) -> bytes:
    """The tree of a commit, as a tar archive."""
    command = ["git", "-C", str(ROOT), "archive", commit]
    return subprocess.run(command, check=True, capture_output=True).stdout


def now() -> str:
    """The commit of what is in this tree, with its changes that no commit holds yet."""
    return git("stash", "create") or git("rev-parse", "HEAD")


def packages(image: Image, base: str, folder: Path) -> Packages:
    """Both packages, built once for each source.

    They are built in the folder that the image was made of: emulated, a build takes very long.

    Args:
        image: the Debian.
        base: the commit that ``before`` is built from.
        folder: where packages are kept.

    Raises:
        CannotRun: git does not know the commit, or a build failed.
    """
    before = _package(image, base, "1", folder)
    return Packages(before, _package(image, now(), "2", folder))


def _package(image: Image, commit: str, revision: str, folder: Path) -> Path:
    listed = git("ls-tree", commit, *PACKED)
    kept = folder / f"debian{image.debian}-{sha256(listed.encode()).hexdigest()[:12]}-{revision}"
    if not list(kept.glob("*.deb")):
        source = image.root / "root/source"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        archive = image.root / "root/source.tar"
        archive.write_bytes(sources(commit))
        if not (image.root / "usr/bin/dpkg-shlibdeps").exists():
            in_root(image.root, TOOLS)
        unpacked = "cd /root/source; tar -xf ../source.tar"
        in_root(image.root, f'{unpacked}; make deb ARGS="--revision {revision}"')
        (built,) = (source / "dist").glob("*.deb")
        kept.mkdir(parents=True, exist_ok=True)
        built.rename(kept / built.name)
    return next(kept.glob("*.deb"))


def unpack(guest: Machine, commit: str, where: str) -> None:
    """Put a commit's sources into a new folder of a machine."""
    guest.put("/run/source.tar", sources(commit))
    guest.run(f"rm -rf {where}; mkdir -p {where}; tar -xf /run/source.tar -C {where}")
    guest.run("rm /run/source.tar")
