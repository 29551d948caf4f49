"""The figures of the threat model, computed from the limits that the source has."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from risala.config.model import LimitsSection
from risala.config.people import PeopleSection
from risala.engine.accounts.key_values import KEY_CHARACTERS, KEY_LENGTH
from risala.engine.features.compat.rules import shape_of
from risala.engine.limits import people
from risala.engine.model.people import SessionKind
from risala.engine.people.tokens import TOKEN_BYTES
from risala.engine.rules.people.lifetimes import (
    ATTEMPTS_MAX,
    FAILURES_PER_DAY,
    FAILURES_PER_MONTH,
    SIGN_IN_DIGITS,
)
from risala.engine.rules.verify_settings import VerifySettings
from risala.engine.rules.webhooks.signatures import SECRET_BYTES

PAGE = Path(__file__).parents[3] / "docs/reference/threat-model.md"
HOURS = 365 * 24
KEYS_A_SECOND = 10_000
"""More wrong keys than one machine answers in a second."""
SLOW_A_SECOND = 20
"""Slow hashes, one at a time, of some 50 ms each."""


def cells(first: str) -> list[str]:
    """A row of the page's tables, by what its first cell begins with."""
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {first}")]
    assert len(rows) == 1, first
    return [each.strip() for each in rows[0].strip("|").split("|")]


def told(tries: float, values: float) -> str:
    """The chance that one of so many tries is right, as the page writes it."""
    chance = -math.expm1(-tries / values)
    return f"{chance:.0%}" if chance >= 0.01 else f"1 in {written(values / tries)}"


def written(number: float) -> str:
    """A number of which the first digit matters."""
    mantissa, exponent = f"{number:.0e}".split("e+")
    if int(exponent) < 9:
        return f"{int(float(f'{number:.0e}')):,}"
    return f"{mantissa} × 10^{int(exponent)}"


PEOPLE, CODES = PeopleSection(), VerifySettings()
OPERATOR_TRIES = FAILURES_PER_MONTH * 365 / 30
MEMBER_TRIES = PEOPLE.codes_per_address_per_hour * ATTEMPTS_MAX * HOURS
PHONE_TRIES = CODES.per_phone_per_hour * CODES.attempts_max * HOURS
SMPP = shape_of("smpp")


@pytest.mark.parametrize(
    ("what", "tries", "values"),
    [
        ("an operator's sign-in code", OPERATOR_TRIES, 10 ** SIGN_IN_DIGITS[SessionKind.OPERATOR]),
        ("a member's sign-in code", MEMBER_TRIES, 10 ** SIGN_IN_DIGITS[SessionKind.CUSTOMER]),
        ("a code of a customer's app", PHONE_TRIES, 10**CODES.code_length),
        ("an API key", KEYS_A_SECOND * 3600 * HOURS, len(KEY_CHARACTERS) ** KEY_LENGTH),
        ("a session", KEYS_A_SECOND * 3600 * HOURS, 256**TOKEN_BYTES),
        ("an SMPP password", SLOW_A_SECOND * 3600 * HOURS, len(SMPP.alphabet) ** SMPP.length),
        ("a webhook's secret", KEYS_A_SECOND * 3600 * HOURS, 256**SECRET_BYTES),
    ],
)
def test_the_chance_of_a_year_of_guessing(what, tries, values):
    _, told_tries, told_values, chance = cells(what)[:4]
    assert told_tries == f"{tries:,.0f}"
    assert told_values == written(values)
    assert chance == told(tries, values)


def test_what_it_costs_to_shut_a_door():
    limits = LimitsSection()
    provider = PEOPLE.codes_per_hour // people.PROVIDERS
    assert f"{PEOPLE.codes_per_hour:,} requests an hour" in cells("the sign-in of all customers")[1]
    assert f"{provider} from one IPv6 /32" in cells("the sign-in of all customers")[1]
    one = cells("the sign-in of one address")[1]
    assert f"{PEOPLE.codes_per_address_per_hour} requests an hour" in one
    assert f"{people.CODES_PER_KNOWN_BROWSER} of its own" in cells("the sign-in of one address")[2]
    operator = cells("the sign-in of one operator")[1]
    assert f"{FAILURES_PER_DAY} wrong codes" in operator
    assert f"{people.CODES_PER_DAY} requests a day" in operator
    app = cells("the codes of an organization")[1]
    assert f"{CODES.per_organization_per_hour} requests an hour" in app
    addresses = math.ceil(CODES.per_organization_per_hour / limits.verify_ip_sends_per_hour)
    assert f"{addresses} addresses" in app
    number = cells("the codes of one number")[1]
    assert f"{CODES.per_phone_per_hour} requests an hour" in number
