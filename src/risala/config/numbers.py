"""Settings of numbers: which countries are served, and what a message abroad costs."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from risala.config.kinds import Money, Prefix, Section
from risala.sms.numbering.plan import DEFAULT_COUNTRIES, NumberingPlan, plan_of

_DEMOS: Final = ("SN", "MR")
"""Countries in which a demo that is at home in another one may begin."""
CountryCode = Annotated[
    str,
    Field(
        pattern=r"^[A-Z]{2}$",
        json_schema_extra={
            "words": 'a country\'s two letters (ISO 3166-1) in quotes, such as "SN"'
        },
    ),
]
NumericSender = Annotated[
    str,
    Field(
        pattern=r"^(\+[1-9][0-9]{6,14}|[0-9]{3,8})$",
        json_schema_extra={"words": 'a number or a short code in quotes, such as "+221771234567"'},
    ),
]


class CountrySection(Section):
    """What is particular to one country."""

    sender: NumericSender | None = None
    """The number that is sent in place of a name, for a country whose networks take no names as
    senders. Not set: names are sent there too."""


class NumbersSection(Section):
    """The countries whose mobile numbers are served. Beside ``countries`` a table for each that has
    rules of its own, such as ``[numbers.SN]``: its ``sender`` is the number or short code that is
    sent instead where a country's networks take no names."""

    model_config = ConfigDict(extra="allow")

    countries: Annotated[tuple[CountryCode, ...], Field(min_length=1)] = DEFAULT_COUNTRIES
    """ISO 3166-1 codes. The first is home: pages and commands read and write its numbers without
    the country code, and an organization sends there without being opened for it."""

    @field_validator("countries")
    @classmethod
    def _known(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        plan_of(codes)
        return tuple(dict.fromkeys(codes))

    @model_validator(mode="after")
    def _tables_are_of_countries(self) -> NumbersSection:
        for code, table in (self.__pydantic_extra__ or {}).items():
            if code not in self.countries:
                raise ValueError(f"{code} is not one of the countries")
            try:
                CountrySection.model_validate(table)
            except ValidationError:
                requirement = f'a table, [numbers.{code}], with a sender such as "+221771234567"'
                raise ValueError(f"{code} must be {requirement}") from None
        return self

    def of(self, code: str) -> CountrySection:
        """The rules of one country."""
        return CountrySection.model_validate((self.__pydantic_extra__ or {}).get(code, {}))


class PriceSection(Section):
    """The price of a segment to numbers abroad that begin alike. The longest prefix counts. Home's
    price is ``pricing.per_segment``. A country without a price cannot be opened for an organization
    that has none of its own there."""

    prefix: Prefix
    """Beginning of the numbers."""
    price: Money
    """The price of a segment, in ``service.currency``."""


def demo_elsewhere(plan: NumberingPlan) -> str:
    """The command that begins a demo in another country than the home of a plan."""
    code = next(each for each in _DEMOS if each != plan.home.code)
    return f"risala serve --demo --country {code}"
