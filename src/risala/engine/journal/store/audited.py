"""Units of work with an audit entry: their line of the audit trail is in their transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from risala.engine.journal.store import audit_log
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.audit import AuditEntry, AuditImage, Seen
from risala.engine.model.errors import NotFound
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Declared, features, later, required
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
            required(Duty.CONFIRMED)(conn, by, by.approval_id)
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
        seen: Seen | None = _MEMBER()(conn, entry.organization_id or "", subject)
        return seen
    try:
        stored = _look_of(entry.image)(conn, subject)
    except NotFound:
        return None
    if stored is None or isinstance(stored, Seen):
        return stored
    return Seen(getattr(stored, "organization_id", None), audit_image(stored))


@cache
def _look_of(image: AuditImage) -> Look:
    """How the objects of a kind are read: ours, or by the feature that has them."""
    of_features = (each.images[image] for each in features() if image in each.images)
    look: Look = (LOOKS.get(image) or next(of_features))()
    return look


LOOKS: Final[Mapping[AuditImage, Declared]] = {
    AuditImage.COUNTRIES: later("journal.accounts.accounts:countries_image"),
    AuditImage.ENDPOINT: later("journal.webhooks.endpoints:image"),
    AuditImage.INVITATION: later("journal.people.members:stored_invitation"),
    AuditImage.KEY: later("journal.accounts.keys:key"),
    AuditImage.MESSAGE: later("journal.messages.reads:image"),
    AuditImage.OPT_OUT_POLICY: later("journal.inbound.opt_outs:policy_image"),
    AuditImage.ORGANIZATION: later("journal.accounts.accounts:organization_image"),
    AuditImage.OVERRIDE: later("journal.carriers:override_image"),
    AuditImage.ROUTE: later("journal.inbound.inbound:route_image"),
    AuditImage.SENDER: later("journal.accounts.senders:sender"),
    AuditImage.USER: later("journal.people.users:image"),
    AuditImage.VERIFICATION: later("journal.messages.verifications:image"),
    AuditImage.VERIFY_SETTINGS: later("journal.messages.verifications:settings_image"),
}
"""What the core's operations change; the nouns lie above, and are imported when first read. Of a
member, the organization is needed as well."""
_MEMBER: Final = later("journal.people.members:image")
