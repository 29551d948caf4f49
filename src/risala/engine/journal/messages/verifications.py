"""Verification sessions as rows: begun with their SMS, judged, ended, each in one unit of work; and
codes that other software made, which count in the same hours."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal import session_messages
from risala.engine.journal.messages import acceptance, endings, sessions
from risala.engine.journal.messages.answers import known_answer
from risala.engine.journal.messages.sessions import SESSIONS, find, shift
from risala.engine.journal.state import START_CHARACTERS
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable
from risala.engine.journal.webhooks import outbox
from risala.engine.model.audit import AuditEntry, Seen, masked
from risala.engine.model.errors import Conflict, NotFound, RateLimited
from risala.engine.model.events import EventType
from risala.engine.model.features import features
from risala.engine.model.records.messages import (
    Acceptance,
    Change,
    NewCode,
    NewMessage,
    NewSealedCode,
    NewVerification,
    Stamp,
)
from risala.engine.model.states import SessionState
from risala.engine.rules.verification import Trigger, VerificationRow
from risala.engine.rules.verify_settings import BOUNDS, VerifySettings, stored_settings
from risala.sms.code_texts.catalogue import CodeTexts

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
CLEARED_AT_ONCE: Final = 20
"""Sealed codes past their hour that one more deletes: more than come with it."""
_NOT_FOUND: Final = "There is no verification with this id."


def owned(
    conn: sqlite3.Connection, organization_id: str, mode: str, verification_id: str
) -> VerificationRow:
    """A session of this organization and mode.

    Raises:
        NotFound: unknown, or not theirs: the same words for both.
    """
    row = find(conn, verification_id)
    if row is None or row.organization_id != organization_id or row.mode != mode:
        raise NotFound(_NOT_FOUND)
    return row


def started(
    conn: sqlite3.Connection, organization_id: str, mode: str, start: str
) -> VerificationRow:
    """A session of this organization and mode, by the start of its id.

    Raises:
        NotFound: unknown, or not theirs: the same words for both.
    """
    session_id: str | None = None
    if len(start) >= START_CHARACTERS:
        statement = "SELECT id FROM verifications WHERE id >= ? AND id < ? LIMIT 1"
        session_id = value_of(conn, statement, (start, f"{start}~"))
    return owned(conn, organization_id, mode, session_id or "")


def latest_to(
    conn: sqlite3.Connection, organization_id: str, mode: str, recipient: str
) -> VerificationRow:
    """The latest session of a number.

    Raises:
        NotFound: it has no session.
    """
    statement = (
        "SELECT id FROM verifications WHERE organization_id = ? AND mode = ? AND recipient = ?"
        " ORDER BY created_at DESC LIMIT 1"
    )
    session_id = value_of(conn, statement, (organization_id, mode, recipient))
    return owned(conn, organization_id, mode, session_id or "")


def pending_to(
    conn: sqlite3.Connection, organization_id: str, mode: str, recipient: str, now_ms: int
) -> VerificationRow:
    """The newest session of a number that is pending and has a code.

    Raises:
        NotFound: it has none.
    """
    statement = (
        f"SELECT {SESSIONS.columns} FROM verifications"  # noqa: S608 -- constants
        " WHERE organization_id = ? AND mode = ? AND recipient = ? AND created_at > ?"
        " AND status = 'pending' AND expires_at > ? ORDER BY created_at DESC, rowid DESC"
    )
    since = now_ms - BOUNDS["expiry_minutes"].high * MINUTE_MS
    values = (organization_id, mode, recipient, since, now_ms)
    without_code = {each.name for each in features() if each.session_way}
    for row in map(SESSIONS.of, conn.execute(statement, values)):
        if without_code.isdisjoint(row.feature_names):
            return row
    raise NotFound("There is no pending verification of this number.")


def of_operator(conn: sqlite3.Connection, verification_id: str) -> VerificationRow:
    """Any session.

    Raises:
        NotFound: the id is unknown.
    """
    row = find(conn, verification_id)
    if row is None:
        raise NotFound(f"There is no verification {verification_id}.")
    return row


def image(conn: sqlite3.Connection, verification_id: str) -> Seen:
    """What the audit trail shows of a session: no code, and of the number the ends."""
    session = of_operator(conn, verification_id)
    values = {
        "to": masked(session.recipient),
        "status": str(session.status),
        "attempts": session.attempts,
    }
    return Seen(session.organization_id, values)


def check_limits(conn: sqlite3.Connection, new: NewCode) -> None:
    """The hour limits, exact: never more than N accepted sends in any 60 minutes.

    The rate buckets have already checked the room; this is a second check.

    Raises:
        RateLimited: with the whole seconds until the blocking send is an hour old.
    """
    message = new.message
    if message.mode == "test":
        return
    by_phone = (message.organization_id, message.mode, message.recipient)
    since = message.created_at - HOUR_MS
    where = "organization_id = ? AND mode = ? AND recipient = ?"
    at = _nth_last(conn, where, by_phone, since, new.per_phone_per_hour)
    _refuse_within_hour("phone", at, message.created_at)
    by_organization = (message.organization_id, message.mode)
    where = "organization_id = ? AND mode = ?"
    at = _nth_last(conn, where, by_organization, since, new.per_organization_per_hour)
    _refuse_within_hour("organization", at, message.created_at)


def _nth_last(
    conn: sqlite3.Connection, where: str, values: tuple[str, ...], since_ms: int, n: int
) -> int | None:
    at: int | None = value_of(
        conn,
        f"SELECT created_at FROM verifications WHERE {where} AND created_at > ?"  # noqa: S608 -- constants
        f" UNION ALL SELECT created_at FROM hook_codes WHERE {where} AND created_at > ?"
        " ORDER BY created_at DESC LIMIT 1 OFFSET ?",
        (*values, since_ms, *values, since_ms, n - 1),
    )
    return at


def _refuse_within_hour(limit: str, at: int | None, now_ms: int) -> None:
    if at is None:
        return
    whose = "this number" if limit == "phone" else "your organization"
    raise RateLimited(
        limit,
        -((now_ms - at - HOUR_MS) // 1000),
        f"The hourly limit of codes for {whose} is reached. Wait, then try again.",
    )


def accepted_since(
    conn: sqlite3.Connection, organization_id: str, recipient: str | None, since_ms: int
) -> list[int]:
    """When live codes of an organization were accepted after a time; of one number, or of all."""
    whose, values = "", [organization_id]
    if recipient is not None:
        whose, values = " AND recipient = ?", [organization_id, recipient]
    rows = conn.execute(
        "SELECT created_at FROM verifications"  # noqa: S608 -- a constant
        f" WHERE organization_id = ? AND mode = 'live'{whose} AND created_at > ?"
        " UNION ALL SELECT created_at FROM hook_codes"
        f" WHERE organization_id = ? AND mode = 'live'{whose} AND created_at > ?",
        (*values, since_ms, *values, since_ms),
    )
    return [created_at for (created_at,) in rows]


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that was opened."""

    id: str
    accepted: Acceptance
    """The acceptance of the session's SMS."""


def begin(conn: sqlite3.Connection, new: NewVerification, stamp: Stamp | None = None) -> Begun:
    """Accept the code's SMS and open its session, or neither. A number with a fixed code gets no
    SMS: its code counts as sent at once.

    ``stamp`` is given where the organization has senders that wait for volume.

    Raises:
        RateLimited: an hour limit.
        InsufficientBalance, Forbidden: as for any message.
    """
    check_limits(conn, new)
    message = new.message
    accepted = Acceptance((), None, None, whole=True)
    if not new.is_fixed:
        accepted = acceptance.accept_one(conn, message, stamp)
    conn.execute(
        "INSERT INTO verifications (id, organization_id, mode, recipient, status, attempts_max,"
        " code_length, message_id, expires_at, created_at, updated_at, features, language)"
        " VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(new.id, message.organization_id, message.mode, message.recipient),
            *(new.attempts_max, new.code_length, "" if new.is_fixed else message.id),
            new.expires_at,
            *(message.created_at, message.created_at, new.features, new.language),
        ),
    )
    for store in new.stores:
        store(conn)
    if new.is_fixed:
        begun = Stamp(message.created_at)
        outbox.verification_event(conn, new.id, EventType.VERIFY_SENT, begun)
    return Begun(new.id, accepted)


def begin_sealed(
    conn: sqlite3.Connection, new: NewSealedCode, stamp: Stamp | None = None
) -> Acceptance:
    """Accept the SMS of a code that other software made, with its sealed text, or neither.

    With the key of an earlier message nothing is accepted: its answer is the result.

    Args:
        stamp: given where the organization has senders that wait for volume.

    Raises:
        RateLimited: an hour limit.
        InsufficientBalance, Forbidden: as for any message.
    """
    message = new.message
    known = known_answer(conn, message.organization_id, message.mode, message.idempotency_key)
    if known is not None:
        return Acceptance((known,), None, None)
    check_limits(conn, new)
    accepted = acceptance.accept_one(conn, message, stamp)
    count_code(conn, message, new.sealed)
    return accepted


def count_code(conn: sqlite3.Connection, message: NewMessage, sealed: bytes | None) -> None:
    """Let a code that opens no session count in the hours of its number and its organization.

    Args:
        sealed: its text, where other software made it.
    """
    conn.execute(
        "DELETE FROM hook_codes WHERE message IN (SELECT message FROM hook_codes"
        " WHERE sealed IS NULL AND created_at <= ? ORDER BY created_at LIMIT ?)",
        (message.created_at - HOUR_MS, CLEARED_AT_ONCE),
    )
    conn.execute(
        "INSERT INTO hook_codes (message, organization_id, mode, recipient, created_at, sealed)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            *(message.key, message.organization_id, message.mode, message.recipient),
            *(message.created_at, sealed),
        ),
    )


class Overtaken(Conflict):
    """The session has changed since it was judged: judge it again. Nothing is written."""


def settle(
    conn: sqlite3.Connection, row: VerificationRow, trigger: Trigger | None, stamp: Stamp
) -> tuple[Change, ...]:
    """Write the judgement of the session ``row``; a waiting code ends with its session.

    Args:
        trigger: None if nothing changes.

    Raises:
        Overtaken: it has changed since.
    """
    if trigger is None:
        return ()
    state = shift(conn, row, trigger, stamp)
    if state is None:
        raise Overtaken("The verification has changed in the meantime.")
    if state is SessionState.PENDING:
        return ()
    messages = session_messages.messages_of(conn, row)
    entered = session_messages.proven_of(messages) if state is SessionState.APPROVED else None
    changes = [*endings.prove_delivery(conn, entered, stamp)]
    for message in messages:  # a code that is no longer needed is not sent
        changes += endings.withdraw_code(conn, message, state.value, stamp)
    return tuple(changes)


def expire(
    conn: sqlite3.Connection, ids: Sequence[str], stamps: Sequence[Stamp]
) -> tuple[Change, ...]:
    """Expire those of these sessions that are pending and whose time is over; a stamp for each."""
    changes: list[Change] = []
    for verification_id, stamp in zip(ids, stamps, strict=True):
        row = find(conn, verification_id)
        if row is None or row.status is not SessionState.PENDING or row.expires_at > stamp.now_ms:
            continue
        changes += settle(conn, row, Trigger.TIME_OVER, stamp)
    return tuple(changes)


def nearest_deadlines(conn: sqlite3.Connection, count_max: int) -> list[tuple[int, str]]:
    """When the next sessions expire, and which, in order."""
    return conn.execute(
        "SELECT expires_at, id FROM verifications WHERE status = 'pending'"
        " ORDER BY expires_at, id LIMIT ?",
        (count_max,),
    ).fetchall()


def settings(conn: sqlite3.Connection, organization_id: str) -> str | None:
    """The organization's Verify configuration as JSON, if it has one."""
    text: str | None = value_of(
        conn, "SELECT settings FROM verify_settings WHERE organization_id = ?", (organization_id,)
    )
    return text


def settings_image(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    """What the audit trail shows of Verify settings: those that differ from the defaults."""
    text = settings(conn, organization_id)
    return None if text is None else Seen(organization_id, {"settings": text})


def put_settings(conn: sqlite3.Connection, organization_id: str, new: VerifySettings) -> None:
    """Give an organization this Verify configuration."""
    text = new.model_dump_json(exclude_defaults=True)
    stored = writable(conn, "verify_settings")
    stored.upsert({"organization_id": organization_id, "settings": text})


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class VerificationRepository:
    """Sessions, and the settings that they are opened with. All reads are by an index, on the
    loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    find = read(sessions.find)
    session = read(of_operator)
    owned = read(owned)
    starting = read(started)
    latest_to = read(latest_to)
    pending_to = read(pending_to)
    page = read(sessions.page)
    page_by_part = scan(sessions.page)
    funnel = read(sessions.funnel)
    nearest_deadlines = read(nearest_deadlines)
    accepted_since = read(accepted_since)
    sealed = read(sessions.sealed)

    def settings(self, organization_id: str, texts: CodeTexts) -> VerifySettings:
        """The organization's Verify configuration, or the defaults, with the service's texts."""
        text = settings(self._store.reader, organization_id)
        return stored_settings({} if text is None else json.loads(text), texts)

    # -- commands

    def begin(
        self, new: NewVerification, stamp: Stamp | None, by: AuditEntry | None
    ) -> Coroutine[Any, Any, Begun]:
        """Accept a code's SMS and open its session, or neither. A cancellation waits for it.

        Args:
            stamp: given where the organization has senders that wait for volume.

        Raises:
            RateLimited: an hour limit.
            InsufficientBalance, SpendCapReached, Forbidden: as for any message.
        """
        unit = audited(by, lambda conn: begin(conn, new, stamp))
        return self._store.journal.commit_shielded(unit)

    def begin_sealed_code(
        self, new: NewSealedCode, stamp: Stamp | None
    ) -> Coroutine[Any, Any, Acceptance]:
        """Accept the SMS of a code that other software made. A cancellation waits for it.

        Args:
            stamp: given where the organization has senders that wait for volume.

        Raises:
            RateLimited: an hour limit.
            InsufficientBalance, SpendCapReached, Forbidden: as for any message.
        """
        return self._store.journal.commit_shielded(lambda conn: begin_sealed(conn, new, stamp))

    async def settle(
        self, row: VerificationRow, trigger: Trigger | None, stamp: Stamp, by: AuditEntry | None
    ) -> tuple[Change, ...] | None:
        """Write a session's judgement; None: it has changed since ``row`` was read, and has to be
        judged again.

        Args:
            trigger: None if nothing changes.
        """
        try:
            return await self._store.commit(lambda conn: settle(conn, row, trigger, stamp), by)
        except Overtaken:
            return None

    expire = command(expire)
    put_settings = audited_command(put_settings)
