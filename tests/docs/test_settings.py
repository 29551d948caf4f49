"""Tables of settings are written from the fields, and each field says what it means."""

from __future__ import annotations

import re

from proofs.settings import PAGES, REFERENCE

from cases import sweep


@sweep("name", PAGES)
def test_a_page_is_what_the_source_says(name):
    assert PAGES[name]() == (REFERENCE / name).read_text("utf-8"), "`make generated` writes it"


@sweep("name", [name for name in PAGES if name.endswith("-settings.md")])
def test_every_setting_says_what_it_means(name):
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.*?) ?\|$", PAGES[name](), re.MULTILINE)
    assert len(rows) > 20
    assert [setting for setting, told in rows if not told.strip()] == []
