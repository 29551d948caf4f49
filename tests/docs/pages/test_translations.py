"""The French and Arabic pages say what their English ones say now.

Whatever is not prose is compared: blocks, headings, links, tables, lists, code within sentences.
For the prose there is a stamp at a page's end: whose English text it translates.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from cases import sweep
from doc_blocks import LANGUAGE_LINE, LANGUAGES, ROOT, Block, blocks_of, original, prose

DOCS = ROOT / "docs"
LOCALES = ROOT / "src/risala/http/web/locale"
READMES = [ROOT / f"README.{language}.md" for language in LANGUAGES]
TRANSLATIONS = READMES + sorted(
    page
    for language in LANGUAGES
    for page in (DOCS / language).glob("**/*.md")
    if page != DOCS / language / "index.md"  # a list of its own, of what there is
)
NAMES = {"en": "English", "fr": "Français", "ar": "العربية"}
STAMP = re.compile(r"\n<!-- of: (\w+) -->\n$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`]+`")
TOLD = re.compile(r"\*\*([^*`]+)\*\*|(?<!\*)\*([^*`]+)\*(?!\*)")
"""What is bold or in italics: most of it stands on the pages that one sees."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def language_of(page: Path) -> str:
    return page.suffixes[0][1:] if page in READMES else page.relative_to(DOCS).parts[0]


@cache
def text_of(page: Path) -> str:
    """The prose, without what only a translation has, or only the line of languages."""
    without = STAMP.sub("\n", LANGUAGE_LINE.sub("", prose(page), count=1))
    return re.sub(r'^ *(?:<div dir="\w+">|</div>)\n', "", without, flags=re.M)


def stamp_of(page: Path) -> str:
    return hashlib.sha256(" ".join(text_of(page).split()).encode()).hexdigest()[:8]


def version(page: Path, language: str) -> Path:
    """The page in a language, where there is one; else itself."""
    if page.name.startswith("README") and page.parent == ROOT:
        return ROOT / f"README.{language}.md"
    found = DOCS / language / page.relative_to(DOCS) if page.is_relative_to(DOCS) else page
    return found if found.exists() else page


def targets(page: Path) -> Counter[Path | str]:
    """Where its links lead. An anchor in a page with versions is another word in each."""
    found: list[Path | str] = []
    for link in LINK.findall(text_of(page)):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            found.append(link)
            continue
        leads = (page.parent / path).resolve() if path else page
        has_versions = any(version(original(leads), each) != original(leads) for each in LANGUAGES)
        found.append(leads if has_versions or not anchor else f"{leads}#{anchor}")
    return Counter(found)


def expected_targets(page: Path) -> Counter[Path | str]:
    language = language_of(page)
    return Counter({
        version(target, language) if isinstance(target, Path) else target: count
        for target, count in targets(original(page)).items()
    })  # fmt: skip


def as_written(block: Block) -> tuple[str, str, str | None]:
    return block.language, block.text, block.reason


@sweep("page", TRANSLATIONS, named=name_of)
def test_a_translation_has_the_same_blocks(page):
    """So each is played, as those of the English page are."""
    there, here = blocks_of(original(page)), blocks_of(page)
    assert [as_written(block) for block in here] == [as_written(block) for block in there]


SHAPE = re.compile(r"^(#+) |^ *(\||[-*] |\d+\. )|^(!)\[", re.M)
"""Headings with their levels, rows, items, pictures."""


def shape_of(page: Path) -> list[str]:
    return [next(filter(None, found)).strip() for found in SHAPE.findall(text_of(page))]


@sweep("page", TRANSLATIONS, named=name_of)
def test_a_translation_has_the_same_parts(page):
    assert shape_of(page) == shape_of(original(page))


@sweep("page", TRANSLATIONS, named=name_of)
def test_a_translation_leads_to_the_same_places(page):
    """To their versions in its language, where there are any, and maybe to its index."""
    index = Counter([DOCS / language_of(page) / "index.md"])
    assert targets(page) - index == expected_targets(page) - index


@sweep("page", TRANSLATIONS, named=name_of)
def test_a_translation_names_the_same_code(page):
    def code(each: Path) -> set[str]:
        return {" ".join(found.split()) for found in CODE.findall(text_of(each))}

    assert code(page) == code(original(page))


@cache
def words_of(language: str) -> dict[str, str]:
    """What the pages of the product say in a language, by the English words."""
    found: dict[str, str] = {}
    for path in sorted((LOCALES / language).glob("*.po")):
        with path.open("rb") as file:
            for message in read_po(file):
                if message.id and isinstance(message.id, str):
                    found.setdefault(message.id, str(message.string))
    return found


def told(page: Path) -> set[str]:
    return {" ".join((bold or thin).split()) for bold, thin in TOLD.findall(text_of(page))}


SPEAKS_ENGLISH = "verify-a-number.md"
"""Its buttons are those of the example page, which is in English."""


@sweep("page", TRANSLATIONS, named=name_of)
def test_buttons_and_fields_are_called_as_one_sees_them(page):
    words = words_of(language_of(page))
    wanted = {words[each] for each in told(original(page)) if each in words}
    assert page.name == SPEAKS_ENGLISH or wanted <= told(page), wanted - told(page)


@sweep("page", TRANSLATIONS, named=name_of)
def test_a_translation_is_of_the_english_text_as_it_is_now(page):
    stamp = STAMP.search(page.read_text("utf-8"))
    now = stamp_of(original(page))
    assert (stamp and stamp[1]) == now, (
        f"{name_of(original(page))} has changed: translate the change, then write at the end "
        f"of {name_of(page)}: <!-- of: {now} -->"
    )


def line_of(page: Path, language: str) -> str:
    """The way to the other versions, for forges; the site has a switch."""
    others = {"en": page, **{each: version(page, each) for each in LANGUAGES}}
    here = others[language].parent
    return " · ".join(
        f"**{NAMES[each]}**"
        if each == language
        else f"[{NAMES[each]}]({os.path.relpath(other, here)})"
        for each, other in others.items()
    )


@sweep(
    "page",
    [DOCS / "index.md", *sorted({original(page) for page in TRANSLATIONS})],
    named=name_of,
)
def test_each_version_leads_to_the_others(page):
    for language in ("en", *LANGUAGES):
        there = page if language == "en" else version(page, language)
        assert there.exists(), there
        assert line_of(page, language) in there.read_text("utf-8").splitlines(), there


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_index_of_a_language_lists_its_pages(language):
    index = DOCS / language / "index.md"
    listed = {(index.parent / link).resolve() for link in LINK.findall(text_of(index))}
    assert {page for page in TRANSLATIONS if language_of(page) == language} <= listed


def test_arabic_is_read_from_the_right_and_code_from_the_left():
    for page in (ROOT / "README.ar.md", *(DOCS / "ar").glob("**/*.md")):
        text = page.read_text("utf-8")
        assert text.startswith('<div dir="rtl">\n'), page
        assert text.count('<div dir="ltr">\n') == len(blocks_of(page)), page


def test_what_is_left_behind_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Une page\n\nDu texte.\n\n- [un](a.md)\n\n<!-- of: 0123abcd -->\n")
    assert STAMP.search(page.read_text("utf-8"))[1] == "0123abcd" != stamp_of(page)
    assert shape_of(page) == ["#", "-"]
    other = tmp_path / "other.md"
    other.write_text("# Une page\n\n**English** · [Français](x)\n\nDu texte.\n\n- [un](a.md)\n")
    assert stamp_of(other) == stamp_of(page)
