"""Verification sessions and organizations' Verify settings."""

from __future__ import annotations

import json
from collections.abc import Coroutine
from typing import Any

from risala.dataclass import dataclass
from risala.engine.journal.messages import sessions, verifications
from risala.engine.journal.messages.verifications import Begun, Overtaken
from risala.engine.journal.pages import sessions as lists
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.messages import (
    Acceptance,
    Change,
    NewSealedCode,
    NewVerification,
    Stamp,
)
from risala.engine.rules.verification import Trigger, VerificationRow
from risala.engine.rules.verify_settings import VerifySettings, parse_verify_settings


@dataclass(frozen=True, slots=True)
class VerificationRepository:
    """Sessions, and the settings that they are opened with. All reads are by an index, on the
    loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    find = read(sessions.find)
    session = read(verifications.of_operator)
    owned = read(verifications.owned)
    starting = read(verifications.started)
    latest_to = read(verifications.latest_to)
    page = read(lists.page)
    page_by_part = scan(lists.page)
    nearest_deadlines = read(verifications.nearest_deadlines)
    accepted_since = read(verifications.accepted_since)
    sealed = read(sessions.sealed)

    def settings(self, organization_id: str) -> VerifySettings:
        """The organization's Verify configuration, or the defaults."""
        text = verifications.settings(self._store.reader, organization_id)
        return VerifySettings() if text is None else parse_verify_settings(json.loads(text))

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
        unit = audited(by, lambda conn: verifications.begin(conn, new, stamp))
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
        return self._store.journal.commit_shielded(
            lambda conn: verifications.begin_sealed(conn, new, stamp)
        )

    async def settle(
        self, row: VerificationRow, trigger: Trigger | None, stamp: Stamp, by: AuditEntry | None
    ) -> tuple[Change, ...] | None:
        """Write a session's judgement; None: it has changed since ``row`` was read, and has to be
        judged again.

        Args:
            trigger: None if nothing changes.
        """
        try:
            return await self._store.commit(
                lambda conn: verifications.settle(conn, row, trigger, stamp), by
            )
        except Overtaken:
            return None

    expire = command(verifications.expire)
    put_settings = audited_command(verifications.put_settings)
