"""How hard the pages are to read, by the formula of Flesch and Kincaid: as a school grade.

What is typed or looked up is taken out: blocks, tables, headings. Code within a sentence counts as
one short word. Syllables are the more of two counts, pyphen's hyphenation and groups of vowels:
over the words of these pages that gives as many as the dictionary of CMU does, within 0.3 %, and
either alone gives fewer. textstat has the same formula, but brings nltk, which fetches data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyphen

from cases import sweep
from doc_blocks import PAGES, ROOT, prose

GRADE_MAX = 9
"""Someone of fifteen reads it at once; so does who learned English later."""
PART_MIN_WORDS = 50
"""A part of fewer words has too few sentences for an average."""
SENTENCE_MAX_WORDS = 36
"""A longer one is read twice; it is a list, or it is two."""
READ_FIRST = ("README.md", "docs/index.md", "docs/quick-start/", "docs/tutorials/", "docs/how-to/")
"""What people follow step by step. References are looked up, and discussions take their time."""
PLAIN = [page for page in PAGES if str(page.relative_to(ROOT)).startswith(READ_FIRST)]

HYPHENS = pyphen.Pyphen(lang="en_US")
VOWELS = re.compile(r"[aeiouy]+")
SILENT = re.compile(r"[^aeiouyl]e$|[^aeiouytd]ed$|[^aeiouyscxzgh]es$")
"""Endings whose e is not heard: note, carried, names; but table, waited, boxes."""
WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|\d[\d.,:/]*")
END = re.compile(r"(?<=[.!?])[*)\"”]*\s+|\n\s*\n")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ", re.M)
TAKEN_OUT = re.compile(
    r"<!--.*?-->|^ *\|[^\n]*$|^#+ [^\n]*$|!\[[^]]*\]\([^)]*\)", re.MULTILINE | re.DOTALL
)
"""Comments, tables, headings, pictures."""
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`|<[^>]*>")


def syllables(word: str) -> int:
    if not word[0].isalpha():
        return 1  # a number is taken in at a glance
    heard = len(VOWELS.findall(word.lower()))
    heard -= heard > 1 and bool(SILENT.search(word.lower()))
    return max(heard, len(HYPHENS.positions(word)) + 1)


def sentences(text: str) -> Iterator[list[str]]:
    """The words of each sentence; an item of a list ends as one."""
    text = CODE.sub("it", LINK.sub(r"\1", TAKEN_OUT.sub("\n\n", text)))
    for sentence in END.split(ITEM.sub("\n\n", text)):
        if words := WORD.findall(sentence):
            yield words


def grade(text: str) -> float | None:
    """The school grade; None where there are too few words to say."""
    said = [*sentences(text)]
    words = [word for sentence in said for word in sentence]
    if len(words) < PART_MIN_WORDS:
        return None
    heard = sum(syllables(word) for word in words)
    return 0.39 * len(words) / len(said) + 11.8 * heard / len(words) - 15.59


def hard(page: Path) -> list[str]:
    """The parts of a page above the grade, and the sentences that are too long."""
    text = prose(page)
    parts = [text, *re.split(r"^(?=#)", text, flags=re.M)]
    found = [
        f"{part.strip().splitlines()[0]}: grade {by:.1f}"
        for part in parts
        if (by := grade(part)) is not None and by > GRADE_MAX
    ]
    return found + [
        f"{len(words)} words: {' '.join(words)}"
        for words in sentences(text)
        if len(words) > SENTENCE_MAX_WORDS
    ]


@sweep("page", PLAIN, named=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_people_follow_is_easy_to_read(page):
    assert hard(page) == [], f"make shorter sentences, of common words; {GRADE_MAX} is the most"


def test_each_kind_of_page_is_measured():
    for start in READ_FIRST:
        assert any(str(page.relative_to(ROOT)).startswith(start) for page in PLAIN), start


def test_a_hard_page_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Easy\n\n" + "You send it. " * 200 + "\n\n# Hard\n\n" + "Notwithstanding considerable "
        "organizational difficulties, implementations necessitate reconfiguration. " * 8
    )
    (told,) = hard(page)
    assert told.startswith("# Hard: grade ")
    page.write_text("word " * 37 + ".\n\n```sh\n" + "code " * 50 + "\n```\n")
    assert [each.partition(":")[0] for each in hard(page)] == ["37 words"]


def test_syllables_are_those_that_one_hears():
    words = {"note": 1, "carried": 2, "table": 2, "boxes": 2, "organization": 5, "over": 2, "60": 1}
    assert {word: syllables(word) for word in words} == words
