"""The package for another processor, made of the native one and of that processor's wheels.

Modules and what is compiled of them are the same bytes for each processor; only native modules
differ, and wheels bring them. So no program of the other processor has to run.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.debian.environment import (
    HOME,
    MORE_LOCKS,
    Pip,
    built_wheel,
    cleaned,
    compiled,
    run,
    site_of,
)

GLIBC_MINORS: Final = range(17, 37)
"""Wheels for any of these versions 2.x of the C library: that of Debian 12 is 2.36."""
MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
"""What dpkg and Python call a processor."""
_NEEDED: Final = re.compile(r"\(NEEDED\).*\[(.+)\]")
_LOADER: Final = "ld-linux"
"""The loader's name differs from processor to processor; it is the C library's."""


class Differs(SystemExit):
    """The other processor's environment is not what the native one is."""


@dataclass(frozen=True)
class Native:
    """The root that is made for this machine's processor."""

    root: Path
    python: str


def tags(machine: str, minor: int) -> tuple[str, ...]:
    """Which wheels pip may take for ``aarch64`` and Python 3.``minor``, as options of pip's."""
    platforms = [f"manylinux_2_{each}_{machine}" for each in reversed(GLIBC_MINORS)]
    platforms.append(f"manylinux2014_{machine}")
    words = [word for each in platforms for word in ("--platform", each)]
    words += ["--implementation", "cp", "--python-version", f"3.{minor}"]
    abis = (f"cp3{minor}", "abi3", "none")
    return (*words, *(word for each in abis for word in ("--abi", each)))


def made(top: Path, build: Path, native: Native, architecture: str, pip: Pip) -> Path:
    """The root of the package for another processor.

    Raises:
        Differs: a package is missing, or a native module needs a library that those of this
            machine do not: then nobody knows what the package depends on.
    """
    root = build / f"root-{architecture}"
    shutil.copytree(native.root, root, symlinks=True)
    shutil.rmtree(root / "DEBIAN")
    site = site_of(root / HOME)
    shutil.rmtree(site)
    where = ("--target", str(site), *tags(MACHINES[architecture], sys.version_info.minor))
    pip.lock(top, "requirements.lock", *where)
    for name in MORE_LOCKS:
        pip.lock(top, name, *where, "--upgrade")
    pip.wheel(built_wheel(build), *where, "--upgrade")
    for name in ("bin", "share", "include"):
        shutil.rmtree(site / name, ignore_errors=True)
    cleaned(site)
    compiled(native.python, root, root / HOME / "lib")
    _compare(site_of(native.root / HOME), site)
    return root


def _compare(native: Path, other: Path) -> None:
    named = [{path.name for path in site.glob("*.dist-info")} for site in (native, other)]
    if named[0] != named[1]:
        raise Differs(f"These packages are not in both: {sorted(named[0] ^ named[1])}")
    more = needed(other) - needed(native)
    if more:
        raise Differs(f"Native modules of the other processor need more: {sorted(more)}")


def needed(site: Path) -> set[str]:
    """The libraries of the system that native modules are linked with, by their names."""
    modules = sorted(path for path in site.rglob("*.so*") if path.is_file())
    own = {path.name for path in modules}
    told = run("readelf", "--dynamic", "--wide", *map(str, modules)) if modules else ""
    found = set(_NEEDED.findall(told)) - own
    return {each for each in found if not each.startswith(_LOADER)}
