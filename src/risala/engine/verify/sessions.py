"""Verification sessions: the actor that opens, judges and ends them, and keeps their deadlines.

The sessions are rows. The ordered set of deadlines is an index over those that are pending, of
which only the nearest is in memory: a hundred thousand pending sessions cost nothing while they
wait. Every decision is made inside the journal's transaction, so that guesses in parallel, a
deadline and a crash cannot disagree.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Final

import structlog
import trio

from risala.config.model import Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Decider, Later
from risala.engine.intake.intake import Intake
from risala.engine.journal.messages import sessions, verifications
from risala.engine.journal.messages.sessions import VerificationRow
from risala.engine.journal.messages.verifications import NewVerification
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.rows import DueRow
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.model.commands import Mode, Organization, Principal, SendCode, VerificationView
from risala.engine.model.errors import Invalid, Unavailable
from risala.engine.model.ids import IdSource
from risala.engine.rules.template import render
from risala.engine.rules.verification import State
from risala.engine.rules.verify_settings import VerifySettings, parse_verify_settings
from risala.engine.verify.codes import Codes

log = structlog.get_logger(__name__)

EXPIRE_BATCH: Final = 500
"""Sessions that expire in one unit: ten thousand of one second take twenty."""
LOOK_S: Final = 30.0
"""Looks at the deadlines at least this often: the clock on the wall may be set."""
STORAGE_RETRY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Open:
    """Send a code and open its session; answers with the session's id."""

    principal: Principal
    command: SendCode
    by: Signature | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Judge a guess; answers True where it is approved."""

    principal: Principal
    verification_id: str
    code: str
    by: Signature | None = None

    def __repr__(self) -> str:
        return f"Check({self.verification_id})"


@dataclass(frozen=True, slots=True)
class Withdraw:
    """End a session explicitly."""

    verification_id: str
    by: Signature | None = None


SessionsMessage = Open | Check | Withdraw


@dataclass(slots=True)
class Sources:
    """What sessions need of the rest of the engine."""

    settings: Settings
    recorder: Recorder
    reader: sqlite3.Connection
    ids: IdSource
    accounts: Accounts
    intake: Intake
    codes: Codes


class Sessions(Decider[SessionsMessage]):
    def __init__(self, sources: Sources, deadlines: Deadlines) -> None:
        self._have = sources
        self._deadlines = deadlines

    def decide(self, message: SessionsMessage) -> object:
        match message:
            case Open(principal, command, by):
                return Later(self._open, principal, command, by)
            case Check():
                return Later(self._check, message)
            case Withdraw(verification_id, by):
                return Later(self._withdraw, verification_id, by)

    async def _open(self, principal: Principal, command: SendCode, by: Signature | None) -> str:
        organization = self._have.accounts.organization(principal.organization_id)
        new = self._new(organization, principal.mode, command)
        await self._have.intake.send_code(organization, principal.mode, new, by=by)
        self._deadlines.expect(new.expires_at)
        return new.id

    def _new(self, organization: Organization, mode: Mode, command: SendCode) -> NewVerification:
        settings = verify_settings(self._have.reader, organization.id)
        if faults := settings.faults_of(command.locale, command.app_hash, command.origin):
            raise Invalid.of(faults)
        frozen = settings.text(command.locale, command.app_hash, command.origin)
        now_ms = self._have.recorder.clock.now_ms()
        expires_at = now_ms + settings.expiry_minutes * 60_000
        verification_id = self._have.ids.new("ver")
        return NewVerification(
            id=verification_id,
            attempts_max=settings.attempts_max,
            code_length=settings.code_length,
            expires_at=expires_at,
            per_phone_per_hour=settings.per_phone_per_hour,
            per_organization_per_hour=settings.per_organization_per_hour,
            message=self._have.intake.drafts.of_code(
                organization,
                mode,
                recipient=command.to,
                sender=settings.sender,
                template=frozen,
                size=settings.size(frozen),
                verification_id=verification_id,
                now_ms=now_ms,
                expires_at=expires_at,
            ),
        )

    async def _check(self, message: Check) -> bool:
        have, asker = self._have, message.principal
        row = verifications.owned(
            have.reader, asker.organization_id, asker.mode.value, message.verification_id
        )
        test = row.mode == "test"
        matches = have.codes.matches(message.code, row.id, row.code_length, test=test)
        stamp = have.recorder.stamp()
        verdict, changes = await have.recorder.journal.commit(
            signed(
                message.by,
                lambda conn: verifications.check(conn, row.id, stamp, matches=matches),
            )
        )
        have.recorder.tell(changes)
        return verdict.approved

    async def _withdraw(self, verification_id: str, by: Signature | None) -> None:
        stamp = self._have.recorder.stamp()
        changes = await self._have.recorder.journal.commit(
            signed(by, lambda conn: verifications.cancel(conn, verification_id, stamp))
        )
        self._have.recorder.tell(changes)


class Deadlines:
    """Expires sessions on time; one task for all of them."""

    def __init__(self, recorder: Recorder, reader: sqlite3.Connection) -> None:
        self._recorder = recorder
        self._reader = reader
        self._wake = trio.Event()
        self._looks_at_ms = 0

    def expect(self, at_ms: int) -> None:
        """A session was opened: wake earlier if its end is the nearest."""
        if at_ms < self._looks_at_ms:
            self._wake.set()

    async def settle(self) -> None:
        """Expire every session whose time is over.

        Raises:
            Unavailable: it could not be written.
        """
        while True:
            now_ms = self._recorder.clock.now_ms()
            count = verifications.count_due(self._reader, now_ms, EXPIRE_BATCH)
            if count == 0:
                return
            stamps = [self._recorder.stamp() for _ in range(count)]
            _, changes = await self._recorder.journal.commit(
                lambda conn, stamps=stamps: verifications.expire_due(conn, stamps)  # type: ignore[misc]
            )
            self._recorder.tell(changes)

    async def keep(self) -> None:
        """Settle what is due, for life."""
        while True:
            try:
                await self.settle()
            except Unavailable as error:
                log.warning("sessions.storage", reason=str(error))
                await trio.sleep(STORAGE_RETRY_S)
                continue
            now_ms = self._recorder.clock.now_ms()
            look_ms = now_ms + round(LOOK_S * 1000)
            next_ms = verifications.next_deadline(self._reader)
            self._looks_at_ms = look_ms if next_ms is None else min(next_ms, look_ms)
            with trio.move_on_after(max(0, self._looks_at_ms - now_ms) / 1000):
                await self._wake.wait()
            self._wake = trio.Event()


def verify_settings(reader: sqlite3.Connection, organization_id: str) -> VerifySettings:
    """The organization's Verify configuration, or the defaults."""
    text = verifications.settings(reader, organization_id)
    return VerifySettings() if text is None else parse_verify_settings(_loads(text))


def _loads(text: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(text)
    return values


def text_of(row: DueRow, reader: sqlite3.Connection, codes: Codes) -> str:
    """What is sent for a queued row: for a code, its template with the code in it."""
    if row.verification_id is None:
        return row.body
    session = sessions.find(reader, row.verification_id)
    assert session is not None
    code = codes.code(session.id, session.code_length, test=session.mode == "test")
    return render(row.body, code)


def view_of(row: VerificationRow, now_ms: int) -> VerificationView:
    """A session as it is seen: never pending when its time is over."""
    over = row.status is State.PENDING and now_ms >= row.expires_at
    return VerificationView(
        id=row.id,
        organization_id=row.organization_id,
        mode=Mode(row.mode),
        to=row.recipient,
        status=State.EXPIRED if over else row.status,
        reason="expired" if over else row.reason,
        attempts=row.attempts,
        expires_at=row.expires_at,
        created_at=row.created_at,
        updated_at=row.expires_at if over else row.updated_at,
        message_id=row.message_id,
    )
