"""The real process, killed at each instant that has a name, under a load of every face."""

from __future__ import annotations

import dataclasses
import random
import shutil

import pytest
from proofs.crashes.instants import CALLS, Instant, When, drawn
from proofs.crashes.rounds import live
from proofs.process.books import Books, Tally

SEED = 7


def test_an_instant_comes_of_its_seed():
    assert drawn(random.Random(SEED)) == drawn(random.Random(SEED))
    names = {drawn(random.Random(seed)).when for seed in range(200)}
    assert names == set(When)


@pytest.mark.slow
@pytest.mark.long
async def test_nothing_is_lost_at_any_named_instant(tmp_path):
    rounds: list[tuple[int, Instant]] = []

    def tell(number: int, instant: Instant, books: Books) -> None:
        rounds.append((number, instant))

    names = (When.ANY, *When)
    result = await live(tmp_path, SEED, len(names), tell, names, pause_s=0.2)
    assert [number for number, _ in rounds] == list(range(1, len(names) + 1))
    assert result.kills.total() >= len(names)
    if shutil.which("cc") is not None:
        assert any(result.kills[each] for each in CALLS), "no named call came under the load"
    wrong = ("lost", "unsaid", "mischarged")
    for face, tally in result.tallies.items():
        told = dataclasses.asdict(tally)
        assert {name: told[name] for name in wrong} == dict.fromkeys(wrong, 0), face
        assert tally.accepted > 0 or tally == Tally(), face
        assert tally.told >= tally.owed, face
