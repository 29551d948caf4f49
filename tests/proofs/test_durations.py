"""``make durations`` sums what pytest reports, by folder."""

from __future__ import annotations

from proofs.durations import summed


def test_seconds_are_summed_by_folder_and_the_longest_comes_first():
    cases = [
        ("tests.sms.test_cut", 1.0),
        ("tests.engine.journal.store.test_writer", 2.0),
        ("tests.engine.journal.test_state.TestOne", 3.0),
        ("tests.engine.rules.test_roles", 0.5),
        ("tests.docs.test_docs", 0.25),
    ]
    assert summed(cases) == {
        "engine/journal": (2, 5.0),
        "sms": (1, 1.0),
        "engine/rules": (1, 0.5),
        "docs/test_docs": (1, 0.25),
    }
    assert next(iter(summed(cases))) == "engine/journal"
