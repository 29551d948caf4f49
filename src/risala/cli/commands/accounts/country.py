"""Countries that organizations reach, and their prices there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.model.records.people import countries
from risala.engine.model.records.people.countries import CountryUse, ReachedCountries

_USES: Final = {
    CountryUse.SEND: "messages",
    CountryUse.VERIFY: "codes",
    CountryUse.PUBLISHABLE: "codes by publishable keys",
}


@click.group()
def country() -> None:
    """Countries that an organization reaches, and what a message there costs.

    \b
    Examples:
      risala country list --org "My shop"
      risala country open SN --org "My shop"
    """


def _uses(does: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--for",
        "uses",
        multiple=True,
        type=click.Choice([each.value for each in CountryUse]),
        default=(CountryUse.SEND.value,),
        show_default=True,
        help=f"{does}: messages, codes, or codes that publishable keys send. Repeatable.",
    )


@country.command("list")
@org_option
@asks(countries.LIST)
def country_list(reached_countries: ReachedCountries) -> None:
    """List the countries that are served: what is open, and the prices.

    \b
    Example: risala country list --org "My shop"
    """
    _show(reached_countries)


@country.command("open")
@click.argument("country")
@_uses("What to open it for")
@org_option
@asks(countries.OPEN)
def country_open(reached_countries: ReachedCountries) -> None:
    """Open COUNTRY (its two letters) for an organization. Home is always open.

    \b
    Examples:
      risala country open SN --org "My shop"
      risala country open SN --for verify --for publishable --org "My shop"
    """
    _show(reached_countries)


@country.command("close")
@click.argument("country")
@_uses("What to close it for")
@org_option
@asks(countries.CLOSE)
def country_close(reached_countries: ReachedCountries) -> None:
    """Close COUNTRY for an organization.

    \b
    Example: risala country close SN --org "My shop"
    """
    _show(reached_countries)


@country.command("price")
@click.argument("prefix")
@click.argument("price", metavar="AMOUNT")
@org_option
@asks(countries.SET_PRICE)
def country_price(reached_countries: ReachedCountries) -> None:
    """Give an organization its own price of a segment to numbers that begin with PREFIX.

    \b
    Example: risala country price +221 12.00 --org "My shop"
    """
    _show(reached_countries)


@country.command("drop-price")
@click.argument("prefix")
@org_option
@asks(countries.DROP_PRICE)
def country_drop_price(reached_countries: ReachedCountries) -> None:
    """Take an organization's own price of PREFIX away, so that the general one applies.

    \b
    Example: risala country drop-price +221 --org "My shop"
    """
    _show(reached_countries)


def _show(reached_countries: ReachedCountries) -> None:
    output.table(
        ("Country", "Name", "Open for", "A segment costs"),
        (
            (
                each.code,
                each.name,
                ", ".join(_USES[use] for use in CountryUse if getattr(each, use.value)) or None,
                ", ".join(
                    f"{price.prefix}: {output.money(price.price, reached_countries.currency)}"
                    for price in each.prices
                )
                or None,
            )
            for each in reached_countries.countries
        ),
        empty="",
    )
