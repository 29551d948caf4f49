"""The fenced blocks of the documentation's pages, and which of them say why they are not run.

A block that nobody can run here has its reason in a comment before it, which no reader sees::

    <!-- not run: needs a modem -->
    ```sh
    risala modem probe
    ```
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/*.md")
    for page in ROOT.glob(pattern)
)
LANGUAGES = ("fr", "ar")
"""Of pages that are translations: ``docs/fr/how-to/x.md`` is one of ``docs/how-to/x.md``."""
LANGUAGE_LINE = re.compile(r"^(?:\*\*English\*\*|\[English\]).*\n\n?", re.M)
"""Beneath the title of a page that has versions: the way to the others."""
FENCED = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)


@dataclass(eq=False)
class Block:
    page: Path
    line: int
    language: str
    text: str
    reason: str | None = None
    """Why it is not run; None where it is, or is checked."""

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def typed(self) -> list[str]:
        """The lines that are typed: in a console only what stands behind a prompt."""
        joined = self.text.replace("\\\n", " ").splitlines()
        if self.language != "console":
            return joined
        return [line[2:] for line in joined if line.startswith("$ ")]

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Each command with what the page shows of its output."""
        joined = re.sub(r"\\\n *", "", self.text).splitlines()
        if self.language != "console":
            return [(command, []) for command in self._whole()]
        found: list[tuple[str, list[str]]] = []
        for line in joined:
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
        return found

    def _whole(self) -> list[str]:
        """Commands of a block without prompts; what a shell takes for one is one, as a loop is."""
        found: list[str] = []
        depth = 0
        for line in re.sub(r"\\\n *", "", self.text).splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if depth:
                found[-1] += f"\n{line}"
            else:
                found.append(line)
            words = re.split(r"[\s;]+", line.strip())
            depth += sum(word in ("for", "while", "case", "if") for word in words[:1])
            depth -= sum(word in ("done", "esac", "fi") for word in words[:1])
        return found


def original(page: Path) -> Path:
    """The English page that this one translates; itself, where it is none."""
    docs = ROOT / "docs"
    if page.is_relative_to(docs) and page.relative_to(docs).parts[0] in LANGUAGES:
        return docs.joinpath(*page.relative_to(docs).parts[1:])
    if page in {ROOT / f"README.{language}.md" for language in LANGUAGES}:
        return ROOT / "README.md"
    return page


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("indent")) + 1,
            found["language"],
            re.sub(rf"^{found['indent']}", "", found["text"], flags=re.M),
            found["reason"],
        )
        for found in FENCED.finditer(text)
    ]


def prose(page: Path) -> str:
    """The page without its blocks."""
    return FENCED.sub("", page.read_text("utf-8"))
