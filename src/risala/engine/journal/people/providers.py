"""Organizations' identity providers and their domains, as rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.people.providers import IdentityProvider

NONE: Final = "The organization has no identity provider."
_TABLE: Final = "identity_providers"
_DOMAINS: Final = "provider_domains"


@dataclass(frozen=True, slots=True)
class _Domain:
    organization_id: str
    domain: str


@dataclass(frozen=True, slots=True)
class _Secret:
    client_secret: str | None = field(repr=False)
    """Sealed."""


_OF_IT: Final = (
    "(SELECT json_group_array(domain) FROM (SELECT domain FROM provider_domains AS d"
    " WHERE d.organization_id = identity_providers.organization_id{} ORDER BY domain))"
)
_ROWS: Final = Rows.of_record(
    IdentityProvider,
    {
        "has_secret": "client_secret IS NOT NULL",
        "domains": _OF_IT.format(""),
        "confirmed": _OF_IT.format(" AND d.confirmed_at IS NOT NULL"),
        "owners": "owner_values",
        "developers": "developer_values",
        "viewers": "viewer_values",
    },
)
_DOMAIN_ROWS: Final = Rows(_Domain)
_SECRETS: Final = Rows(_Secret)
_COLUMNS: Final = {
    "owners": "owner_values",
    "developers": "developer_values",
    "viewers": "viewer_values",
}
"""Fields whose column has another name: what a role is given for, not who has it."""
_ONE: Final = "organization_id = ?"


def find(conn: sqlite3.Connection, organization_id: str) -> IdentityProvider | None:
    """The provider of an organization; None: it has none."""
    found = _ROWS.find(table(conn, _TABLE), _ONE, (organization_id,))
    return found[0] if found else None


def provider(conn: sqlite3.Connection, organization_id: str) -> IdentityProvider:
    """The provider of an organization.

    Raises:
        NotFound: it has none.
    """
    found = find(conn, organization_id)
    if found is None:
        raise NotFound(NONE)
    return found


def of_domain(conn: sqlite3.Connection, domain: str) -> IdentityProvider | None:
    """The provider of a domain that an operator confirmed; None: no organization has one."""
    known = "domain = ? AND confirmed_at IS NOT NULL"
    found = _DOMAIN_ROWS.find(table(conn, _DOMAINS), known, (domain,))
    return find(conn, found[0].organization_id) if found else None


def all_of_them(conn: sqlite3.Connection) -> list[IdentityProvider]:
    """All providers, those with an unconfirmed domain first."""
    found = _ROWS.find(table(conn, _TABLE), order_by="organization_id")
    return sorted(found, key=lambda each: len(each.domains) == len(each.confirmed))


def sealed_secret(conn: sqlite3.Connection, organization_id: str) -> str | None:
    """The secret of its client, sealed; None: it has none."""
    found = _SECRETS.find(table(conn, _TABLE), _ONE, (organization_id,))
    return found[0].client_secret if found else None


def put(
    conn: sqlite3.Connection, new: IdentityProvider, secret: Mapping[str, str | None]
) -> IdentityProvider:
    """Store a provider, new or changed.

    Args:
        secret: its column, if it changes.
    """
    kept = ("organization_id", "created_at", "created_by", "updated_at")
    names = ("issuer", "client_id", "label", "role_claim", "owners", "developers", "viewers")
    more = ("default_role", "verified_claim", "two_factors", "required", "session_hours")
    values: dict[str, Any] = {
        _COLUMNS.get(name, name): getattr(new, name) for name in (*kept, *names, *more)
    }
    stored, written = writable(conn, _TABLE), {**columns_of(values), **secret}
    if find(conn, new.organization_id) is None:
        stored.insert({"client_secret": None, **written})
    else:
        del written["organization_id"]
        stored.update(new.organization_id, written)
    _put_domains(conn, new.organization_id, new.domains)
    return provider(conn, new.organization_id)


def _put_domains(conn: sqlite3.Connection, organization_id: str, domains: Sequence[str]) -> None:
    """Those that stay keep their confirmation."""
    stored = writable(conn, _DOMAINS)
    rows = _DOMAIN_ROWS.find(table(conn, _DOMAINS), _ONE, (organization_id,))
    known = {each.domain for each in rows}
    for domain in known.difference(domains):
        stored.delete((organization_id, domain))
    for domain in sorted({*domains} - known):
        stored.insert({"organization_id": organization_id, "domain": domain, "confirmed_at": None})


def confirm(conn: sqlite3.Connection, organization_id: str, domain: str, now_ms: int) -> None:
    """An operator says that a domain is the organization's.

    Raises:
        NotFound: the organization did not ask for it.
        Conflict: it is another organization's.
    """
    found = provider(conn, organization_id)
    if domain not in found.domains:
        raise NotFound(f"The organization did not ask for the domain {domain}.")
    other = of_domain(conn, domain)
    if other is not None and other.organization_id != organization_id:
        raise Conflict("The domain is another organization’s. Take it away from that one first.")
    if other is None:
        writable(conn, _DOMAINS).update((organization_id, domain), {"confirmed_at": now_ms})


def delete(conn: sqlite3.Connection, organization_id: str) -> None:
    """Forget the provider, with its secret and its domains."""
    writable(conn, _DOMAINS).delete_where(_ONE, (organization_id,))
    writable(conn, _TABLE).delete_where(_ONE, (organization_id,))


def requires(conn: sqlite3.Connection, organization_id: str) -> bool:
    """Whether members enter an organization by its provider alone. A provider without a confirmed
    domain lets nobody in, so that it cannot be required."""
    found = find(conn, organization_id)
    return found is not None and found.required and bool(found.confirmed)
