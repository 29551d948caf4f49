"""The appendix of what was found from outside: ``python -m proofs.findings`` writes it.

``proofs/found`` has a file for each round of trials. A finding is a fault, what mended it, and the
tests that hold it now; an attack is played by its test with and without the guard; a kind of fault
is held by many inputs. ``tests/docs/test_found.py`` looks for each test that is named.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "proofs/found"
PAGE: Final = ROOT / "docs/reference/found.md"
ROUNDS: Final = {"third": "The third time", "second": "The second time", "first": "The first time"}
"""Files of ``FOLDER`` and their headings, the newest first."""
_HEAD: Final = """# What third parties found

<!-- Written by `python -m proofs.findings`; change the files in `proofs/found` instead. -->

This is an appendix: what strangers and attackers found wrong, what mended it, and
the tests that hold it now. [What was shown](reliability.md) is the short version.
"""


@dataclass(frozen=True, slots=True)
class TrialRound:
    """What one round of trials found.

    Attributes:
        title: the heading of its part.
        findings: rows with ``number``, ``fault``, ``mended`` and ``tests``.
        attacks: rows with ``number``, ``attack``, ``before``, ``now`` and ``tests``.
        kinds: rows with ``kind`` and ``tests``.
    """

    title: str
    findings: list[dict[str, Any]]
    attacks: list[dict[str, Any]]
    kinds: list[dict[str, Any]]


def rounds() -> list[TrialRound]:
    """All rounds, the newest first.

    Raises:
        OSError: a file of a round is missing.
        tomllib.TOMLDecodeError: a file is not TOML.
    """
    return [
        TrialRound(
            title,
            data.get("findings", []),
            data.get("attacks", []),
            data.get("kinds", []),
        )
        for name, title in ROUNDS.items()
        for data in (tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")),)
    ]


def render() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for each in rounds():
        parts.append(f"\n## {each.title}\n\n")
        parts += _table(("", "Fault", "Mended by", "Tests"), each.findings, "number fault mended")
        if each.attacks:
            parts.append("\nEach test plays its attack without the guard, and with it:\n\n")
            columns = ("", "Attack", "Before", "Now", "Tests")
            parts += _table(columns, each.attacks, "number attack before now")
        if each.kinds:
            parts.append("\nEach kind of fault is held by tests of ten inputs or more:\n\n")
            parts += _table(("Kind", "Tests"), each.kinds, "kind")
    return "".join(parts)


def _table(header: tuple[str, ...], rows: list[dict[str, Any]], fields: str) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|\n"
    for row in rows:
        told = [str(row[field]).replace("|", "\\|") for field in fields.split()]
        tests = "<br>".join(f"`{test}`" for test in row["tests"])
        yield "| " + " | ".join((*told, tests)) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
