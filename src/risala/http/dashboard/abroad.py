"""What a part costs abroad, on the pages where something is sent or paid for."""

from __future__ import annotations

from typing import NamedTuple

from risala.engine.model.records.people import countries
from risala.engine.model.records.people.countries import CountryUse, PrefixPrice
from risala.http.web.languages import country_name
from risala.http.web.page_request import PageRequest


class OpenCountry(NamedTuple):
    """A country abroad that the organization reaches."""

    name: str
    """In the reader's language."""
    prices: tuple[PrefixPrice, ...]


async def open_abroad(request: PageRequest, use: CountryUse) -> list[OpenCountry] | None:
    """The countries abroad that are open for a use; None: the service sends to home alone."""
    if len(request.plan.countries) == 1:
        return None
    reached = await request.ask_here(countries.LIST)
    language = request.words.language
    return [
        OpenCountry(country_name(language, each.code, each.name), each.prices)
        for each in reached.countries
        if not each.home and each.prices and getattr(each, use.value)
    ]
