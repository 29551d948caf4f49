"""The reference page is what the code says."""

from __future__ import annotations

from pathlib import Path

from risala.drivers.http.document import render_reference

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "http-driver.md"


def test_the_page_is_as_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_reference()


def test_each_field_has_its_meaning() -> None:
    bare = [line for line in render_reference().splitlines() if line.endswith("|  |")]
    assert bare == []
