"""Signing in by an organization's own identity provider, as a unit of work.

The session enters this organization alone, and nothing of the user's account: the provider is run
by a customer, who must not become other people elsewhere by it. Its word is therefore enough where
it counts: no second factor of ours is asked for.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import partial
from typing import Final

from risala.engine.journal import member_changes, signing_in_identities
from risala.engine.journal.accounts import accounts
from risala.engine.journal.audit.audited import audited
from risala.engine.journal.people import identities, members, providers, users, web_sessions
from risala.engine.journal.signing_in import enter
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import IdentityFault
from risala.engine.model.people import User
from risala.engine.model.people_records.identities import ShownIdentity
from risala.engine.model.people_records.sign_in import Entrant, LetIn, TurnedAway
from risala.engine.rules.people.emails import domain_of
from risala.engine.rules.people.entering import SignInRules
from risala.engine.rules.people.lifetimes import HOUR_MS

ROLE: Final = "sign_in.member_role"
"""The line of the trail for a membership that a provider makes or changes."""


def enter_member(
    conn: sqlite3.Connection, shown: ShownIdentity, entrant: Entrant, rules: SignInRules
) -> LetIn | TurnedAway:
    """Sign a person in to the organization of a provider, with the role that it gives.

    Raises:
        Conflict: the organization has too many members, or the person too many organizations.
    """
    organization_id = shown.organization_id
    turn_away = partial(signing_in_identities.turned_away, conn, shown=shown, entrant=entrant)
    provider = providers.find(conn, organization_id)
    if provider is None or provider.issuer != shown.issuer:
        return turn_away(fault=IdentityFault.NOT_BEGUN, rules=rules)  # it was changed meanwhile
    if domain_of(shown.email) not in provider.confirmed:
        return turn_away(fault=IdentityFault.DOMAIN, rules=rules)
    if accounts.organization(conn, organization_id).factor_required and not shown.two_factors:
        return turn_away(fault=IdentityFault.ONE_FACTOR, rules=rules)
    known = signing_in_identities.user_of(conn, shown)
    if isinstance(known, IdentityFault):
        return turn_away(fault=known, rules=rules)
    user = known or users.add(conn, entrant.user)
    signing_in_identities.note_use(conn, user, shown, entrant.now_ms)
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
    found = identities.find(conn, organization_id, issuer, subject)
    return [] if found is None else web_sessions.end_bound(conn, organization_id, found.user_id)


def _become_member(
    conn: sqlite3.Connection, user: User, shown: ShownIdentity, now_ms: int, *, gives_roles: bool
) -> None:
    """Make the person a member, or give them the provider's role; the last owner stays one."""
    organization_id, role = shown.organization_id, shown.role
    assert isinstance(role, Role), "who has none was refused"
    found = members.find(conn, organization_id, user.id)
    if found is not None and (found.role is role or not gives_roles):
        return
    if found is not None and members.owners(conn, organization_id) == [user.id]:
        return
    hand = AuditEntry(
        caller=Caller(user.email, CallerKind.DASHBOARD, Role.USER, None, user.id),
        action=ROLE,
        at=now_ms,
        subject=user.id,
        image=AuditImage.MEMBER,
        organization_id=organization_id,
        said={"by": "oidc"},
    )
    if found is None:
        make = partial(
            member_changes.add,
            organization_id=organization_id,
            new=user,
            role=role,
            now_ms=now_ms,
        )
        audited(hand, make)(conn)
    else:
        change = partial(
            member_changes.set_role,
            organization_id=organization_id,
            user_id=user.id,
            role=role,
            actor_id=None,
            now_ms=now_ms,
        )
        audited(hand, change)(conn)
