"""Every link within the repository is alive: in pages, and where the source names one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cases import sweep
from doc_blocks import PAGES, ROOT, prose

ELSEWHERE = ("clients/**/README.md", "src/**/*.md", "tests/*.md", "tests/*/**/*.md", "changes/*.md")
"""Pages that are on no site, and still on forges."""
LINKED = [
    *PAGES,
    *(page for each in ELSEWHERE for page in ROOT.glob(each) if "node_modules" not in page.parts),
]
LINK = re.compile(
    r"""\]\(([^)\s]+)(?:\s+"[^"]*")?\)"""  # [text](here) and ![text](here "title")
    r"""|^ {0,3}\[[^]\n]+\]:\s+(\S+)"""  # [name]: here
    r"""|(?:href|src)="([^"]+)\"""",  # HTML
    re.MULTILINE,
)
CODE = re.compile(r"`[^`\n]*`")
SOURCES = ("src/**/*.py", "src/**/*.html", "proofs/**/*.py", "Makefile", ".ci/*", "pyproject.toml")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.md(?:#[\w-]+)?")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def anchors(page: Path) -> set[str]:
    """The headings of a page as forges name them in links; the second of a name gets a number."""
    found: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", prose(page), re.M):
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = next(n for n in range(100) if (f"{name}-{n}" if n else name) not in found)
        found.add(f"{name}-{number}" if number else name)
    return found


def leads_to(path: str, page: Path) -> Path:
    """A fragment of the changelog is read where the changelog is."""
    start = ROOT if page.parent == ROOT / "changes" else page.parent
    return (start / path).resolve() if path else page


def is_alive(link: str, page: Path) -> bool:
    """Whether it leads out of the repository by a scheme, or to a file and heading within."""
    if re.match(r"[a-z]+:", link):
        return True
    path, _, anchor = link.partition("#")
    target = leads_to(path, page)
    if not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in anchors(target))


def broken_links(page: Path) -> Iterator[str]:
    for found in LINK.findall(CODE.sub("", prose(page))):
        link = next(filter(None, found))
        if not is_alive(link, page):
            yield link


@sweep("page", LINKED, named=name_of)
def test_every_link_leads_somewhere(page):
    assert list(broken_links(page)) == []


@sweep("page", LINKED, named=name_of)
def test_no_link_leaves_the_repository(page):
    """What is beside it on this machine is on no forge."""
    links = [next(filter(None, found)) for found in LINK.findall(CODE.sub("", prose(page)))]
    paths = [link.partition("#")[0] for link in links if not re.match(r"[a-z]+:", link)]
    assert [path for path in paths if not leads_to(path, page).is_relative_to(ROOT)] == []


def test_every_page_that_the_source_names_is_there():
    paths = [path for each in SOURCES for path in ROOT.glob(each) if path.is_file()]
    texts = {path: text for path in paths if "docs/" in (text := path.read_text("utf-8"))}
    named = [(name_of(path), each) for path, text in texts.items() for each in NAMED.findall(text)]
    assert len(named) > 20
    assert [each for each in named if not is_alive(each[1], ROOT / "README.md")] == []


def test_a_broken_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A title, here\n## Two\n## Two\n[a](gone.md) [b](#a-title-here) [c](#no)\n"
        "[d](https://e.org) [e](#two-1) [f](#two-2) `[g](gone.md)`\n"
        '![h](none.png "Title") <a href="away.md">i</a>\n\n[j]: lost.md\n'
    )
    assert list(broken_links(page)) == [
        "gone.md", "#no", "#two-2", "none.png", "away.md", "lost.md",
    ]  # fmt: skip
