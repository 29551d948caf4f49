"""The page for operators, ``docs/reference/faults.md``: its tables are made of the rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from proofs.faults.elsewhere import ELSEWHERE
from proofs.faults.row import Fault
from proofs.faults.rows import FAULTS

PAGE: Final = Path(__file__).parents[2] / "docs/reference/faults.md"
_PLACE: Final = re.compile(r"(<!-- faults: begin -->\n)(.*?)(<!-- faults: end -->)", re.S)


def tables() -> str:
    """Every fault by where it strikes, as Markdown."""
    parts: list[str] = []
    for group, faults in FAULTS.items():
        parts.append(f"## {group}\n")
        parts += [_described(each) for each in faults]
    parts += ["## Shown by tests of their own\n", "| What goes wrong | What is seen | Shown by |"]
    parts += ["|---|---|---|"]
    parts += [f"| {each.title} | {each.seen} | `{each.test}` |" for each in ELSEWHERE]
    return "\n".join([*parts, ""])


def _described(fault: Fault) -> str:
    lines = [
        f"### {fault.title}\n",
        f"Made by a test so: {fault.made}.\n",
        "| Where | What is seen |",
    ]
    lines.append("|---|---|")
    lines += [
        f"| {where} | {_code(text)} |" for where, texts in fault.sees.items() for text in texts
    ]
    lines += [
        f"| {where}, perhaps | {_code(text)} |"
        for where, texts in fault.perhaps.items()
        for text in texts
    ]
    if fault.alert:
        lines.append(f"| alert, within a minute | `{fault.alert}` |")
    lines += ["", f"**Comes back**: {fault.back}.", f"**What to do**: {fault.do}", ""]
    return "\n".join(lines)


def _code(text: str) -> str:
    quote = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{quote}{space}{text}{space}{quote}".replace("|", "\\|")


def written(text: str) -> str:
    """The page with today's tables in it."""
    found = _PLACE.findall(text)
    if len(found) != 1:
        raise LookupError(f"{PAGE.name} has {len(found)} places for the table")
    return _PLACE.sub(lambda at: f"{at[1]}\n{tables()}\n{at[3]}", text)


def write(page: Path = PAGE) -> None:
    page.write_text(written(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write()
