"""The folder that apt installs from: packages, their lists, and signatures (``dist/apt``).

Each system has its own suite, under the name that its archive has: ``dists/bookworm``. The packages
are in ``pool``. It is made anew each time; whoever serves it may keep older packages in the pool.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Final

from deploy.release.signing import ReleaseKey
from deploy.release.systems import ARCHITECTURES, SYSTEMS, System

POOL: Final = "pool/main/r/risala"
VALID_FOR: Final = timedelta(days=180)
"""apt believes a list no longer, so that a mirror cannot hold back what is newer for ever. It is
long, because releases are rare; ``python -m deploy.release.sign`` signs the same packages anew."""
RELEASE: Final = """\
Origin: Risala
Label: Risala
Suite: {codename}
Codename: {codename}
Date: {date}
Valid-Until: {until}
Architectures: {architectures}
Components: main
Signed-By: {fingerprint}
Description: Risala, SMS and phone verification on one machine
SHA256:
"""


def written(place: Path, debs: Sequence[Path], key: ReleaseKey, moment: datetime) -> None:
    """Make the folder of some packages.

    Args:
        place: where; what is there is replaced.
        debs: packages of any of the systems.
        key: signs the lists.
        moment: now, from which on the lists are valid.
    """
    shutil.rmtree(place, ignore_errors=True)
    (place / POOL).mkdir(parents=True)
    for deb in debs:
        shutil.copyfile(deb, place / POOL / deb.name)
    for system in SYSTEMS:
        found = {
            architecture: _of(debs, system, architecture)
            for architecture in ARCHITECTURES
            if _of(debs, system, architecture)
        }
        if found:
            _suite(place, system, found, key, moment)


def _of(debs: Sequence[Path], system: System, architecture: str) -> list[Path]:
    return [each for each in debs if each.name.endswith(f"+{system.mark}_{architecture}.deb")]


def _suite(
    place: Path,
    system: System,
    found: dict[str, list[Path]],
    key: ReleaseKey,
    moment: datetime,
) -> None:
    suite = place / "dists" / system.codename
    listed: list[Path] = []
    for architecture, debs in found.items():
        packages = suite / f"main/binary-{architecture}/Packages"
        packages.parent.mkdir(parents=True)
        packages.write_text("\n".join(map(_entry, debs)), "utf-8")
        packed = packages.with_name("Packages.gz")
        packed.write_bytes(gzip.compress(packages.read_bytes(), mtime=0))
        listed += [packages, packed]
    head = RELEASE.format(
        codename=system.codename,
        date=_date(moment),
        until=_date(moment + VALID_FOR),
        architectures=" ".join(found),
        fingerprint=key.fingerprint,
    )
    lines = [
        f" {_sha256(path)} {path.stat().st_size} {path.relative_to(suite).as_posix()}\n"
        for path in listed
    ]
    release = suite / "Release"
    release.write_text(head + "".join(lines), "utf-8")
    key.clear(release, suite / "InRelease")
    key.detached(release).rename(suite / "Release.gpg")


def _entry(deb: Path) -> str:
    """What the list says of a package: its own words, and by what apt knows its file again."""
    told = subprocess.run(
        ("dpkg-deb", "--field", str(deb)), check=True, capture_output=True, text=True
    ).stdout.strip()
    return (
        f"{told}\nFilename: {POOL}/{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {_sha256(deb)}\n"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _date(moment: datetime) -> str:
    """As archives write it: ``Mon, 30 Nov 2026 21:00:00 GMT``."""
    return format_datetime(moment.astimezone(UTC), usegmt=True)
