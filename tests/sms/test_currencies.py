"""The decimals of currencies, and amounts with each number of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from risala.config.model import PricingSection
from risala.drivers.payments.patterns import amount_of
from risala.engine.kernel import arguments
from risala.engine.model.money import minor_units, money
from risala.http.web.forms import amount_text
from risala.sms.currencies import counting, decimals, decimals_of

FRANCS, DINARS = decimals_of("XOF"), decimals_of("TND")


def test_decimals_are_those_of_iso_4217():
    assert (FRANCS, decimals_of("MRU"), DINARS, decimals_of("CLF")) == (0, 2, 3, 4)
    assert decimals_of("EUR") == decimals() == 2


@given(amount=st.integers(0, 10**12 - 1), places=st.sampled_from([0, 2, 3]))
def test_an_amount_comes_back_as_it_was(amount, places):
    with counting(places):
        assert minor_units(money(amount)) == amount
        assert money(-amount) == (f"-{money(amount)}" if amount else money(0))


@pytest.mark.parametrize(
    ("places", "text", "amount"),
    [(0, "25", 25), (0, "25.00", 25), (2, "25.5", 2550), (3, "25.5", 25_500), (3, "0.005", 5)],
)
def test_fewer_decimals_may_be_written(places, text, amount):
    with counting(places):
        assert minor_units(text) == amount


@pytest.mark.parametrize(
    ("places", "text", "said"),
    [
        (0, "25.50", "digits without decimals, like 100"),
        (0, "25.000", "digits without decimals, like 100"),
        (2, "25.505", "digits with at most two decimals, like 100 or 99.50"),
        (2, "25.000", "digits with at most two decimals, like 100 or 99.50"),
        (3, "25.5055", "digits with at most three decimals, like 100 or 99.500"),
    ],
)
def test_more_decimals_are_refused(places, text, said):
    with counting(places), pytest.raises(ValueError, match=f"^an amount is {said}$"):
        minor_units(text)


@pytest.mark.parametrize(
    ("places", "typed", "text"),
    [
        (0, "12,500", "12500"),
        (0, "1 250 000", "1250000"),
        (0, "1,250,000", "1250000"),
        (2, "12,500", "12,500"),
        (3, "12,500", "12.500"),
        (3, "1.250,500", "1250.500"),
        (3, "1 250,500", "1250.500"),
    ],
)
def test_people_write_amounts_as_their_currency_has_them(places, typed, text):
    with counting(places):
        assert amount_text(typed) == text


@pytest.mark.parametrize(
    ("places", "written", "amount"),
    [
        (0, "5000.00", 5000),
        (0, "5 000", 5000),
        (0, "5.000", 5000),
        (3, "12,500", 12_500),
        (3, "1 250,500", 1_250_500),
        (3, "1 250", 1_250_000),
    ],
)
def test_banks_write_amounts_as_their_currency_has_them(places, written, amount):
    with counting(places):
        assert amount_of(written) == amount


def test_a_part_of_a_franc_is_no_amount():
    with counting(FRANCS), pytest.raises(ValueError, match="no amount"):
        amount_of("5000.50")


@pytest.mark.parametrize(
    ("typed", "francs"), [("1000", 1000), ("1.00", 1), ("1000.00", 1000), ("1.5", None)]
)
def test_every_reader_takes_the_same_amount_in_francs(typed, francs):
    """Commands, pages, banks' texts and settings."""
    readers = (
        arguments.amount,
        lambda text: arguments.amount(amount_text(text)),
        amount_of,
        lambda text: minor_units(PricingSection(per_segment=text, low_balance="0").per_segment),
    )
    with counting(FRANCS):
        for read in readers:
            if francs is None:
                with pytest.raises(ValueError, match="amount"):
                    read(typed)
            else:
                assert read(typed) == francs


def test_what_is_missing_is_told_in_one_sentence():
    for parse in (arguments.amount, arguments.moment):
        with pytest.raises(PydanticCustomError) as refused:
            parse("")
        assert str(refused.value) == "`{name}` is required."
