"""The site that ``make docs`` makes: its tree, its warnings, and that a reader needs no network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doc_blocks import PAGES, prose

ROOT = Path(__file__).parents[2]
AS_MAKE_DOES = ["--quiet", "--fresh-env", "--fail-on-warning", "--keep-going", "--nitpicky"]


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    places = ["-c", str(source / "docs"), "-d", str(out / "doctrees"), str(source), str(out)]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *AS_MAKE_DOES, *places], capture_output=True, text=True
    )


def test_make_docs_and_this_test_build_alike():
    assert " ".join(AS_MAKE_DOES) in (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^make .*\bdocs\b", (ROOT / ".ci/run").read_text("utf-8"), re.M)


ARABIC = '<div dir="rtl">\n\n# صفحة\n\n[English](../page.md) · **العربية**\n\nنص\n\n</div>\n'


def write_small(tmp_path: Path) -> Path:
    """A documentation of two pages, one of them in each language, with nothing wrong."""
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs/conf.py", tmp_path / "docs")
    for folder in ("templates", "static"):
        shutil.copytree(ROOT / "docs" / folder, tmp_path / "docs" / folder)
    (tmp_path / "docs/index.md").write_text("# Pages\n")
    (tmp_path / "docs/moved.txt").write_text("old/gone.md page.md#its-part\n")
    (tmp_path / "docs/all.md").write_text(
        "# All\n\n## Learn\n\n- [A page](page.md): good\n"
        "\n## En français\n\n- [Une page](fr/page.md)\n"
        "\n## بالعربية\n\n- [صفحة](ar/page.md)\n"
    )
    (tmp_path / "docs/page.md").write_text("# A page\n\n## Its part\n\n[Up](#its-part)\n")
    for language, text in {"fr": "# Une page ?\n\n`a ?`\n", "ar": ARABIC}.items():
        (tmp_path / "docs" / language).mkdir()
        (tmp_path / "docs" / language / "page.md").write_text(text)
    return tmp_path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """What is made of it, with a link to elsewhere."""
    small = write_small(tmp_path_factory.mktemp("small"))
    with (small / "docs/page.md").open("a", encoding="utf-8") as page:
        page.write("\n[Their site](https://www.standardwebhooks.com)\n")
    done = build(small, small / "out")
    assert (done.returncode, done.stderr) == (0, "")
    return small / "out"


@pytest.mark.slow
def test_a_site_fetches_nothing(site):
    """The theme's own files are the same, however many pages there are; `make docs`, which CI runs,
    builds all of them without a warning."""
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*", text)
        assert [tag for tag in loaded if re.search(r'(?:src|href)="(?:https?:)?//', tag)] == []
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", text) == [], style
    outside = (site / "external-links.txt").read_text("utf-8")
    assert "https://www.standardwebhooks.com" in outside


def test_no_page_loads_anything_from_elsewhere():
    """Pages are Markdown: a picture or HTML of another host would be fetched by who reads."""
    elsewhere = re.compile(r"!\[[^]]*\]\((?:https?:)?//|<(?:img|script|link|iframe)\b[^>]*//")
    assert [page for page in PAGES if elsewhere.search(prose(page))] == []


@pytest.mark.slow
def test_a_page_in_a_list_is_in_the_tree(site):
    index = (site / "docs/index.html").read_text("utf-8")
    assert re.search(r'caption-text">Learn<.*toctree-l1"><a [^>]*href="page.html"', index, re.S)
    assert "fr/page.html" not in index, "the tree is that of one language"
    check_french((site / "docs/fr/page.html").read_text("utf-8"))
    check_arabic((site / "docs/ar/page.html").read_text("utf-8"))


@pytest.mark.slow
def test_the_address_of_a_page_that_moved_leads_on(site):
    here = site / "docs/old/gone.html"
    assert 'content="0; url=../page.html#its-part"' in here.read_text("utf-8")
    french = site / "docs/fr/old/gone.html"
    assert 'content="0; url=../page.html"' in french.read_text("utf-8"), "its anchor is another"


@pytest.mark.slow
def test_programs_that_read_find_every_page(site):
    listed = (site / "llms.txt").read_text("utf-8")
    assert "## Learn\n\n- [A page](docs/page.html)\n" in listed
    places = re.findall(r"\]\(([^)]+)\)", listed)
    assert len(places) == 3
    assert [place for place in places if not (site / place).is_file()] == []


def check_french(page: str) -> None:
    assert '<html class="no-js" lang="fr"' in page
    assert '<strong lang="fr" aria-current="page">Français</strong>' in page
    assert '<a lang="en" hreflang="en" href="../page.html">English</a>' in page
    assert '<a lang="ar" hreflang="ar" href="../ar/page.html">العربية</a>' in page
    assert 'placeholder="Rechercher"' in page
    assert 'class="next-page"' not in page, "what comes next is in another language"
    assert '"../page.html">A page' not in page, "the tree is that of one language"
    assert "Une page\N{NO-BREAK SPACE}?" in page
    assert ">a ?</span>" in page or '<span class="pre">?</span>' in page, "code is left alone"


def check_arabic(page: str) -> None:
    assert '<html class="no-js" lang="ar" dir="rtl"' in page
    assert 'placeholder="بحث"' in page
    main = page.partition('id="furo-main-content">')[2].partition("</article>")[0]
    assert "<div dir=" not in main, "a part within it would end with another one"
    assert "· " not in main, "the site has a switch"
    assert 'href="../fr/page.html">Français</a>' in main


@pytest.mark.slow
def test_each_fault_of_a_page_is_an_error(tmp_path):
    small = write_small(tmp_path)
    (small / "docs/orphan.md").write_text(
        "# Alone\n\n[a](gone.md) [b](page.md#gone) [c](#gone)\n\n```notalanguage\nx\n```\n"
    )
    done = build(small, tmp_path / "out")
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert len(told) == 5
    for part in ("any toctree", "'gone.md'", "doc 'docs/page'", "'notalanguage'"):
        assert any(part in line for line in told), part
