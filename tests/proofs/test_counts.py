"""What the proofs count: branches from the tool's report, failures from the tests' report."""

from __future__ import annotations

from proofs.reach import counted
from proofs.trust import outcome

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_one"/>
<testcase classname="tests.a" name="test_two">
<failure message="no"/><error message="nor"/></testcase>
<testcase classname="tests.b" name="test_three"><error message="in a fixture"/></testcase>
<testcase classname="tests.b" name="test_four"><skipped message="elsewhere"/></testcase>
</testsuite></testsuites>"""


def file(branches: int, taken: int, missing: list[list[int]]) -> dict[str, object]:
    return {
        "summary": {"num_branches": branches, "covered_branches": taken},
        "missing_branches": missing,
    }


def test_branches_are_counted_by_room_and_what_is_missed_is_named():
    found = counted(
        {
            "files": {
                "src/risala/engine/about.py": file(4, 4, []),
                "src/risala/engine/rules/money.py": file(10, 8, [[7, 9], [12, -1]]),
                "src/risala/engine/rules/deep/er.py": file(2, 1, [[3, 4]]),
                "src/risala/sms/text.py": file(0, 0, []),
            }
        }
    )
    assert list(found) == ["engine", "engine/rules", "sms"]
    assert (found["engine/rules"].branches, found["engine/rules"].taken) == (12, 9)
    assert found["engine/rules"].share == 0.75
    assert found["engine/rules"].missed == {
        "engine/rules/deep/er.py": "3",
        "engine/rules/money.py": "7, 12",
    }
    assert found["sms"].share == 1.0


def test_a_test_that_failed_is_named_once_and_one_that_was_skipped_is_none():
    assert outcome(RESULTS) == (4, ("tests.a::test_two", "tests.b::test_three"))
