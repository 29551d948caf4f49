"""The documents stay short: what is written by hand has no more words than the caps allow."""

from __future__ import annotations

import re

from proofs import words

AT_FIRST = {"GUIDES_MAX": 65_000, "REFERENCE_MAX": 30_000}
"""The caps only fall; the goal was half of what there was."""
MOVED = words.DOCS / "moved.txt"


def test_guides_are_no_longer_than_their_cap():
    assert sum(words.guides().values()) <= words.GUIDES_MAX, (
        "say it shorter, here or on another page: `python -m proofs.words` lists them"
    )


def test_the_reference_by_hand_is_no_longer_than_its_cap():
    assert sum(words.reference().values()) <= words.REFERENCE_MAX, (
        "say it shorter, or have it written from the source: `python -m proofs.words` lists them"
    )


def test_the_caps_only_fall():
    now = {name: getattr(words, name) for name in AT_FIRST}
    assert [name for name, most in AT_FIRST.items() if now[name] > most] == []


def test_each_page_beside_the_caps_is_there():
    beside = {*words.GENERATED, *words.APPENDICES}
    assert [name for name in beside if not (words.DOCS / "reference" / name).exists()] == []


def test_only_pages_that_a_command_writes_count_as_generated():
    head = re.compile(r"<!-- (?:Written|Generated) by |is made from the code")
    for name in words.GENERATED:
        text = (words.DOCS / "reference" / name).read_text("utf-8")
        assert head.search(text[:900]), name


def test_a_page_that_moved_leads_to_one_that_is_there():
    lines = [line.split() for line in MOVED.read_text("utf-8").splitlines()]
    assert lines
    for old, new in lines:
        assert not (words.DOCS / old).exists(), old
        assert (words.DOCS / new.partition("#")[0]).exists(), new


def test_words_are_counted_as_wc_does(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n\nOne `two three`.\n\n```sh\nfour --five\n```\n")
    assert words.words(page) == 10
