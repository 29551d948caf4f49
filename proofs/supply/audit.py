"""``make dependencies``: whether anything is known against what the bill of materials names.

Offline, by a folder of advisories in the OSV schema: a copy of the Python Packaging Advisory
Database, of GitHub's, or an unpacked dump of osv.dev, each a file of YAML or JSON. It says how old
the newest advisory there is, as a folder that is old knows nothing new.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.version import InvalidVersion, Version

ECOSYSTEMS: Final = {"pypi": "PyPI", "npm": "npm"}


@dataclass(frozen=True, slots=True)
class Part:
    """Something that the bill names."""

    name: str
    version: str
    registry: str
    """``pypi`` or ``npm``."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """What is known against some versions of some packages."""

    id: str
    modified: str
    told: Mapping[str, Any]

    def hits(self, part: Part) -> bool:
        """Whether it is about this version of a part."""
        if self.told.get("withdrawn"):
            return False
        return any(
            _named(each.get("package", {}), part) and _affects(each, part.version)
            for each in self.told.get("affected", ())
        )


def _named(package: Mapping[str, str], part: Part) -> bool:
    same = normal(package.get("name", "")) == normal(part.name)
    return same and package.get("ecosystem") == ECOSYSTEMS[part.registry]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _affects(affected: Mapping[str, Any], version: str) -> bool:
    if version in affected.get("versions", ()):
        return True
    return any(
        _within(each.get("events", ()), version)
        for each in affected.get("ranges", ())
        if each.get("type") in ("ECOSYSTEM", "SEMVER")
    )


def _within(events: Iterable[Mapping[str, str]], version: str) -> bool:
    """Whether a version lies between an ``introduced`` and what ends it; OSV schema, "events"."""
    try:
        ours, inside = Version(version), False
        for event in events:
            ((kind, value),) = ((key, str(said)) for key, said in event.items())
            if kind == "introduced" and (value == "0" or ours >= Version(value)):
                inside = True
            elif (kind == "fixed" and ours >= Version(value)) or (
                kind == "last_affected" and ours > Version(value)
            ):
                inside = False
    except InvalidVersion:
        return True  # nobody can compare them: better looked at once too often
    return inside


def advisories(folder: Path) -> Iterator[Advisory]:
    """All in a folder and below."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".yaml", ".yml"):
            told = _read(path)
            if isinstance(told, dict) and "affected" in told:
                yield Advisory(str(told.get("id", path.stem)), str(told.get("modified", "")), told)


def _read(path: Path) -> object:
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    import yaml  # of the target's own environment

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def parts(bill: Mapping[str, Any]) -> list[Part]:
    """What a bill of materials names."""
    return [
        Part(each["name"], each["version"], each["purl"].partition(":")[2].partition("/")[0])
        for each in bill["components"]
    ]


def main() -> int:
    """0: nothing is known; 1: something is; 2: there is nothing to ask."""
    parser = argparse.ArgumentParser(prog="make dependencies", description=__doc__)
    parser.add_argument("bill", type=Path, help="of materials, as `make sbom` writes it")
    parser.add_argument("folder", type=Path, nargs="?", help="of advisories")
    given = parser.parse_args()
    folder = given.folder
    if folder is None or not folder.is_dir():
        print("No advisories to ask: make dependencies ADVISORIES=FOLDER, a copy of them.")
        return 2
    ours, known, newest, hits = parts(json.loads(given.bill.read_text("utf-8"))), 0, "", []
    for advisory in advisories(folder):
        known += 1
        newest = max(newest, advisory.modified)
        hits += [(part, advisory) for part in ours if advisory.hits(part)]
    for part, advisory in hits:
        print(f"{part.name} {part.version}: {advisory.id}")
    print(f"{len(ours)} parts, {known} advisories, the newest of {newest[:10]}: {len(hits)} hits.")
    return 2 if not known else 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
