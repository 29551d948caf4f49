"""The test of pumping, by hand."""

from __future__ import annotations

from random import Random

import pytest

from risala.engine.features.pumping.rules.factor import (
    BEGINNING,
    FACTOR_MAX,
    PUMPED,
    SUSPICIOUS,
    Prior,
    factor,
    is_judged,
    usual_share,
)

USUAL = Prior(17.0, 3.0)


def by_hand(outcomes: str, usual: Prior) -> float:
    """Code by code, as the module's text says it: ``m`` is a missed code, ``e`` an entered one."""
    value, missed, entered = 1.0, 0, 0
    for each in outcomes:
        seen = missed + entered
        total, pumped_total = sum(usual) + seen, sum(PUMPED) + seen
        if each == "m":
            value *= (PUMPED.missed + missed) / pumped_total / ((usual.missed + missed) / total)
            missed += 1
        else:
            value *= (PUMPED.entered + entered) / pumped_total
            value /= (usual.entered + entered) / total
            entered += 1
    return value


@pytest.mark.parametrize("outcomes", ["", "m", "mmmmmmmm", "memmme", "eeemmmmmmmmmm", "e" * 20])
@pytest.mark.parametrize("usual", [USUAL, BEGINNING])
def test_the_factor_is_what_one_has_by_hand(outcomes, usual):
    value = factor(outcomes.count("m"), outcomes.count("e"), usual)
    assert value == pytest.approx(by_hand(outcomes, usual))


def test_seven_missed_codes_are_suspicious_where_most_are_entered():
    assert factor(6, 0, USUAL) < SUSPICIOUS < factor(7, 0, USUAL)
    assert factor(18, 0, BEGINNING) < SUSPICIOUS < factor(19, 0, BEGINNING)


def test_a_third_that_is_entered_is_not_suspicious():
    assert factor(650, 350, USUAL) < SUSPICIOUS
    assert factor(900, 100, USUAL) > SUSPICIOUS


def test_history_counts_as_twenty_codes_at_most():
    assert usual_share(0, 0) == pytest.approx(BEGINNING)
    assert usual_share(1e6, 85e4) == pytest.approx(USUAL, abs=1e-4)
    assert is_judged(usual_share(1000, 400))
    assert not is_judged(usual_share(1000, 250))


def test_a_large_factor_has_an_end():
    assert factor(1e6, 0, USUAL) == FACTOR_MAX


@pytest.mark.slow
def test_codes_as_usual_are_hardly_ever_suspicious():
    """Ville's inequality: in at most one of ten thousand cases, however often one looks."""
    random, wrong = Random(5), 0
    for _ in range(2000):
        share, missed, entered = random.betavariate(*USUAL), 0, 0
        for _ in range(60):
            if random.random() < share:
                entered += 1
            else:
                missed += 1
            wrong += factor(missed, entered, USUAL) >= SUSPICIOUS
    assert wrong <= 1
