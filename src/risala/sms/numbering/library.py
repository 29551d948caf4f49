"""Any country's mobile numbers, as the library ``phonenumbers`` knows them.

Imported only where a country that is not built in is served: its tables take memory.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from importlib import resources
from typing import Final

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberFormat, PhoneNumberType, carrier
from phonenumbers.carrierdata import CARRIER_DATA

from risala.sms.numbering.country import Block, english_name

_MOBILE: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
_DIGITS: Final = "0123456789"
_OTHER_ZONES: Final = {
    "AC": "Atlantic/St_Helena",
    "AU": "Australia/Sydney",
    "BR": "America/Sao_Paulo",
    "CA": "America/Toronto",
    "RU": "Europe/Moscow",
    "XK": "Europe/Belgrade",
}
"""Time zones of countries that go from coast to coast or that the library's table lacks. Of the
others the table's first zone has most people."""
_WITHOUT_MOBILES: Final = frozenset({"TA"})
"""Countries that the library knows without any mobile number: Tristan da Cunha."""
_NUMBERS_KEPT: Final = 8192
"""Numbers of each country whose answer is kept: to find it takes the library some 25 µs."""


def country_codes() -> tuple[str, ...]:
    """The countries that can be served, by their ISO 3166-1 codes."""
    return tuple(sorted(phonenumbers.SUPPORTED_REGIONS - _WITHOUT_MOBILES))


class LibraryCountry:
    """A country by its ISO 3166-1 code.

    Raises:
        ValueError: the library does not know the country, or no mobile number of it.
    """

    def __init__(self, code: str) -> None:
        example = phonenumbers.example_number_for_type(code, PhoneNumberType.MOBILE)
        metadata = PhoneMetadata.metadata_for_region(code)
        if example is None or metadata is None or metadata.mobile is None:
            raise ValueError(f"no mobile numbers of {code!r} are known")
        self.code = code
        self.calling_code = str(phonenumbers.country_code_for_region(code))
        self.example = _e164(example)
        lengths = metadata.mobile.possible_length
        self.digit_places = tuple((_DIGITS,) * length for length in lengths)
        self._is_mobile = lru_cache(_NUMBERS_KEPT)(self._find)

    @cached_property
    def name(self) -> str:
        return english_name(self.code)

    @cached_property
    def time_zone(self) -> str:
        return _OTHER_ZONES.get(self.code) or _first_zone(self.code)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        known = [
            Block(f"+{prefix}", self._network(names.get("en")))
            for prefix, names in CARRIER_DATA.items()
            if prefix.startswith(self.calling_code) and self._is_ours(prefix)
        ]
        return tuple(sorted(known))

    def _is_ours(self, prefix: str) -> bool:
        """Whether numbers of the country begin so: others may share its calling code."""
        if len(phonenumbers.region_codes_for_country_code(int(self.calling_code))) == 1:
            return True
        lengths = [len(f"+{self.calling_code}") + len(places) for places in self.digit_places]
        tried = (f"+{prefix}".ljust(length, each) for length in lengths for each in _DIGITS)
        return any(map(self._find, tried))

    def serves(self, number: str) -> bool:
        return self._is_mobile(number)

    def read(self, text: str) -> str | None:
        parsed = _parse(text, self.code)
        number = None if parsed is None else _e164(parsed)
        return number if number is not None and self.serves(number) else None

    def local(self, number: str) -> str:
        return self._written(number, PhoneNumberFormat.NATIONAL)

    def international(self, number: str) -> str:
        return self._written(number, PhoneNumberFormat.INTERNATIONAL)

    def network_of(self, number: str) -> str | None:
        parsed = _parse(number, None) if self.serves(number) else None
        return None if parsed is None else self._network(carrier.name_for_number(parsed, "en"))

    def _find(self, number: str) -> bool:
        parsed = _parse(number, None)
        return (
            parsed is not None
            and _e164(parsed) == number
            and phonenumbers.is_valid_number_for_region(parsed, self.code)
            and phonenumbers.number_type(parsed) in _MOBILE
        )

    def _network(self, name: str | None) -> str | None:
        return f"{self.code}/{name}" if name else None

    def _written(self, number: str, form: int) -> str:
        parsed = _parse(number, None)
        return number if parsed is None else str(phonenumbers.format_number(parsed, form))


def _parse(text: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None


def _first_zone(country: str) -> str:
    table = resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text("ascii")
    rows = (line.split() for line in table.splitlines() if not line.startswith("#"))
    return next(zone for code, _, zone, *_ in rows if code == country)


def _e164(parsed: PhoneNumber) -> str:
    return str(phonenumbers.format_number(parsed, PhoneNumberFormat.E164))
