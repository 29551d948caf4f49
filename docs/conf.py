"""The site of these pages: ``make docs`` builds it in build/docs with whatever is odd as an error.

The sources are plain Markdown that any forge shows as it is, so no page holds a word of Sphinx's.
The source directory is therefore the whole repository: README, CONTRIBUTING and the examples' pages
are in the site too, and each link means the same file here and there. The tree of pages is read
from the lists of docs/all.md, one branch for each heading.

Nothing is fetched, neither by the build nor by who reads: furo brings its own style and uses the
fonts of the reader's system; links to other hosts are listed in external-links.txt, not tried.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"^(?:-|\d+\.) \[[^]]+\]\(([^)#\s]+\.md)\)", re.M)
"""An entry of a list that begins with a link to a page: what makes the page a leaf of the tree."""

project = "Risala"
author = "Risala's contributors"
project_copyright = "Risala's contributors, Apache-2.0"
root_doc = "docs/index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/*.md"]
exclude_patterns = [
    # Walked otherwise, and none of them holds a page.
    ".*", "build", "dist", "src", "tests", "changes", "**/node_modules", "**/.venv*",
]  # fmt: skip
myst_heading_anchors = 5  # a heading's anchor is the one that forges give it
language = "en"
html_theme = "furo"
html_title = "Risala"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}


def branches(page: str) -> list[tuple[str, list[str]]]:
    """Each heading of the index that has a list of pages, with those pages."""
    found = []
    for chapter in re.split(r"^##+ ", page, flags=re.M)[1:]:
        pages = LINK.findall(chapter)
        if pages:
            found.append((chapter.splitlines()[0], pages))
    return found


def plant(_: Sphinx, name: str, source: list[str]) -> None:
    """The lists of all documents become the tree of the site."""
    if name == root_doc:
        listed = (ROOT / "docs/all.md").read_text("utf-8")
        source[0] += "\n```{toctree}\n:hidden:\n\nall.md\n```\n"
        for heading, pages in branches(listed):
            lines = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{lines}\n```\n"


class Outside:
    """The links that lead to other hosts."""

    def __init__(self) -> None:
        self.found: set[tuple[str, str]] = set()

    def note(self, _: Sphinx, tree: nodes.document, name: str) -> None:
        for node in tree.findall(nodes.reference):
            if re.match(r"https?:", uri := node.get("refuri", "")):
                self.found.add((uri, name))

    def write(self, app: Sphinx, failed: Exception | None) -> None:
        if failed is None and app.builder.format == "html":
            lines = [f"{uri}  {name}\n" for uri, name in sorted(self.found)]
            (Path(app.outdir) / "external-links.txt").write_text("".join(lines), "utf-8")
            here = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">'
            (Path(app.outdir) / "index.html").write_text(here + "<title>Risala</title>\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    outside = Outside()
    for language in ("mermaid", "caddy", "logrotate"):  # Pygments does not know them
        app.add_lexer(language, TextLexer)
    app.connect("source-read", plant)
    app.connect("doctree-resolved", outside.note)
    app.connect("build-finished", outside.write)
    return {"parallel_read_safe": True}
