"""The site of these pages: ``make docs`` builds it in build/docs with whatever is odd as an error.

The sources are plain Markdown that any forge shows as it is, so no page holds a word of Sphinx's.
The source directory is therefore the whole repository: README, CONTRIBUTING and the examples' pages
are in the site too, and each link means the same file here and there. The tree of pages is read
from the lists of docs/all.md, one branch for each heading.

A page has French and Arabic versions where docs/fr and docs/ar hold one at the same path. Each
shows the way to the others. The theme's words and the tree are in the language of the page.

Nothing is fetched, neither by the build nor by who reads: furo brings its own style and uses the
fonts of the reader's system; links to other hosts are listed in external-links.txt, not tried.

docs/moved.txt has a line for each page that moved: its old path and its new one, below docs.
llms.txt lists the pages for programs that read, and skill.md lies beside it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

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
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
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
    """The lists of all documents become the tree of the site. What only forges need goes: the line
    of languages, for which the site has a switch, and the directions of Arabic pages."""
    source[0] = LANGUAGE_LINE.sub("", source[0], count=1)
    if language_of(name) == "ar":
        source[0] = DIRECTION.sub("", source[0])
    if name == root_doc:
        listed = (ROOT / "docs/all.md").read_text("utf-8")
        source[0] += "\n```{toctree}\n:hidden:\n\nall.md\n```\n"
        for heading, pages in branches(listed):
            lines = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{lines}\n```\n"


# -- languages ---------------------------------------------------------------------------------

LANGUAGES = {"en": "English", "fr": "Français", "ar": "العربية"}
LANGUAGE_LINE = re.compile(r"^(?:\*\*English\*\*|\[English\]).*\n", re.M)
DIRECTION = re.compile(r'^ *(?:<div dir="(?:rtl|ltr)">|</div>)\n', re.M)
CAPTIONS = {"fr": "En français", "ar": "بالعربية"}
"""The headings of docs/all.md with the pages in a language: branches of that language's tree."""
WORDS = {
    "fr": {
        "Back to top": "Haut de la page",
        "Home": "Accueil",
        "Language": "Langue",
        "Made with ": "Fait avec ",
        "Next": "Suivant",
        "On this page": "Sur cette page",
        "Previous": "Précédent",
        "Search": "Rechercher",
        "Skip to content": "Aller au contenu",
        '<a href="https://www.sphinx-doc.org/">Sphinx</a> and ': (
            '<a href="https://www.sphinx-doc.org/">Sphinx</a> et '
        ),
    },
    "ar": {
        "Back to top": "أعلى الصفحة",
        "Home": "الرئيسية",
        "Language": "اللغة",
        "Made with ": "صُنع بـ ",
        "Next": "التالي",
        "On this page": "في هذه الصفحة",
        "Previous": "السابق",
        "Search": "بحث",
        "Skip to content": "إلى المحتوى",
        '<a href="https://www.sphinx-doc.org/">Sphinx</a> and ': (
            '<a href="https://www.sphinx-doc.org/">Sphinx</a> و '
        ),
    },
}
"""What furo says on a page, which it leaves in English; a word that is not here stays so."""
FRENCH_SPACES = re.compile(r" (?=[:;?!%»])|(?<=«) ")


def language_of(name: str) -> str:
    found = re.match(r"docs/(fr|ar)/|README\.(fr|ar)$", name)
    return (found[1] or found[2]) if found else "en"


def counterpart(name: str, language: str) -> str:
    """The name that a page's version in a language has, or would have."""
    if name.partition(".")[0] == "README":
        return "README" if language == "en" else f"README.{language}"
    path = re.sub(r"^docs/(?:(?:fr|ar)/)?", "", name)
    return f"docs/{path}" if language == "en" else f"docs/{language}/{path}"


def translate(app: Sphinx, name: str, _: str, context: dict[str, Any], tree: object) -> None:
    """What the theme needs to show a page in its language."""
    own = language_of(name)
    found = {each: counterpart(name, each) for each in LANGUAGES}
    context["versions"] = [
        (each, LANGUAGES[each], each == own, found[each])
        for each in LANGUAGES
        if found[each] in app.env.found_docs
    ]
    branches = re.split(r'(?=<p class="caption")', context["furo_navigation_tree"])
    elsewhere = {caption for each, caption in CAPTIONS.items() if each != own}
    if own != "en":
        branches = [branch for branch in branches if f">{CAPTIONS[own]}<" in branch]
        words = WORDS[own]
        context["gettext"] = lambda said: words.get(said, said)
        # The theme writes the attribute lang with this, and has no place for dir.
        context["language"] = f'{own}" dir="rtl' if own == "ar" else own
    _, *beside = app.builder.relations.get(name, (None,))
    for way, other in zip(("prev", "next"), beside, strict=False):
        if other and language_of(other) != own:
            context[way] = None
    context["furo_navigation_tree"] = "".join(
        branch for branch in branches if not any(f">{each}<" in branch for each in elsewhere)
    )


def keep_together(_: Sphinx, tree: nodes.document, name: str) -> None:
    """French signs of punctuation stay beside their words."""
    if language_of(name) == "fr":
        for text in [*tree.findall(nodes.Text)]:
            if not isinstance(text.parent, nodes.literal | nodes.literal_block):
                spaced = nodes.Text(FRENCH_SPACES.sub("\N{NO-BREAK SPACE}", text))
                text.parent.replace(text, spaced)


# -- what is built -----------------------------------------------------------------------------


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
            # Named by HTML, one for each theme, of which Sphinx copies nothing.
            source, site = (Path(each) / "docs/pictures" for each in (app.srcdir, app.outdir))
            if source.is_dir():
                shutil.copytree(source, site, dirs_exist_ok=True)
            (Path(app.outdir) / "index.html").write_text(here + "<title>Risala</title>\n", "utf-8")
            redirect_moved(Path(app.outdir) / "docs", app.env.found_docs)
            write_for_agents(Path(app.outdir))


def redirect_moved(site: Path, pages: Collection[str]) -> None:
    """The address of a page that moved or was merged leads to its new place, in each language."""
    listed = ROOT / "docs/moved.txt"
    lines = [line.split() for line in listed.read_text("utf-8").splitlines()]
    for old, new in (line for line in lines if len(line) == 2):
        page, _, anchor = new.partition("#")
        for folder in ("", "fr/", "ar/"):
            if f"docs/{folder}{page}".removesuffix(".md") not in pages:
                continue
            stub = (site / folder / old).with_suffix(".html")
            target = os.path.relpath((site / folder / page).with_suffix(".html"), stub.parent)
            if not folder and anchor:
                target += f"#{anchor}"
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text(
                f'<!doctype html><meta http-equiv="refresh" content="0; url={target}">'
                f'<title>Risala</title><a href="{target}">{target}</a>\n',
                "utf-8",
            )


def write_for_agents(site: Path) -> None:
    """llms.txt: the pages of docs/all.md, for programs that read; and the skill as it is."""
    listed = (ROOT / "docs/all.md").read_text("utf-8")
    parts = ["# Risala\n\n> A self-hosted service that sends SMS and verifies phone numbers.\n"]
    names = {page: title for title, page in re.findall(r"\[([^]]+)\]\(([^)#\s]+\.md)\)", listed)}
    for heading, pages in branches(listed):
        lines = "".join(
            f"- [{names[page]}]({os.path.normpath(f'docs/{page}').removesuffix('.md')}.html)\n"
            for page in pages
        )
        parts.append(f"\n## {heading}\n\n{lines}")
    (site / "llms.txt").write_text("".join(parts), "utf-8")
    skill = ROOT / "docs/reference/skill.md"
    if skill.is_file():
        shutil.copy(skill, site / "skill.md")


def setup(app: Sphinx) -> dict[str, bool]:
    outside = Outside()
    for language in ("mermaid", "caddy", "logrotate"):  # Pygments does not know them
        app.add_lexer(language, TextLexer)
    app.connect("source-read", plant)
    app.connect("doctree-resolved", outside.note)
    app.connect("doctree-resolved", keep_together)
    app.connect("html-page-context", translate, priority=900)  # after furo has made the tree
    app.connect("build-finished", outside.write)
    return {"parallel_read_safe": True}
