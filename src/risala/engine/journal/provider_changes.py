"""Changes of organizations' identity providers, a unit of work each. All owners are told by mail:
who changes the provider decides who gets in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from risala.engine.journal.people import identities, mails, members, providers, users, web_sessions
from risala.engine.model.errors import Invalid
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.model.records.people.providers import IdentityProvider

NO_WAY_BACK: Final = (
    "First let an owner set up a passkey or an authenticator app: with an e-mail code and that they"
    " get in when the identity provider fails."
)


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
    former = providers.find(conn, organization_id)
    new = change(former)
    if new.required and not any(
        users.has_factor(conn, owner) for owner in members.owners(conn, organization_id)
    ):
        raise Invalid("required", "no_way_back", NO_WAY_BACK)
    stored = providers.put(conn, new, secret)
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
    found = providers.provider(conn, organization_id)
    providers.delete(conn, organization_id)
    _forget(conn, organization_id)
    _tell(conn, found, "deleted", who)
    return found


def confirm(
    conn: sqlite3.Connection, organization_id: str, domain: str, who: str, now_ms: int
) -> IdentityProvider:
    """Confirm that a domain is the organization's.

    Raises:
        NotFound: the organization did not ask for it.
        Conflict: it is another organization's.
    """
    providers.confirm(conn, organization_id, domain, now_ms)
    stored = providers.provider(conn, organization_id)
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
    found = providers.provider(conn, organization_id)
    if domain not in found.domains:
        providers.confirm(conn, organization_id, domain, now_ms)  # says that nobody asked for it
    left = tuple(each for each in found.domains if each != domain)
    stored = providers.put(conn, replace(found, domains=left, updated_at=now_ms), {})
    if domain in found.confirmed:
        web_sessions.end_bound(conn, organization_id)
    _tell(conn, stored, "refused", who, domain, now_ms)
    return stored


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
