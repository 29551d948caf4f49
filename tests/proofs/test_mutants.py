"""What ``make mutants`` takes off as the same is true of the source, and its rules take no more."""

from __future__ import annotations

from pathlib import Path

import pytest
from proofs.mutants import same
from proofs.mutants.__main__ import beside, summed
from proofs.mutants.parts import PARTS
from proofs.mutants.same import Entry
from proofs.mutants.tool import Mutant

ROOT = Path(__file__).parents[2]
ENTRIES = same.entries()


def mutant(gone: str, new: str, function="cut", path="sms/segment.py") -> Mutant:
    return Mutant(f"{function}__mutmut_1", path, function, gone, new, (1, 2))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_is_there(part):
    assert any((ROOT / "src/risala").glob(part.paths))
    for each in part.tests:
        assert (ROOT / "tests" / each).exists()


def test_a_line_that_is_stored_as_the_same_is_in_the_source():
    for entry in ENTRIES:
        source = (ROOT / "src/risala" / entry.path).read_text("utf-8")
        lines = " ".join(line.strip() for line in source.splitlines())
        assert entry.gone in lines, entry
        assert f"def {entry.function.rpartition('.')[2]}(" in source, entry


@pytest.mark.parametrize(
    ("gone", "new", "rule"),
    [
        ('raise E("it is too long")', 'raise E("XXit is too longXX")', "wording"),
        ('raise E("it is too long")', 'raise E("IT IS TOO LONG")', "wording"),
        ('raise E("it is too long")', "raise E(None)", None),
        ('raise E("it is too long", "a")', 'raise E("it is too long", "A")', None),
        ('kind = "no reply"', 'kind = "NO REPLY"', None),
        ('x.encode("ascii")', 'x.encode("ASCII")', "codec"),
        ('x.encode("ascii")', 'x.encode("XXasciiXX")', None),
        ('x == "ok"', 'x == "OK"', None),
        ('return cast("A[B]", one)', "return cast(None, one)", "cast"),
        ('return cast("A[B]", one)', 'return cast("A[B]", None)', None),
        ('int.from_bytes(x, "big")', "int.from_bytes(x, )", "byte order"),
        ('int.from_bytes(x, "big")', 'int.from_bytes("big")', None),
        ("zip(a, b, strict=True)", "zip(a, b, strict=False)", "strict"),
        ("zip(a, b, strict=True)", "zip(a, b, )", "strict"),
        ("zip(a, b, strict=True)", "zip(a, strict=True)", None),
        ("zip(a, b, strict=False)", "zip(a, b, strict=True)", None),
    ],
)
def test_what_a_rule_takes_off(gone, new, rule):
    assert same.rule_of(mutant(gone, new)) == rule


def test_a_mutant_is_explained_by_the_entry_of_its_own_function_only():
    here = Entry("sms/segment.py", "cut", "a = 1", "a = 2", "for a reason")
    idle = Entry("sms/segment.py", "cut", "b = 1", "b = 2", "for a reason")
    one, other = mutant("a = 1", "a = 2"), mutant("a = 1", "a = 2", "split")
    assert same.explained([one, other], [here, idle]) == ([one], [other], [idle])


@pytest.mark.parametrize(
    "text",
    [
        '[["a.py".f]]\ngone = "a"\nnew = "b"\nwhy = "so"\n',
        '[["a.py".f]]\ngone = "a"\nnew = ["b", "b"]\nwhy = "nobody can tell them apart"\n',
    ],
)
def test_an_entry_that_says_no_reason_or_stands_there_twice_is_refused(tmp_path, text):
    file = tmp_path / "same.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"explained|twice"):
        same.entries(file)


def test_the_page_keeps_the_rows_of_parts_that_were_not_tried_with_the_day_they_were():
    kept = [
        ["sms", "monday", "5", "4", "1", "0", "0", "0"],
        ["engine/rules", "sunday", "9", "8", "0", "0", "1", "0"],
        ["a/part/of/old", "sunday", "7", "7", "0", "0", "0", "0"],
        ["all", "", "21", "19", "1", "0", "1", "0"],
    ]
    sms = ("sms", "friday", 6, 6, 0, 0, 0, 0)
    assert summed(beside([sms], kept)) == [
        ("engine/rules", "sunday", 9, 8, 0, 0, 1, 0),
        sms,
        ("all", "", 15, 14, 0, 0, 1, 0),
    ]
