"""How far an upgrade is, and how long the rest takes."""

from __future__ import annotations

import pytest

from risala.engine.model.records.upkeep.service import Upgrading
from risala.engine.upkeep.upgrade import PACE_FROM_S, UpgradeWatch


def test_the_rest_takes_as_long_as_what_is_done_did():
    clock = [0.0]
    watch = UpgradeWatch(lambda: clock[-1])
    watch.tell("copying", 5, 100)
    clock.append(20.0)
    watch.tell("copying", 25, 100)
    assert watch.now == Upgrading("copying", 25, 100, 75)
    # A start after a kill begins in the middle; what was done before it has no part in the pace.
    watch.tell("moving rows", 900, 1000)
    assert watch.now == Upgrading("moving rows", 900, 1000, None)
    clock.append(20.0 + PACE_FROM_S / 2)
    watch.tell("moving rows", 950, 1000)
    assert watch.now.left_s is None
    clock.append(30.0)
    watch.tell("moving rows", 950, 1000)
    assert watch.now.left_s == 10


@pytest.mark.parametrize(
    ("left_s", "words"),
    [(3, "less than a minute left"), (60, "about 1 minute left"), (61, "about 2 minutes left"),
     (3600, "about 1 hour left"), (9000, "about 3 hours left")],
)  # fmt: skip
def test_it_is_said_in_words(left_s, words):
    sentence = Upgrading("moving rows", 1, 3, left_s).sentence
    assert sentence.endswith(f"moving rows, 33 %, {words}.")
    assert Upgrading("auditing", 0, 0, None).sentence.endswith(": auditing.")
