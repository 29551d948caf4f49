"""The table of guards against pumped codes, on fewer days: what it promises holds."""

from __future__ import annotations

import pytest
from proofs.pumping.days import ATTACKS, HONEST
from proofs.pumping.guards import Authgear, Ours
from proofs.pumping.playing import play

SEED = 7
TRACE = 0.005
"""True users who may be refused on an honest day, of all."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", HONEST)
def test_no_honest_day_refuses_more_than_a_trace(name):
    day = HONEST[name](SEED)
    alone, ours, theirs = play(day, None), play(day, Ours()), play(day, Authgear())
    assert ours.refused - alone.refused <= TRACE * ours.users
    assert ours.refused <= theirs.refused


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_loses_most_of_its_codes(name):
    day = ATTACKS[name](SEED)
    alone, ours = play(day, None), play(day, Ours())
    most = 0.55 if name == "mixed with true users" else 0.2
    assert ours.lost <= most * alone.pumped
    challenged = play(day, Ours(), challenges=True)
    assert challenged.refused <= alone.refused


@pytest.mark.slow
def test_the_steady_attack_of_a_block_ends():
    """A small one, among the usual tests."""
    day = ATTACKS["after a long calm"](SEED)
    assert play(day, Ours()).lost < 100 < play(day, None).lost
