"""Units of work with an audit entry: their line of the audit trail is in their transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from risala.engine.journal.accounts import accounts, countries, senders
from risala.engine.journal.carriers import overrides
from risala.engine.journal.inbound import inbound, opt_outs
from risala.engine.journal.messages import reads, verifications
from risala.engine.journal.people import members, users
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.upkeep import audit_log
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.audit import AuditEntry, AuditImage, Seen, masked
from risala.engine.model.errors import NotFound
from risala.engine.model.features import features, required
from risala.engine.model.records.people.members import member_of
from risala.engine.model.records.people.users import versioned
from risala.engine.model.records.record import audit_image

T = TypeVar("T")


def audited(by: AuditEntry | None, unit: Unit[T]) -> Unit[T]:
    """The unit, which then writes its line in the trail; None: the engine's own unit, without a
    line.

    The object is read before and after. A unit that changes nothing writes no line, unless the
    entry requires it.
    """
    if by is None:
        return unit

    def with_line(conn: sqlite3.Connection) -> T:
        audit_log.refuse_changed(conn, by)
        if by.approval_id is not None:
            required(lambda feature: feature.settles)(conn, by, by.approval_id)
        before = seen_of(conn, by, by.subject)
        changes = conn.total_changes
        answer = unit(conn)
        if by.always or conn.total_changes != changes:
            subject = by.subject or getattr(answer, "id", None)
            after = seen_of(conn, by, subject)
            seen = after or before
            audit_log.write(
                conn,
                by,
                subject=subject,
                organization_id=None if seen is None else seen.organization_id,
                before=None if before is None else before.values,
                after=None if after is None else after.values,
            )
        return answer

    return with_line


# The state of objects before and after a change, for the audit trail: no secret, code, text of a
# message or whole phone number.

Look = Callable[[sqlite3.Connection, str], Any]
"""Reads an object by its id: its record, whose fields say what the trail shows, or what it shows.
None, or ``NotFound``: it does not exist."""


def seen_of(conn: sqlite3.Connection, entry: AuditEntry, subject: str | None) -> Seen | None:
    """The state of an entry's object; None: it does not exist, or nothing is read."""
    if entry.image is None or subject is None:
        return None
    if entry.image is AuditImage.MEMBER:
        return member(conn, entry.organization_id or "", subject)
    try:
        found = _look_of(entry.image)(conn, subject)
    except NotFound:
        return None
    if found is None or isinstance(found, Seen):
        return found
    return Seen(getattr(found, "organization_id", None), audit_image(found))


def _look_of(image: AuditImage) -> Look:
    """How the objects of a kind are read: ours, or by the feature that has them."""
    look = _LOOKS.get(image)
    if look is not None:
        return look
    declared = next(each.images[image] for each in features() if image in each.images)
    found: Look = declared()
    return found


def origin(url: str) -> str:
    """Scheme and host of a URL; its path and query are omitted, since they may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}"


def organization(conn: sqlite3.Connection, organization_id: str) -> Seen:
    found = accounts.organization(conn, organization_id)
    return Seen(found.id, audit_image(found))


def override(conn: sqlite3.Connection, carrier: str) -> Seen | None:
    """An operator's override of a carrier."""
    found = overrides.of_carrier(conn, carrier)
    values = {} if found is None else {"ratePerS": found.rate_per_s, "weight": found.weight}
    return Seen(None, values)


def message(conn: sqlite3.Connection, message_id: str) -> Seen | None:
    found = reads.view(conn, message_id)
    if found is None:
        return None
    return Seen(found.organization_id, {**audit_image(found), "to": masked(found.to)})


def verification(conn: sqlite3.Connection, verification_id: str) -> Seen:
    found = verifications.of_operator(conn, verification_id)
    values = {
        "to": masked(found.recipient),
        "status": str(found.status),
        "attempts": found.attempts,
    }
    return Seen(found.organization_id, values)


def verify_settings(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    """The stored settings: those that differ from the defaults."""
    text = verifications.settings(conn, organization_id)
    return None if text is None else Seen(organization_id, {"settings": text})


def endpoint(conn: sqlite3.Connection, endpoint_id: str) -> Seen:
    found = webhooks.endpoint(conn, endpoint_id)
    image = audit_image(found)
    image |= {"url": origin(found.url), "headers": sorted(found.headers)}
    image["template"] = len(found.template)  # it may contain a secret, as a URL may
    return Seen(found.organization_id, image)


def route(conn: sqlite3.Connection, route_id: str) -> Seen | None:
    found = next((each for each in inbound.routes(conn) if each.id == route_id), None)
    if found is None:
        return None
    return Seen(
        found.organization_id, {"number": found.number or "", "keyword": found.keyword or ""}
    )


def opt_out_policy(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    heeds = organization_id in opt_outs.policies(conn)
    return Seen(organization_id, {"heeds": heeds})


def user(conn: sqlite3.Connection, user_id: str) -> Seen | None:
    found = users.find(conn, user_id)
    return None if found is None else Seen(None, audit_image(versioned(found)))


def member(conn: sqlite3.Connection, organization_id: str, user_id: str) -> Seen | None:
    """A user as a member of one organization."""
    found, known = members.find(conn, organization_id, user_id), users.find(conn, user_id)
    if found is None or known is None:
        return None
    return Seen(organization_id, audit_image(member_of(found, known)))


def opened_countries(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What an organization reaches abroad."""
    return Seen(organization_id, audit_image(countries.opened(conn, organization_id)))


_LOOKS: Final[Mapping[AuditImage, Look]] = {
    AuditImage.COUNTRIES: opened_countries,
    AuditImage.ENDPOINT: endpoint,
    AuditImage.INVITATION: members.stored_invitation,
    AuditImage.KEY: accounts.key,
    AuditImage.MESSAGE: message,
    AuditImage.OPT_OUT_POLICY: opt_out_policy,
    AuditImage.ORGANIZATION: organization,
    AuditImage.OVERRIDE: override,
    AuditImage.ROUTE: route,
    AuditImage.SENDER: senders.sender,
    AuditImage.USER: user,
    AuditImage.VERIFICATION: verification,
    AuditImage.VERIFY_SETTINGS: verify_settings,
}
