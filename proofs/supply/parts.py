"""What the product is made of: the packages of the lock, and the files that browsers get."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LOCK: Final = ROOT / "requirements.lock"
DRIVER_LOCK: Final = ROOT / "requirements-standby.lock"
"""Of the standby's PostgreSQL driver, which packages bring along."""
PAPER_LOCK: Final = ROOT / "requirements-pdf.lock"
"""Of what writes PDF, which packages bring along."""
VENDORED: Final = ROOT / "src/risala/http/static/vendor"
ELSEWHERE: Final = {
    "cffi": "MIT-0",
    "pycparser": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
}
"""Licences of what is for other systems alone, and so not installed where this is asked."""
_PINNED: Final = re.compile(r"([A-Za-z0-9][\w.-]*)==(\S+?)(?: ; (.*?))? \\")
_HASH: Final = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})")
_VIA: Final = re.compile(r"\s+#\s+(?:via )?(\S+)")
_VENDOR: Final = re.compile(r"# (\S+) (\S+)\n\n([A-Za-z0-9.-]+), from the npm package")
_FILE: Final = re.compile(r"^\| (\S+) \| ([0-9a-f]{64}) \|$", re.M)
_CLASSIFIER: Final = "License :: "


@dataclass(frozen=True, slots=True)
class Part:
    """Something of somebody else's that is in the product."""

    name: str
    version: str
    licence: str
    """An SPDX expression where its makers say one, else their own words."""
    hashes: tuple[str, ...]
    """SHA-256 in hexadecimal: of each file that may be installed, or of each that is served."""
    registry: str
    """``pypi`` or ``npm``."""
    needed_by: tuple[str, ...] = ()
    only_where: str = ""
    """The condition of the lock; empty: everywhere."""

    @property
    def purl(self) -> str:
        """As others name it, <https://github.com/package-url/purl-spec>."""
        name = self.name.replace("@", "%40") if self.registry == "npm" else self.name
        return f"pkg:{self.registry}/{name}@{self.version}"


def parts() -> tuple[Part, ...]:
    """All of them.

    Raises:
        LookupError: a licence is not known: it is neither installed nor in :data:`ELSEWHERE`.
    """
    locks = (each.read_text("utf-8") for each in (LOCK, DRIVER_LOCK, PAPER_LOCK))
    return (*chain.from_iterable(map(locked, locks)), *vendored())


def locked(text: str) -> Iterator[Part]:
    """The packages of a lock."""
    entry: list[str] = []
    for line in (*text.splitlines(), "end"):
        if entry and not line.startswith((" ", "\t")):
            yield _package(entry)
            entry = []
        if line.strip() and not line.startswith("#"):
            entry.append(line)


def _package(lines: list[str]) -> Part:
    found = _PINNED.match(lines[0])
    if found is None:
        raise ValueError(f"no line of a lock: {lines[0]!r}")
    hashes = tuple(told[1] for each in lines if (told := _HASH.match(each)))
    by = tuple(
        told[1] for each in lines if (told := _VIA.match(each)) and told[1] not in ("via", "#")
    )
    licence = _licence(found[1])
    return Part(found[1], found[2], licence, hashes, "pypi", by, found[3] or "")


def _licence(name: str) -> str:
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        if name in ELSEWHERE:
            return ELSEWHERE[name]
        raise LookupError(f"the licence of {name} is not known: is it installed?") from None
    if said := told.get("License-Expression"):
        return said
    classified = [
        each.rpartition(" :: ")[2]
        for each in told.get_all("Classifier", [])
        if each.startswith(_CLASSIFIER)
    ]
    said = (told.get("License") or "").strip()
    if classified:
        return " OR ".join(classified)
    if said and "\n" not in said:
        return said
    raise LookupError(f"{name} does not say its licence")


def vendored() -> Iterator[Part]:
    """The packages whose files browsers get, by their ``VENDOR.md``."""
    for path in sorted(VENDORED.glob("*/VENDOR.md")):
        text = path.read_text("utf-8")
        found = _VENDOR.match(text)
        if found is None:
            raise ValueError(f"{path}: not as `make vendor` writes it")
        hashes = tuple(value for _, value in _FILE.findall(text))
        yield Part(found[1], found[2], found[3], hashes, "npm")
