"""Stored inputs: a text file for each target, one input a line, in an order of its own.

A line is a name, a tab, and the octets as Python writes them between quotation marks, so that a
reader of a change sees what was added. An input that once broke something is named for what it
broke; all others are named by their digest, which is the same wherever they were found.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).parent / "corpus"
_DIGEST_DIGITS: Final = 10
_is_digest: Final = re.compile(rf"[0-9a-f]{{{_DIGEST_DIGITS}}}").fullmatch


def name_of(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()[:_DIGEST_DIGITS]


def load(target: str, place: Path = PLACE) -> dict[str, bytes]:
    """The stored inputs of a target by their names; none where it has no file yet."""
    path = place / f"{target}.txt"
    if not path.exists():
        return {}
    lines = (line.split("\t", 1) for line in path.read_text("ascii").splitlines())
    return {name: ast.literal_eval(f'b"{written}"') for name, written in lines}


def save(target: str, inputs: Mapping[str, bytes], place: Path = PLACE) -> None:
    """Store inputs: those with names first, then the others by their digests."""
    place.mkdir(parents=True, exist_ok=True)
    ordered = sorted(inputs.items(), key=lambda pair: (bool(_is_digest(pair[0])), pair[0]))
    text = "".join(f"{name}\t{_written(octets)}\n" for name, octets in ordered)
    (place / f"{target}.txt").write_text(text, "ascii")


def named(inputs: Iterable[bytes], kept: Mapping[str, bytes]) -> dict[str, bytes]:
    """Inputs under their names; ``kept`` has names already, and those that tell what they broke
    stay whatever else does."""
    told = {name: octets for name, octets in kept.items() if not _is_digest(name)}
    known = set(told.values())
    return told | {name_of(each): each for each in inputs if each not in known}


def _written(octets: bytes) -> str:
    return "".join(_ESCAPES[each] for each in octets)


def _escaped(octet: int) -> str:
    if octet in b'"\\':
        return f"\\{octet:c}"
    return f"{octet:c}" if 0x20 <= octet < 0x7F else f"\\x{octet:02x}"


_ESCAPES: Final = [_escaped(octet) for octet in range(256)]
