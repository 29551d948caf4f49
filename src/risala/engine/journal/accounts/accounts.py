"""Organizations as rows, what is open to them abroad, and pages of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.accounts import payers
from risala.engine.journal.state import CREATED
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.accounts import DELETED, OrganizationFacts, OrganizationFilter
from risala.engine.model.records.asks import CursorPage, Place, Steps
from risala.engine.model.records.people.countries import CountryUse, OpenedCountries, PrefixPrice
from risala.engine.model.records.people.organizations import Organization, OrganizationEnd
from risala.engine.model.records.record import audit_image
from risala.engine.rules.days import day_of

ORGANIZATIONS: Final = Rows.of_record(
    Organization,
    {
        "status": "CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END",
        "operator_spend_cap": "spend_cap",
        "spent_today": "NULL",
    },
)
# Read for every request; manual changes go through the tables.
_ORGANIZATION: Final = f"SELECT {ORGANIZATIONS.columns} FROM organizations WHERE id = ?"  # noqa: S608 -- a constant


def add_organization(conn: sqlite3.Connection, organization: Organization) -> Organization:
    (last,) = conn.execute("SELECT coalesce(max(no), 0) FROM organizations").fetchone()
    writable(conn, "organizations").insert(
        {
            "id": organization.id,
            "no": last + 1,
            "name": organization.name,
            "status": organization.status,
            "currency": organization.currency,
            "price_per_segment": organization.price_per_segment,
            "time_zone": organization.time_zone,
            "created_at": organization.created_at,
        }
    )
    return organization


def organizations(conn: sqlite3.Connection) -> list[Organization]:
    """Every organization, deleted ones too, by its id."""
    return ORGANIZATIONS.find(table(conn, "organizations"), order_by="id")


def organization(conn: sqlite3.Connection, organization_id: str) -> Organization:
    """One organization.

    Raises:
        NotFound: the id is unknown.
    """
    row = conn.execute(_ORGANIZATION, (organization_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no organization {organization_id}.")
    return ORGANIZATIONS.of(row)


def organization_image(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of an organization."""
    stored = organization(conn, organization_id)
    return Seen(stored.id, audit_image(stored))


def organization_name(conn: sqlite3.Connection, organization_id: str) -> str:
    """An organization's name."""
    statement = "SELECT name FROM organizations WHERE id = ?"
    return str(value_of(conn, statement, (organization_id,)))


def is_active(conn: sqlite3.Connection, organization_id: str) -> bool:
    """Whether its messages may leave: it exists, and is neither suspended nor deleted."""
    sql = "SELECT status FROM organizations WHERE id = ?"
    status: str | None = value_of(conn, sql, (organization_id,))
    return status == "active"


def balance(conn: sqlite3.Connection, organization_id: str) -> int:
    """The balance in minor units; 0 for an unknown organization."""
    return value_of(conn, "SELECT balance FROM organizations WHERE id = ?", (organization_id,)) or 0


def change_organization(
    conn: sqlite3.Connection, organization_id: str, changes: Mapping[str, object]
) -> None:
    """Change what can be set of an organization: fields by their names.

    Raises:
        NotFound: the id is unknown.
    """
    organization(conn, organization_id)
    columns = {"operator_spend_cap": "spend_cap"}
    values = {columns.get(name, name): value for name, value in changes.items()}
    writable(conn, "organizations").update(organization_id, values)


def set_organization_status(
    conn: sqlite3.Connection, organization_id: str, status: str
) -> Organization:
    """Suspend or resume an organization.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is deleted.
    """
    if organization(conn, organization_id).status == DELETED:
        raise Conflict("The organization is deleted.")
    writable(conn, "organizations").update(organization_id, {"status": status})
    return organization(conn, organization_id)


def mark_deleted(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> None:
    """Delete an organization's own row; part of the unit that does the rest."""
    values = {"status": "suspended", "deleted_at": now_ms}
    writable(conn, "organizations").update(organization_id, values)


# -- countries that are open to them, and their own prices abroad


PRICES_MAX: Final = 1000
"""Prices of an organization: some for each country. Each request that sends abroad reads them."""
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


def countries_image(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of what an organization reaches abroad."""
    return Seen(organization_id, audit_image(opened(conn, organization_id)))


def open_country(
    conn: sqlite3.Connection, organization_id: str, country: str, uses: Iterable[CountryUse]
) -> OpenedCountries:
    """Open a country for some uses; those that are open stay so.

    Raises:
        NotFound: the organization's id is unknown.
    """
    organization(conn, organization_id)
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
        values = (organization_id, country, use.value)
        writable(conn, "opened_countries").delete_where(where, values)
    return opened(conn, organization_id)


def set_price(
    conn: sqlite3.Connection, organization_id: str, prefix: str, price: int
) -> OpenedCountries:
    """Set an organization's price of a segment to the numbers with a prefix.

    Raises:
        NotFound: the organization's id is unknown.
        Conflict: it has too many prices.
    """
    organization(conn, organization_id)
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
    values = (organization_id, prefix)
    writable(conn, "organization_prices").delete_where("organization_id = ? AND prefix = ?", values)
    return opened(conn, organization_id)


# -- pages, the newest first, and the facts that a list adds to their own row


OWNERS_SHOWN_MAX: Final = 3
"""Owners of one organization that a list shows."""


def _hit(filters: OrganizationFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted organization."""
    conditions: list[str] = []
    values: list[object] = []
    if filters.status == DELETED:
        conditions.append("deleted_at IS NOT NULL")
    elif filters.status is not None:
        conditions.append("deleted_at IS NULL AND organizations.status = ?")
        values.append(filters.status)
    if filters.search is not None:
        ways = ["id LIKE ? ESCAPE '\\'"]
        values.append(part(filters.search))
        for spelled in spellings(filters.search):
            ways.append("name LIKE ? ESCAPE '\\'")
            values.append(part(spelled))
        ways.append(
            "id IN (SELECT organization_id FROM members WHERE role = 'owner'"
            " AND user_id = (SELECT id FROM users WHERE email = ?))"
        )
        values.append(filters.search.strip().lower())
        conditions.append(f"({' OR '.join(ways)})")
    return " AND ".join(conditions) or "1", tuple(values)


def page(
    conn: sqlite3.Connection, filters: OrganizationFilter, steps: Steps
) -> CursorPage[Organization]:
    """One page of the wanted organizations."""
    hit, values = _hit(filters)
    way = Walk("organizations", "1", (), hit, values, ("id",))
    return page_by_time(conn, ORGANIZATIONS, way, steps, _place_of)


def _place_of(organization: Organization) -> Place:
    return (organization.id,)


def facts(conn: sqlite3.Connection, organization: Organization, now_ms: int) -> OrganizationFacts:
    """A few reads by index, independent of how much it has sent."""
    today = day_of(organization.time_zone, now_ms)
    sent_at: int | None = value_of(
        conn,
        f"SELECT {CREATED} FROM message INDEXED BY message_by_organization"  # noqa: S608 -- a constant
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
        " ORDER BY key DESC LIMIT 1",
        (organization.id,),
    )
    owners = conn.execute(
        "SELECT u.email FROM members m JOIN users u ON u.id = m.user_id"
        " WHERE m.organization_id = ? AND m.role = 'owner'"
        " ORDER BY m.created_at, m.user_id LIMIT ?",
        (organization.id, OWNERS_SHOWN_MAX),
    )
    spent = payers.spent(conn, organization.id, today)
    return OrganizationFacts(spent, sent_at, tuple(email for (email,) in owners))


# -- for the rest of the engine


PENDING_COUNTED_MAX: Final = 10_000
"""Messages not sent yet that are counted of an organization: it says how much ends, not how many
exactly."""


def of_deletion(conn: sqlite3.Connection, organization_id: str) -> OrganizationEnd:
    """What ends with an organization.

    Raises:
        NotFound: the id is unknown.
    """

    def count(table: str, more: str = "") -> int:
        statement = f"SELECT count(*) FROM {table} WHERE organization_id = ?{more}"  # noqa: S608 -- constants
        return int(value_of(conn, statement, (organization_id,)))

    of_it = organization(conn, organization_id)
    no = value_of(conn, "SELECT no FROM organizations WHERE id = ?", (organization_id,))
    pending = value_of(
        conn,
        "SELECT count(*) FROM (SELECT 1 FROM message WHERE organization = ? AND status = 0"
        " AND status <> 3 LIMIT ?)",
        (no, PENDING_COUNTED_MAX),
    )
    sent = value_of(
        conn,
        "SELECT coalesce(sum(n), 0) FROM hour_count WHERE organization = ? AND outcome = 0",
        (no,),
    )
    return OrganizationEnd(
        organization_id,
        of_it.name,
        of_it.balance,
        of_it.currency,
        keys=count("api_keys"),
        members=count("members"),
        endpoints=count("webhook_endpoints", " AND deleted_at IS NULL"),
        senders=count("senders", " AND status <> 'denied'"),
        pending=int(pending),
        messages=int(sent),
    )


@dataclass(frozen=True, slots=True)
class OrganizationRepository:
    """Organizations. All reads are by an index, on the loop's thread; ``all`` reads every one.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    all = read(organizations)
    organization = read(organization)
    name = read(organization_name)
    page = read(page)
    facts = read(facts)
    of_deletion = read(of_deletion)
    spent = read(payers.spent)
    opened = read(opened)
    stored_payer = read(payers.stored_payer)
    parts_of = read(payers.parts_of)
    put_payer = audited_command(payers.put_payer)
    add = audited_command(add_organization)
    set_status = audited_command(set_organization_status)
    change = audited_command(change_organization)
    open_country = audited_command(open_country)
    close_country = audited_command(close_country)
    set_price = audited_command(set_price)
    drop_price = audited_command(drop_price)
