"""Signing in by an identity provider as units of work.

A user is found by what the provider calls the person, who keeps that for ever. Only the first time
it is the e-mail address that decides: one that the provider verified, of a domain that it is
trusted with.

A session by an organization's own provider enters this organization alone, and nothing of the
user's account: the provider is run by a customer, who must not become other people elsewhere by it.
Its word is therefore enough where it counts: no second factor of ours is asked for.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import partial
from typing import Final

from risala.engine.features.providers.records import LinkedIdentity, ShownIdentity
from risala.engine.features.providers.stored import identities, providers
from risala.engine.journal.accounts import accounts, memberships
from risala.engine.journal.people import members, user_changes, users, web_sessions
from risala.engine.journal.people.signing_in import (
    await_or_enter,
    caller_kind,
    enter,
    failure_of,
    freshened,
    request_by,
    turn_away,
)
from risala.engine.journal.store.audited import audited
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import Caller, CallerKind, OperatorRole, Role
from risala.engine.model.errors import IdentityFault, IdentityRefused
from risala.engine.model.people import FactorAwaited, SessionKind, User
from risala.engine.model.people_records import (
    Entrant,
    FailureReason,
    LetIn,
    TurnedAway,
)
from risala.engine.rules.people.emails import domain_of
from risala.engine.rules.people.entering import SignInRules
from risala.engine.rules.people.lifetimes import HOUR_MS

ROLE: Final = "sign_in.member_role"
"""The line of the trail for a membership that a provider makes or changes."""


def enter_by_identity(
    conn: sqlite3.Connection, shown: ShownIdentity, entrant: Entrant, rules: SignInRules
) -> LetIn | FactorAwaited | TurnedAway:
    """Sign an operator in, with the role that the provider gives. Who has a second factor here
    shows it too, unless the provider asked for two.

    Raises:
        Conflict: with that role the operators would be without an administrator.
    """
    known = user_of(conn, shown)
    if isinstance(known, IdentityFault):
        return turned_away(conn, known, shown, entrant, rules)
    if (known is None or not known.operator) and not (shown.makes and shown.role):
        return turned_away(conn, IdentityFault.NOT_OPERATOR, shown, entrant, rules)
    is_new = known is None
    role = shown.role if isinstance(shown.role, OperatorRole) else None
    user = _with_role(conn, known or users.add(conn, entrant.user), role, entrant.now_ms)
    note_use(conn, user, shown, entrant.now_ms)
    if shown.two_factors:
        entrant = replace(entrant, device=replace(entrant.device, two_factors=True))
        return replace(enter(conn, entrant, user, "oidc"), is_new=is_new)
    request = request_by(entrant, user, entrant.device.kind)
    return await_or_enter(conn, entrant, user, request, "oidc")


def freshen_by_identity(
    conn: sqlite3.Connection,
    session_id: str,
    shown: ShownIdentity,
    entrant: Entrant,
    rules: SignInRules,
) -> bool | TurnedAway:
    """A user in a session signed in at the provider again; True: the session is fresh.

    Args:
        entrant: the session's user and device.
    """
    identity = _linked(conn, shown)
    if identity is None or identity.user_id != entrant.user.id:
        return turned_away(conn, IdentityFault.OTHER_PERSON, shown, entrant, rules)
    needs_two = not shown.organization_id and users.has_factor(conn, entrant.user.id)
    if needs_two and not shown.two_factors:
        return turned_away(conn, IdentityFault.STALE, shown, entrant, rules)
    identities.used(conn, identity, entrant.now_ms)
    freshened(conn, session_id, entrant, "oidc")
    return True


def enter_member(
    conn: sqlite3.Connection, shown: ShownIdentity, entrant: Entrant, rules: SignInRules
) -> LetIn | TurnedAway:
    """Sign a person in to the organization of a provider, with the role that it gives.

    Raises:
        Conflict: the organization has too many members, or the person too many organizations.
    """
    organization_id = shown.organization_id
    refuse = partial(turned_away, conn, shown=shown, entrant=entrant)
    provider = providers.find(conn, organization_id)
    if provider is None or provider.issuer != shown.issuer:
        return refuse(fault=IdentityFault.NOT_BEGUN, rules=rules)  # it was changed meanwhile
    if domain_of(shown.email) not in provider.confirmed:
        return refuse(fault=IdentityFault.DOMAIN, rules=rules)
    if accounts.organization(conn, organization_id).factor_required and not shown.two_factors:
        return refuse(fault=IdentityFault.ONE_FACTOR, rules=rules)
    known = user_of(conn, shown)
    if isinstance(known, IdentityFault):
        return refuse(fault=known, rules=rules)
    user = known or users.add(conn, entrant.user)
    note_use(conn, user, shown, entrant.now_ms)
    _become_member(conn, user, shown, entrant.now_ms, gives_roles=provider.gives_roles)
    device = replace(
        entrant.device,
        organization_id=organization_id,
        expires_at=entrant.now_ms + provider.session_hours * HOUR_MS,
        two_factors=shown.two_factors,
        # A session at the provider from this morning shows nothing fresh.
        fresh_at=entrant.now_ms if shown.is_anew else 0,
    )
    return replace(enter(conn, replace(entrant, device=device), user, "oidc"), is_new=known is None)


def refuse_without_role(
    conn: sqlite3.Connection, organization_id: str, issuer: str, subject: str
) -> list[str]:
    """The provider gives a person no role any more: what they have open by it ends.

    Returns:
        The users whose sessions ended.
    """
    identity = identities.find(conn, organization_id, issuer, subject)
    return (
        [] if identity is None else web_sessions.end_bound(conn, organization_id, identity.user_id)
    )


def _become_member(
    conn: sqlite3.Connection, user: User, shown: ShownIdentity, now_ms: int, *, gives_roles: bool
) -> None:
    """Make the person a member, or give them the provider's role; the last owner stays one."""
    organization_id, role = shown.organization_id, shown.role
    assert isinstance(role, Role), "who has none was refused"
    membership = members.find(conn, organization_id, user.id)
    if membership is not None and (membership.role is role or not gives_roles):
        return
    if membership is not None and members.owners(conn, organization_id) == [user.id]:
        return
    entry = AuditEntry(
        caller=Caller(user.email, CallerKind.DASHBOARD, Role.USER, None, user.id),
        action=ROLE,
        at=now_ms,
        subject=user.id,
        image=AuditImage.MEMBER,
        organization_id=organization_id,
        details={"by": "oidc"},
    )
    if membership is None:
        make = partial(
            memberships.add,
            organization_id=organization_id,
            new=user,
            role=role,
            now_ms=now_ms,
        )
        audited(entry, make)(conn)
    else:
        change = partial(
            memberships.set_role,
            organization_id=organization_id,
            user_id=user.id,
            role=role,
            actor_id=None,
            now_ms=now_ms,
        )
        audited(entry, change)(conn)


def user_of(conn: sqlite3.Connection, shown: ShownIdentity) -> User | IdentityFault | None:
    """The user whose account at the provider it is; the first time the one with the address."""
    identity = _linked(conn, shown)
    if identity is not None:
        return users.user(conn, identity.user_id)
    known = users.by_email(conn, shown.email)
    has_another = known is not None and _has_linked(conn, known.id, shown)
    # Then the provider has given the address to another person.
    return IdentityFault.OTHER_ACCOUNT if has_another else known


def _linked(conn: sqlite3.Connection, shown: ShownIdentity) -> LinkedIdentity | None:
    return identities.find(conn, shown.organization_id, shown.issuer, shown.subject)


def _has_linked(conn: sqlite3.Connection, user_id: str, shown: ShownIdentity) -> bool:
    """Whether a user has an account at the provider, which may be another one."""
    whose = (user_id, shown.organization_id, shown.issuer)
    return identities.of_user(conn, *whose) is not None


def _with_role(
    conn: sqlite3.Connection, user: User, role: OperatorRole | None, now_ms: int
) -> User:
    """The user, with the operator's role that the provider gives; with its line in the trail."""
    if role is None or user.operator_role is role:
        return user
    entry = AuditEntry(
        caller=Caller(user.email, caller_kind(SessionKind.OPERATOR), Role.USER, None, user.id),
        action="sign_in.operator_role",
        at=now_ms,
        subject=user.id,
        image=AuditImage.USER,
        details={"by": "oidc"},
    )
    change = partial(
        user_changes.change_by_operator,
        user_id=user.id,
        values={"operator": True, "operator_role": role.value},
        now_ms=now_ms,
    )
    changed, _ = audited(entry, change)(conn)
    return changed


def note_use(conn: sqlite3.Connection, user: User, shown: ShownIdentity, now_ms: int) -> None:
    """The person signed in at the provider: from now on its name for them counts."""
    identity = _linked(conn, shown)
    if identity is None:
        made_for = (shown.organization_id, shown.issuer, shown.subject)
        identities.add(conn, LinkedIdentity(*made_for, user.id, now_ms, now_ms))
    else:
        identities.used(conn, identity, now_ms)


def turned_away(
    conn: sqlite3.Connection,
    fault: IdentityFault,
    shown: ShownIdentity,
    entrant: Entrant,
    rules: SignInRules,
) -> TurnedAway:
    """Refuse a person whom the provider vouches for."""
    failure = failure_of(entrant, entrant.device.kind, shown.email, FailureReason.NOT_ALLOWED)
    return turn_away(conn, failure, IdentityRefused(fault), rules)
