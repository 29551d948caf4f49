"""One country as the library knows it, made anew for each question."""

from __future__ import annotations

import phonenumbers
import pytest

from risala.sms.numbering.library import _NUMBERS_KEPT, LibraryCountry, country_codes


@pytest.mark.parametrize(
    ("code", "calling_code", "example", "lengths"),
    [
        ("SN", "221", "+221701234567", [9]),
        ("SH", "290", "+29051234", [5]),
        ("DE", "49", "+4915123456789", [10, 11]),  # its landlines have other lengths, too
        ("KZ", "7", "+77710009998", [10]),
    ],
)
def test_its_code_its_example_and_how_long_its_numbers_are(code, calling_code, example, lengths):
    country = LibraryCountry(code)
    assert (country.calling_code, country.example) == (calling_code, example)
    assert [len(places) for places in country.digit_places] == lengths
    assert {each for places in country.digit_places for each in places} == {"0123456789"}


@pytest.mark.parametrize(
    ("code", "prefix", "network"),
    [
        ("SN", "+22177", "SN/Orange"),  # alone with its calling code
        ("KZ", "+7701", "KZ/Kcell/Activ"),  # one of two
        ("RU", "+79001", "RU/T2"),
        ("US", "+1659200", "US/Onvoy"),  # one of many
        ("JM", "+165820", "JM/Flow"),
    ],
)
def test_blocks_are_those_of_the_country_alone(code, prefix, network):
    blocks = LibraryCountry(code).blocks
    assert (prefix, network) in blocks
    sharing = {"KZ": ("+79",), "RU": ("+77",), "US": ("+1658", "+1876"), "JM": ("+1659",)}
    assert not [block for block in blocks if block.prefix.startswith(sharing.get(code, ()))]


@pytest.mark.parametrize(
    ("code", "number", "network"),
    [
        ("SN", "+221771234567", "SN/Orange"),
        ("AR", "+5491123456789", None),  # the library knows no network of it
        ("SN", "+22236123456", None),  # another country's
        ("SN", "nonsense", None),
    ],
)
def test_the_network_of_a_number(code, number, network):
    assert LibraryCountry(code).network_of(number) == network


def test_only_so_many_answers_are_kept():
    country = LibraryCountry("SN")
    for n in range(_NUMBERS_KEPT + 1):
        assert not country.serves(str(n))
    kept = country._is_mobile.cache_info()
    assert (kept.currsize, kept.misses) == (_NUMBERS_KEPT, _NUMBERS_KEPT + 1)
    assert not country.serves(str(_NUMBERS_KEPT))
    assert country._is_mobile.cache_info().hits == 1


def test_every_country_that_is_offered_can_be_served_and_no_other():
    offered = country_codes()
    assert list(offered) == sorted(offered)
    assert [code for code in offered if not LibraryCountry(code).digit_places] == []
    for other in phonenumbers.SUPPORTED_REGIONS - {*offered}:
        with pytest.raises(ValueError, match="no mobile numbers"):
            LibraryCountry(other)
