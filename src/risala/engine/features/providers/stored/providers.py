"""Organizations' identity providers and their domains: rows, and changes. All owners are told of a
change by mail: who changes the provider decides who gets in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.providers.records import SETTINGS, IdentityProvider
from risala.engine.features.providers.stored import identities
from risala.engine.journal.people import mails, members, users, web_sessions
from risala.engine.journal.sealed.columns import SealedColumn
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.people_records import MailKind, NewMail
from risala.engine.rules.sealing import SecretPurpose

NONE: Final = "The organization has no identity provider."
NO_WAY_BACK: Final = (
    "First let an owner set up a passkey or an authenticator app: with an e-mail code and that they"
    " get in when the identity provider fails."
)
_TABLE: Final = "identity_providers"
SEALED: Final = (
    SealedColumn(
        _TABLE,
        "client_secret",
        SecretPurpose.CLIENT_SECRET,
        "risala provider set --org {} --secret-file FILE",
        key="organization_id",
    ),
)
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
_COLUMNS: Final = {
    "owners": "owner_values",
    "developers": "developer_values",
    "viewers": "viewer_values",
}
"""Fields whose column has another name: what a role is given for, not who has it."""
_ROWS: Final = Rows.of_record(
    IdentityProvider,
    {
        "has_secret": "client_secret IS NOT NULL",
        "domains": _OF_IT.format(""),
        "confirmed": _OF_IT.format(" AND d.confirmed_at IS NOT NULL"),
        **_COLUMNS,
    },
)
_DOMAIN_ROWS: Final = Rows(_Domain)
_SECRETS: Final = Rows(_Secret)
_ONE: Final = "organization_id = ?"


def find(conn: sqlite3.Connection, organization_id: str) -> IdentityProvider | None:
    """The provider of an organization; None: it has none."""
    rows = _ROWS.find(table(conn, _TABLE), _ONE, (organization_id,))
    return rows[0] if rows else None


def provider(conn: sqlite3.Connection, organization_id: str) -> IdentityProvider:
    """The provider of an organization.

    Raises:
        NotFound: it has none.
    """
    stored = find(conn, organization_id)
    if stored is None:
        raise NotFound(NONE)
    return stored


def of_domain(conn: sqlite3.Connection, domain: str) -> IdentityProvider | None:
    """The provider of a domain that an operator confirmed; None: no organization has one."""
    known = "domain = ? AND confirmed_at IS NOT NULL"
    rows = _DOMAIN_ROWS.find(table(conn, _DOMAINS), known, (domain,))
    return find(conn, rows[0].organization_id) if rows else None


def all_of_them(conn: sqlite3.Connection) -> list[IdentityProvider]:
    """All providers, those with an unconfirmed domain first."""
    providers = _ROWS.find(table(conn, _TABLE), order_by="organization_id")
    return sorted(providers, key=lambda each: len(each.domains) == len(each.confirmed))


def sealed_secret(conn: sqlite3.Connection, organization_id: str) -> str | None:
    """The secret of its client, sealed; None: it has none."""
    rows = _SECRETS.find(table(conn, _TABLE), _ONE, (organization_id,))
    return rows[0].client_secret if rows else None


def _store(
    conn: sqlite3.Connection, new: IdentityProvider, secret: Mapping[str, str | None]
) -> IdentityProvider:
    settings = (name for name in SETTINGS if name != "domains")
    names = ("organization_id", "created_at", "created_by", "updated_at", *settings)
    values = {_COLUMNS.get(name, name): getattr(new, name) for name in names}
    stored, written = writable(conn, _TABLE), {**columns_of(values), **secret}
    if find(conn, new.organization_id) is None:
        stored.insert({"client_secret": None, **written})
    else:
        del written["organization_id"]
        stored.update(new.organization_id, written)
    _put_domains(conn, new.organization_id, new.domains)
    return provider(conn, new.organization_id)


def _put_domains(conn: sqlite3.Connection, organization_id: str, domains: Sequence[str]) -> None:
    """Store a provider's domains; those that stay keep their confirmation."""
    stored = writable(conn, _DOMAINS)
    rows = _DOMAIN_ROWS.find(table(conn, _DOMAINS), _ONE, (organization_id,))
    known = {each.domain for each in rows}
    for domain in known.difference(domains):
        stored.delete((organization_id, domain))
    for domain in sorted({*domains} - known):
        stored.insert({"organization_id": organization_id, "domain": domain, "confirmed_at": None})


def requires(conn: sqlite3.Connection, organization_id: str) -> bool:
    """Whether members enter an organization by its provider alone. A provider without a confirmed
    domain lets nobody in, so that it cannot be required."""
    stored = find(conn, organization_id)
    return stored is not None and stored.required and bool(stored.confirmed)


# -- changes, a unit of work each


def put(
    conn: sqlite3.Connection,
    organization_id: str,
    change: Callable[[IdentityProvider | None], IdentityProvider],
    secret: Mapping[str, str | None],
    actor_id: str | None,
    who: str,
) -> IdentityProvider:
    """Store a provider, new or changed. With another issuer, what the former one said of people is
    forgotten, and their sessions end.

    Args:
        change: makes the new one of the present one; None: there is none yet.
        secret: the column of the client's secret, if it changes.
        actor_id: the owner who asks; None: the operator.

    Raises:
        Forbidden: the actor is no longer an owner.
        Invalid: a value is wrong, or nobody would get in when the provider fails.
    """
    members.refuse_other_than_owner(conn, organization_id, actor_id)
    former = find(conn, organization_id)
    new = change(former)
    if new.required and not any(
        users.has_factor(conn, owner) for owner in members.owners(conn, organization_id)
    ):
        raise Invalid("required", "no_way_back", NO_WAY_BACK)
    stored = _store(conn, new, secret)
    if former is not None and former.issuer != stored.issuer:
        _forget(conn, organization_id)
    if former is None or replace(stored, updated_at=0) != replace(former, updated_at=0) or secret:
        _tell(conn, stored, "set", who)
    return stored


def delete(
    conn: sqlite3.Connection, organization_id: str, actor_id: str | None, who: str
) -> IdentityProvider:
    """Delete a provider; who came by it is signed out, and stays a member.

    Raises:
        NotFound: the organization has none.
        Forbidden: the actor is no longer an owner.
    """
    members.refuse_other_than_owner(conn, organization_id, actor_id)
    deleted = provider(conn, organization_id)
    writable(conn, _DOMAINS).delete_where(_ONE, (organization_id,))
    writable(conn, _TABLE).delete_where(_ONE, (organization_id,))
    _forget(conn, organization_id)
    _tell(conn, deleted, "deleted", who)
    return deleted


def confirm(
    conn: sqlite3.Connection, organization_id: str, domain: str, who: str, now_ms: int
) -> IdentityProvider:
    """Confirm that a domain is the organization's.

    Raises:
        NotFound: the organization did not ask for it.
        Conflict: it is another organization's.
    """
    _refuse_unasked(provider(conn, organization_id), domain)
    other = of_domain(conn, domain)
    if other is not None and other.organization_id != organization_id:
        raise Conflict("The domain is another organization’s. Take it away from that one first.")
    if other is None:
        writable(conn, _DOMAINS).update((organization_id, domain), {"confirmed_at": now_ms})
    stored = provider(conn, organization_id)
    _tell(conn, stored, "confirmed", who, domain, now_ms)
    return stored


def refuse(
    conn: sqlite3.Connection, organization_id: str, domain: str, who: str, now_ms: int
) -> IdentityProvider:
    """Take a domain away from an organization, whether it was confirmed or not. Who came by the
    provider is signed out.

    Raises:
        NotFound: the organization did not ask for it.
    """
    current = provider(conn, organization_id)
    _refuse_unasked(current, domain)
    left = tuple(each for each in current.domains if each != domain)
    stored = _store(conn, replace(current, domains=left, updated_at=now_ms), {})
    if domain in current.confirmed:
        web_sessions.end_bound(conn, organization_id)
    _tell(conn, stored, "refused", who, domain, now_ms)
    return stored


def _refuse_unasked(current: IdentityProvider, domain: str) -> None:
    if domain not in current.domains:
        raise NotFound(f"The organization did not ask for the domain {domain}.")


def _forget(conn: sqlite3.Connection, organization_id: str) -> None:
    identities.forget_of_organization(conn, organization_id)
    web_sessions.end_bound(conn, organization_id)


def _tell(
    conn: sqlite3.Connection,
    provider: IdentityProvider,
    what: str,
    who: str,
    domain: str = "",
    now_ms: int | None = None,
) -> None:
    at = provider.updated_at if now_ms is None else now_ms
    details = {
        "organization": provider.organization_id,
        "issuer": provider.issuer,
        "what": what,
        "domain": domain,
        "who": who,
        "at": at,
    }
    for owner_id in members.owners(conn, provider.organization_id):
        owner = users.user(conn, owner_id)
        mail = NewMail(MailKind.PROVIDER_CHANGED, owner.email, owner.language, details)
        mails.owe(conn, mail, at)
