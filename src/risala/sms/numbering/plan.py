"""A numbering plan: which countries' numbers are served, and how people write and read them.

A value that is made from the settings and handed on; nothing else knows a country.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby, product
from math import prod
from typing import Final

from risala.dataclass import dataclass
from risala.sms.numbering.countries import MAURITANIA, country
from risala.sms.numbering.country import COUNTRIES, Country, country_of_code, english_name
from risala.sms.numbering.written import SENTENCES, NumberFault, UnreadNumber, read_written

INTERNATIONAL_ACCESS: Final = "00"
"""What people dial for ``+`` (ITU-T E.164 annex A)."""
LOCAL_DIGITS_MIN: Final = 7
"""The fewest digits that a local number of a country that is not served is taken to have; fewer
digits are a service's number (a short code), to which no country code belongs."""
E164_DIGITS_MAX: Final = 15
_WHERE: Final = "The service opens other countries by its setting `numbers.countries`."


@dataclass(frozen=True, slots=True)
class NumberingPlan:
    """The countries that are served; the first is home."""

    countries: tuple[Country, ...]

    @property
    def home(self) -> Country:
        return self.countries[0]

    @property
    def is_default(self) -> bool:
        """Whether Mauritania alone is served, for which the specification has its own sentences."""
        return self.countries == (MAURITANIA,)

    @property
    def example(self) -> str:
        """A number of home, for placeholders and documents."""
        return self.home.example

    @property
    def local_example(self) -> str:
        """A number of home as its people write it."""
        return self.written(self.example)

    def country_of(self, number: str) -> Country | None:
        """The served country to which a mobile number belongs; None if there is none. Nothing is
        normalised."""
        return next((each for each in self.countries if each.serves(number)), None)

    def serves(self, number: str) -> bool:
        """Whether a text is a mobile number of a served country (E.164). Nothing is normalised."""
        return any(each.serves(number) for each in self.countries)

    def read(self, text: str) -> str:
        """The number in a person's writing, as ``+`` and digits. For pages and commands only.

        Home's numbers may be written as at home, all in the international form with ``+``, ``00``
        or neither; with the signs that people write between digits
        (:func:`risala.sms.numbering.written.read_written`), and digits of any script.

        Raises:
            UnreadNumber: it is no mobile number of a served country, or not certainly one alone;
                with one sentence.
        """
        number = read_written(text, self._meant)
        if not isinstance(number, NumberFault):
            return number
        if number is NumberFault.NUMBER and (code := self.abroad(text)) is not None:
            raise UnreadNumber(NumberFault.NOT_SERVED, self.not_served(code))
        raise UnreadNumber(number, SENTENCES.get(number, self.fault))

    def abroad(self, text: str) -> str | None:
        """The ISO 3166-1 letters of the country that is not served and to which a person's number
        in the international form belongs; None: it is no such number."""
        number = read_written(text, self._international)
        return None if isinstance(number, NumberFault) else country_of_code(number)

    def _international(self, typed: str) -> str | None:
        """The digits of what may be a number abroad."""
        digits = typed.removeprefix(INTERNATIONAL_ACCESS).removeprefix("+")
        if digits == typed or len(digits) > E164_DIGITS_MAX:
            return None
        served = {COUNTRIES.get(each.calling_code) for each in self.countries}
        code = country_of_code(digits)
        return None if code is None or code in served else digits

    def not_served(self, code: str) -> str:
        """The sentence on a number of this country, by its ISO 3166-1 letters: it is not served."""
        return (
            f"{english_name(code)} ({code}) is not open here: messages go to {self.names}."
            " `numbers.countries` in the settings opens it."
        )

    def _meant(self, typed: str) -> str | None:
        """The number that digits are, with or without ``+`` in front."""
        digits = typed.removeprefix(INTERNATIONAL_ACCESS).removeprefix("+")
        number = None if typed.startswith(INTERNATIONAL_ACCESS) else self.home.read(typed)
        for each in self.countries:
            number = number or each.read(f"+{digits}")
        return number

    @property
    def wanted(self) -> str:
        """What a number of the API must be, for the end of a sentence."""
        if self.is_default:
            return f"a Mauritanian number: +222, then 2, 3 or 4, then 7 digits. {_WHERE}"
        return f"{self.kind} with + and the country code, like {self.example}. {_WHERE}"

    @property
    def kind(self) -> str:
        """What a recipient must be, for a sentence: ``a Mauritanian mobile number``."""
        if self.is_default:
            return "a Mauritanian mobile number"
        return f"a mobile number of {self.names}"

    @property
    def recipients(self) -> str:
        """The numbers that are served, for a sentence: ``Mauritanian numbers``."""
        if self.is_default:
            return "Mauritanian numbers"
        return f"mobile numbers of {self.names}"

    @property
    def fault(self) -> str:
        """Why a text is no number of the plan, in one sentence."""
        if self.is_default:
            return (
                "A Mauritanian number has 8 digits and begins with 2, 3 or 4, for example"
                f" {self.example}."
            )
        return f"This is not {self.kind}. A number looks like {self.example}."

    @property
    def pattern(self) -> str:
        """A regular expression of JSON Schema that each number matches; not all that match it are
        numbers."""
        known = (
            (each.calling_code, places) for each in self.countries for places in each.digit_places
        )
        ways = [code + "".join(_runs(places)) for code, places in known]
        return rf"^\+{ways[0]}$" if len(ways) == 1 else rf"^\+({'|'.join(ways)})$"

    @property
    def names(self) -> str:
        """The countries that are served, in English: ``Senegal, Mali or Mauritania``."""
        *others, last = (each.name for each in self.countries)
        return f"{', '.join(others)} or {last}" if others else last

    def written(self, number: str) -> str:
        """A number as people at home read it: theirs as they write it, others with ``+``."""
        country = self.country_of(number)
        if country is None:
            return number
        local = country.local(number) if country is self.home else None
        # Some local forms are read as another number: Gabon's of seven digits, Tajikistan's 00….
        is_clear = local is not None and read_written(local, self._meant) == number
        return local if local is not None and is_clear else country.international(number)

    def networks(self) -> frozenset[str]:
        """The names of all networks that the plan knows."""
        named = (block.network for each in self.countries for block in each.blocks)
        return frozenset(name for name in named if name is not None)

    def international(self, number: str) -> str:
        """A number as people of any country read it; a text that is none is returned unchanged."""
        country = self.country_of(number)
        return number if country is None else country.international(number)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The beginnings of all numbers: ``+`` and each country's code, home's first."""
        return tuple(dict.fromkeys(f"+{each.calling_code}" for each in self.countries))

    # -- numbers that come in

    def with_country(self, text: str, national_prefix: str) -> str:
        """A number that a carrier wrote for its own country's use (TON 0, 2 or 4), as ``+…``.

        With the country's code, with ``00`` and it, or as people write it at home. A text that
        cannot be one of that country's numbers (a service's number, a name, another country's
        number without ``+``) is returned unchanged, and so is everything if ``national_prefix`` is
        empty.

        Args:
            national_prefix: ``+`` and a country code.
        """
        digits = text.removeprefix("+")
        if not national_prefix or not is_digits(digits):
            return text
        # No country code begins with 0: a "+" before the access code is one too many.
        abroad = digits.startswith(INTERNATIONAL_ACCESS)
        if text.startswith("+") and not abroad:
            return text
        digits, code = digits.removeprefix(INTERNATIONAL_ACCESS), national_prefix[1:]
        whole = self._whole(digits.removeprefix(code), code) if digits.startswith(code) else None
        if whole is None and not abroad:
            whole = self._whole(digits, code)
        return text if whole is None else whole

    def _whole(self, digits: str, code: str) -> str | None:
        """The number that ``digits`` are in the country of that code; None if they are none."""
        served = [each for each in self.countries if each.calling_code == code]
        if served:
            return next(filter(None, (each.read(digits) for each in served)), None)
        is_local = LOCAL_DIGITS_MIN <= len(digits) <= E164_DIGITS_MAX - len(code)
        return f"+{code}{digits}" if is_local and digits[0] != "0" else None

    def ways_to_write(self, number: str) -> tuple[str, str, str, str]:
        """A number of home as it is given, with ``+``, as digits with the country's code and
        without it; any other as it is given and as digits."""
        prefix = self.prefixes[0]
        whole = self.with_country(number, prefix)
        digits = whole.removeprefix("+")
        local = whole.removeprefix(prefix) if self.home.serves(whole) else digits
        return number, whole, digits, local

    # -- parts of numbers

    def digits_of(self, text: str) -> str | None:
        """The digits of a part of a number, as a person writes it; None if other characters are in
        it.

        The separators of :meth:`read` are left out, and so is what is dialled before a country
        code.
        """
        digits = compact(text).removeprefix("+")
        access = tuple(f"{INTERNATIONAL_ACCESS}{each[1:]}" for each in self.prefixes)
        if digits.startswith(access):
            digits = digits.removeprefix(INTERNATIONAL_ACCESS)
        return digits if is_digits(digits) else None

    @property
    def part_min(self) -> int:
        """The fewest digits of a number by which it is looked for: with fewer, too many numbers
        have them."""
        return max(part_min(places) for each in self.countries for places in each.digit_places)

    def ranges_of(self, digits: str) -> tuple[tuple[int, int], ...]:
        """The first and the last number of each range whose numbers have these digits in a row: so
        an index of numbers can be searched for a part at any place."""
        known = (
            (each.calling_code, places) for each in self.countries for places in each.digit_places
        )
        return tuple(span for code, places in known for span in ranges_of(digits, (*code, *places)))


@cache
def plan_of(countries: tuple[str, ...]) -> NumberingPlan:
    """The plan that serves countries by their ISO 3166-1 codes, the first of them home.

    Raises:
        ValueError: a country is not known, or there is none.
    """
    if not countries:
        raise ValueError("at least one country is served")
    return NumberingPlan(tuple(map(country, countries)))


def _runs(places: Iterable[str]) -> Iterator[str]:
    """``[2-4][0-9]{7}``."""
    for digits, run in groupby(places):
        count = len([*run])
        yield f"[{digits[0]}-{digits[-1]}]" + (f"{{{count}}}" if count > 1 else "")


DEFAULT_COUNTRIES: Final = (MAURITANIA.code,)
DEFAULT: Final = plan_of(DEFAULT_COUNTRIES)
"""The plan where the settings name no country."""
EXAMPLE: Final = DEFAULT.example
"""A number for documents and examples."""


# The digits of a number as people type it.

_ARABIC_DIGITS: Final = {
    zero + value: str(value) for zero in (0x0660, 0x06F0) for value in range(10)
}
_SEPARATORS: Final = frozenset(".-()/\u2010\u2011\u2012\u2013\u2212")


def compact(text: str) -> str:
    """A number without the separators that people write, in ASCII digits."""
    return "".join(
        character
        for character in text.translate(_ARABIC_DIGITS)
        if character not in _SEPARATORS
        and not character.isspace()
        and unicodedata.category(character) != "Cf"
    )


def is_digits(text: str) -> bool:
    """Whether a text consists of ASCII digits, at least one."""
    return text.isascii() and text.isdigit()


# Finding numbers by a part of them: the ranges in which all matches lie.
#
# So an index of numbers can be searched for a part at any place in the number.

PARTS_MAX: Final = 10_000
"""Beginnings of numbers that a search for their last digits tries at most."""


def part_min(places: Sequence[str]) -> int:
    """The fewest digits that are looked for, where these are the possible digits at each place
    behind the country's code."""
    return next(n for n in range(1, len(places)) if prod(map(len, places[:-n])) <= PARTS_MAX)


def ranges_of(digits: str, places: Sequence[str]) -> list[tuple[int, int]]:
    """The first and the last number of each range whose numbers have these digits in a row.

    Ranges for one place of the digits in the number do not overlap; those for two places may.

    Args:
        places: the possible digits at each place of a number.
    """
    ranges = []
    for begin in range(len(places) - len(digits) + 1):
        end = begin + len(digits)
        if not all(each in may_be for each, may_be in zip(digits, places[begin:end], strict=True)):
            continue
        later = places[end:]
        lowest, highest = "".join(map(min, later)), "".join(map(max, later))
        for earlier in product(*places[:begin]):
            known = "".join(earlier) + digits
            ranges.append((int(known + lowest), int(known + highest)))
    return ranges
