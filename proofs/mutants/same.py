"""Mutants that do what the source does: no test can tell them apart, and here is why.

``same.toml`` holds them. A rule is for a kind of change anywhere; an entry is one change of one
function, with its reason.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proofs.mutants.tool import Mutant

FILE: Final = Path(__file__).parent / "same.toml"
_LITERAL: Final = re.compile(r'(?:[rbf]*)"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of one function, which changes nothing."""

    path: str
    function: str
    gone: str
    new: str
    why: str

    def __str__(self) -> str:
        return f"{self.path} {self.function}:\n  - {self.gone}\n  + {self.new}"


def entries(file: Path = FILE) -> list[Entry]:
    """All that are stored.

    Raises:
        ValueError: one has no reason, or stands there twice.
    """
    found = []
    for path, functions in tomllib.loads(file.read_text("utf-8")).items():
        for function, changes in functions.items():
            for one in changes:
                several = one["new"] if isinstance(one["new"], list) else [one["new"]]
                found += [Entry(path, function, one["gone"], new, one["why"]) for new in several]
    if odd := [one for one in found if len(one.why) < _REASON_MIN or one.gone == one.new]:
        raise ValueError(f"not explained: {odd[0]}")
    if len(set(found)) != len(found):
        raise ValueError("an entry is there twice")
    return found


_REASON_MIN: Final = 20
"""Characters; less is no sentence."""


def rule_of(mutant: Mutant) -> str | None:
    """The rule that a mutant falls under; None: it has to have an entry of its own."""
    return next((name for name, holds in RULES.items() if holds(mutant)), None)


def explained(
    mutants: Iterable[Mutant], stored: Iterable[Entry]
) -> tuple[list[Mutant], list[Mutant], list[Entry]]:
    """Which mutants are the same by a reason, which are not, and which entries fit none."""
    by_change = {(one.path, one.function, one.gone, one.new): one for one in stored}
    unused = dict(by_change)
    same, other = [], []
    for one in mutants:
        change = (one.path, one.function, one.gone, one.new)
        unused.pop(change, None)
        (same if change in by_change or rule_of(one) else other).append(one)
    return same, other, list(unused.values())


def _is_wording(mutant: Mutant) -> bool:
    """Only the words of a sentence for people changed, whose meaning no test should pin."""
    gone, new = _LITERAL.split(mutant.gone), _LITERAL.split(mutant.new)
    if len(gone) != len(new):
        return False
    differ = [i for i, (one, other) in enumerate(zip(gone, new, strict=True)) if one != other]
    return len(differ) == 1 and differ[0] % 2 == 1 and gone[differ[0]].count(" ") >= _BLANKS_MIN


_BLANKS_MIN: Final = 2
"""Three words are a sentence; two may be what a protocol says."""


def _is_codec_case(mutant: Mutant) -> bool:
    """Python's codecs are found by their names in any case."""
    parts = _changed(mutant)
    return parts is not None and parts[0] == parts[1].lower() and parts[0] in _CODECS


_CODECS: Final = ("ascii", "utf-8", "utf-16-be", "latin-1", "big", "strict")


def _changed(mutant: Mutant) -> tuple[str, str] | None:
    """The one string literal that differs, before and after; None where something else does."""
    gone, new = _LITERAL.split(mutant.gone), _LITERAL.split(mutant.new)
    differ = [i for i, (one, other) in enumerate(zip(gone, new, strict=False)) if one != other]
    if len(gone) != len(new) or len(differ) != 1 or differ[0] % 2 == 0:
        return None
    return gone[differ[0]], new[differ[0]]


def _is_cast(mutant: Mutant) -> bool:
    """``typing.cast`` gives back its second argument, whatever the first is."""
    gone, new = (_CAST.sub("cast(…,", one) for one in (mutant.gone, mutant.new))
    return "cast(" in mutant.gone and gone == new


_CAST: Final = re.compile(r'cast\((?:None|"[^"]*"|[\w.|\[\] ]+),')


def _is_byte_order(mutant: Mutant) -> bool:
    """``int.from_bytes`` and ``to_bytes`` put the highest octet first where nothing is said."""
    return mutant.gone.replace(', "big")', ", )") == mutant.new


def _is_strict_zip(mutant: Mutant) -> bool:
    """``strict`` of a ``zip`` asserts what its writer knows of two lengths, and does nothing."""
    gone, new = (_STRICT.sub(")", one) for one in (mutant.gone, mutant.new))
    return "strict=True" in mutant.gone and gone == new


_STRICT: Final = re.compile(r", (?:strict=(?:True|False|None))?\)")


RULES: Final = {
    "strict": _is_strict_zip,
    "wording": _is_wording,
    "codec": _is_codec_case,
    "cast": _is_cast,
    "byte order": _is_byte_order,
}
