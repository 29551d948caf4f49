"""How long a key works at most, and where it was used."""

from __future__ import annotations

import pytest

from risala.engine.model.errors import Invalid
from risala.engine.rules.people.key_age import DAY_MS, age_days, bounded, network_of, renewed


@pytest.mark.parametrize(
    ("organization", "service", "days"),
    [(None, None, None), (90, None, 90), (None, 30, 30), (90, 30, 30), (30, 90, 30)],
)
def test_the_shorter_rule_holds(organization, service, days):
    assert age_days(organization, service) == days


def test_a_new_key_gets_the_latest_time_or_an_earlier_one():
    assert bounded(None, None, 5) is None
    assert bounded(10_000, None, 5) == 10_000
    assert bounded(None, 100, 5) == 100
    assert bounded(99, 100, 5) == 99
    with pytest.raises(Invalid, match="1 more days"):
        bounded(101, 100, 5)
    with pytest.raises(Invalid, match="another value"):
        bounded(None, 5, 5)


@pytest.mark.parametrize(
    ("expires_at", "days", "then"),
    [
        (None, None, None),
        (7, None, 7),  # without a rule the time stays
        (None, 90, 150),
        (90, 90, 150),  # by the rule
        (95, 90, 150),  # by the rule, when it came
        (80, 90, 80),  # somebody chose it
    ],
)
def test_another_value_begins_the_age_anew(expires_at, days, then):
    ms = None if expires_at is None else expires_at * DAY_MS
    found = renewed(ms, 0, 60 * DAY_MS, days)
    # The one without a rule is as it was, whatever its unit.
    assert found == (None if then is None else then * DAY_MS)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.0/24"),
        ("::ffff:203.0.113.7", "203.0.113.0/24"),
        ("2001:db8:7:1::9", "2001:db8:7::/48"),
        ("unix", None),
    ],
)
def test_a_place_is_a_network(address, network):
    assert network_of(address) == network
