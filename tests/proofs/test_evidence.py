"""The page of evidence is written by the targets, and by nobody's hand."""

from __future__ import annotations

import re
import subprocess

import pytest
from proofs import evidence

EMPTY = "before\n<!-- one: begin -->\n<!-- one: end -->\nafter\n"
HEADER = ("Round", "Lost")


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(EMPTY)
    return path


def written(page, rows=((1, 0),), section="one"):
    evidence.write(section, HEADER, rows, command="make it", page=page)
    return page.read_text()


def test_a_table_has_its_command_its_date_its_source_and_its_machine(page):
    text = written(page)
    assert re.search(
        r"^Written by `make it` on \d{4}-\d\d-\d\d, commit [0-9a-f]{8,}\+?, on ", text, re.M
    )
    assert re.search(r"Python 3\.\d+\.\d+, SQLite 3\.[\d.]+, \d+ GiB:$", text, re.M)
    assert "| Round | Lost |\n| --- | --- |\n| 1 | 0 |\n" in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- one: end -->\nafter\n")


def test_it_is_written_over_and_not_added_to(page):
    written(page)
    text = written(page, rows=((2, 0), (3, 0)))
    assert text.count("Written by") == 1
    assert "| 1 | 0 |" not in text
    assert "| 3 | 0 |" in text


def test_what_no_table_holds_is_refused_and_changes_nothing(page):
    for rows in (((1,),), ((1, "two\nlines"),), ((1, "x" * 401),)):
        with pytest.raises(ValueError, match=r"cells|no cell"):
            written(page, rows)
    with pytest.raises(LookupError, match="has 0 places for 'two'"):
        written(page, section="two")
    assert page.read_text() == EMPTY


def test_a_cell_does_not_break_the_table(page):
    assert "| 1 | a\\|b |" in written(page, rows=((1, "a|b"),))


def test_the_rows_of_a_table_are_read_as_they_were_written(page):
    rows = [["1", "0"], ["a | b", ""], ["", "|"]]
    written(page, rows=rows)
    assert evidence.rows("one", page=page) == rows
    with pytest.raises(LookupError, match="no place for 'two'"):
        evidence.rows("two", page=page)


def test_only_changes_of_the_source_are_told(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    git("init")
    for name in (*evidence.WRITTEN, "source.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-m", "all")
    for name in evidence.WRITTEN:
        (tmp_path / name).write_text("written by a target")
    assert re.fullmatch(r"commit [0-9a-f]{7,}", evidence.commit(tmp_path))
    (tmp_path / "source.py").write_text("changed")
    assert re.fullmatch(r"commit [0-9a-f]{7,}\+", evidence.commit(tmp_path))
