"""Countries that are open to organizations, and their own prices abroad, as rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.tables import writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict
from risala.engine.model.records.people.countries import CountryUse, OpenedCountries, PrefixPrice
from risala.engine.model.records.record import audit_image

PRICES_MAX: Final = 1000
"""Of an organization: some for each country. They are read for each request that sends abroad."""
_OPENED: Final = (
    "SELECT country FROM opened_countries WHERE organization_id = ? AND what = ? ORDER BY country"
)
_PRICES: Final = (
    "SELECT prefix, price FROM organization_prices WHERE organization_id = ? ORDER BY prefix"
)


def opened(conn: sqlite3.Connection, organization_id: str) -> OpenedCountries:
    """What is open to an organization abroad, and its own prices; nothing for an unknown one."""

    def of_use(use: CountryUse) -> tuple[str, ...]:
        rows = conn.execute(_OPENED, (organization_id, use.value))
        return tuple(country for (country,) in rows)

    return OpenedCountries(
        organization_id,
        send=of_use(CountryUse.SEND),
        verify=of_use(CountryUse.VERIFY),
        publishable=of_use(CountryUse.PUBLISHABLE),
        prices=tuple(PrefixPrice(*row) for row in conn.execute(_PRICES, (organization_id,))),
    )


def image(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of what an organization reaches abroad."""
    return Seen(organization_id, audit_image(opened(conn, organization_id)))


def open_country(
    conn: sqlite3.Connection, organization_id: str, country: str, uses: Iterable[CountryUse]
) -> OpenedCountries:
    """Open a country for some uses; those that are open stay so.

    Raises:
        NotFound: the organization's id is unknown.
    """
    accounts.organization(conn, organization_id)
    stored = writable(conn, "opened_countries")
    for use in uses:
        row = {"organization_id": organization_id, "country": country, "what": use.value}
        stored.insert(row, replace=True)
    return opened(conn, organization_id)


def close_country(
    conn: sqlite3.Connection, organization_id: str, country: str, uses: Iterable[CountryUse]
) -> OpenedCountries:
    """Close a country for some uses; does nothing for those that are closed."""
    where = "organization_id = ? AND country = ? AND what = ?"
    for use in uses:
        given = (organization_id, country, use.value)
        writable(conn, "opened_countries").delete_where(where, given)
    return opened(conn, organization_id)


def set_price(
    conn: sqlite3.Connection, organization_id: str, prefix: str, price: int
) -> OpenedCountries:
    """Set an organization's price of a segment to the numbers with a prefix.

    Raises:
        NotFound: the organization's id is unknown.
        Conflict: it has too many prices.
    """
    accounts.organization(conn, organization_id)
    stored = writable(conn, "organization_prices")
    others = (organization_id, prefix)
    if stored.count_where("organization_id = ? AND prefix <> ?", others) >= PRICES_MAX:
        raise Conflict(f"An organization can have at most {PRICES_MAX} prices. Drop one first.")
    row = {"organization_id": organization_id, "prefix": prefix, "price": price}
    stored.insert(row, replace=True)
    return opened(conn, organization_id)


def drop_price(conn: sqlite3.Connection, organization_id: str, prefix: str) -> OpenedCountries:
    """Drop an organization's price, so that the general one applies; does nothing if there is
    none."""
    given = (organization_id, prefix)
    writable(conn, "organization_prices").delete_where("organization_id = ? AND prefix = ?", given)
    return opened(conn, organization_id)
