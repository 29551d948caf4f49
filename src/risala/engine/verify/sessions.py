"""Verification sessions: the actor that opens, judges and ends them, and keeps their deadlines.

The sessions are rows; in memory are the order of guesses and the nearest deadlines. Guesses at one
session are judged one after the other, in the order in which they came, each by the row that the
one before left; guesses at different sessions at the same time. A judgement is written only if the
row is unchanged since it was judged, in case this actor crashes during the write.

The actor also expires sessions: :func:`keep_settling` asks it to, whenever one is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import Final

import trio

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Decider, Later, Ref
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.intake.intake import Intake
from risala.engine.journal.messages.verifications import VerificationRepository
from risala.engine.journal.recorder import Recorder
from risala.engine.model.audit import AuditEntry
from risala.engine.model.clock import Clock
from risala.engine.model.commands import NOTHING_BESIDE, Beside, Principal, SendCode
from risala.engine.model.errors import Invalid, OutcomeUnknown, Unavailable
from risala.engine.model.ids import IdSource
from risala.engine.model.records.messages import DueRow, NewVerification, Stamp
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.model.states import Mode, SessionState
from risala.engine.rules.keyring import Codes, is_code
from risala.engine.rules.sealing import Seal
from risala.engine.rules.verification import Trigger, VerificationRow, judge
from risala.engine.rules.verify_settings import size_of
from risala.engine.verify.deadlines import Deadline, Deadlines
from risala.engine.verify.session_features import (
    CodeCheck,
    Opening,
    SessionFeatures,
    derived_code,
    written,
)
from risala.engine.verify.turns import Turn, Turns

DEADLINES_MAX: Final = 2000
"""Deadlines in memory, about 250 bytes each; reading them blocks the loop for some 4 ms."""
EXPIRE_BATCH: Final = 500
"""Sessions that expire in one unit: ten thousand that are due in one second take twenty units."""
RELOAD_S: Final = 30.0
"""Seconds after which the deadlines are read again. A deadline can be missing only if a commit
outlived the actor that requested it; until the next reading its session merely expires late, and
every reader sees that it is over."""
LINE_MAX: Final = 512
"""Guesses at one session that may wait; a session ends after a hundred wrong ones at most."""
AT_ONCE_MAX: Final = 4096
"""Sends and checks that may be under way, as many as the journal lets wait; others wait for
them."""


@dataclass(frozen=True, slots=True)
class Open:
    """Send a code and open its session; answers with the session's id."""

    principal: Principal
    command: SendCode
    by: AuditEntry | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge a guess; answers True if it is approved."""

    principal: Principal
    verification_id: str
    code: str | None
    """None: ``beside`` says something else."""
    by: AuditEntry | None = None
    beside: Beside = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Judge({self.verification_id})"


@dataclass(frozen=True, slots=True)
class Withdraw:
    """End a session by hand."""

    verification_id: str
    by: AuditEntry | None = None


@dataclass(frozen=True, slots=True)
class ExpireDue:
    """Expire the sessions that are due, one batch at most.

    Answers with when to ask again, in UTC epoch milliseconds, or None if none is pending.
    """


@dataclass(frozen=True, slots=True)
class Reload:
    """Deadlines in the journal were changed from outside: the wall clock was set back."""


SessionsMessage = Open | Judge | Withdraw | ExpireDue | Reload


FixedCode = Callable[[str, str, int], str | None]
"""The code of an organization's number that gets no SMS, at a time; None: it gets one."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What sessions need of the rest of the engine."""

    settings: Settings
    recorder: Recorder
    stored: VerificationRepository
    ids: IdSource
    accounts: Accounts
    intake: Intake
    codes: Codes
    features: SessionFeatures
    alarm: Alarm
    """Wakes :func:`keep_settling`; called for each new deadline."""
    items: ItemLoop
    """Keeps sessions aside that cannot be expired."""
    fixed_code: FixedCode


class VerificationSessions(Decider[SessionsMessage]):
    """The actor; see the module's text."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._deadlines = Deadlines(sources.stored.nearest_deadlines, DEADLINES_MAX)
        self._loaded_s = 0.0
        self._turns = Turns(LINE_MAX)

    async def started(self) -> None:
        self._load()

    def decide(self, message: SessionsMessage) -> object:
        match message:
            case Open(principal, command, by):
                return Later(self._open, principal, command, by)
            case Judge():
                return self._judge(message)
            case Withdraw():
                return Later(self._withdraw, message)
            case ExpireDue():
                return self._settle_due()
            case Reload():
                self._load()
        return None

    def _load(self) -> None:
        self._deadlines.load()
        self._loaded_s = trio.current_time()
        self._sources.alarm.ring()

    async def _open(self, principal: Principal, command: SendCode, by: AuditEntry | None) -> str:
        organization = self._sources.accounts.organization(principal.organization_id)
        new, when_open = await self._new(organization, principal, command)
        try:
            await self._sources.intake.send_code(organization, principal.mode, new, by=by)
        except OutcomeUnknown:
            self._expect(new, when_open)  # the session may be on disk nevertheless
            raise
        self._expect(new, when_open)
        return new.id

    def _expect(self, new: NewVerification, when_open: Iterable[Callable[[], None]]) -> None:
        self._deadlines.add((new.expires_at, new.id))
        self._sources.alarm.expect(new.expires_at)
        for tell in when_open:
            tell()

    async def _new(
        self, organization: Organization, principal: Principal, command: SendCode
    ) -> tuple[NewVerification, Iterable[Callable[[], None]]]:
        settings = self._sources.stored.settings(organization.id, self._sources.settings.code_texts)
        if faults := settings.faults_of(command.locale, command.app_hash, command.origin):
            raise Invalid.of(faults)
        frozen = settings.text(command.locale, command.app_hash, command.origin)
        now_ms = self._sources.recorder.clock.now_ms()
        expires_at = now_ms + settings.expiry_minutes * 60_000
        opening = Opening(
            self._sources.ids.new("ver"),
            organization.id,
            principal.mode,
            principal.type,
            principal,
            command,
            settings,
            now_ms,
            frozen,
            settings.code_length,
            is_fixed=self._fixed(principal.mode, organization.id, command.to, now_ms) is not None,
        )
        opening = await self._sources.features.open(opening)
        new = NewVerification(
            id=opening.id,
            attempts_max=settings.attempts_max,
            code_length=opening.code_length,
            language=settings.language_of(command.locale, has_own_text=opening.text != frozen),
            expires_at=expires_at,
            features=" ".join(opening.features) or None,
            stores=opening.stores,
            is_fixed=opening.is_fixed,
            per_phone_per_hour=settings.per_phone_per_hour,
            per_organization_per_hour=opening.settings.per_organization_per_hour,
            message=self._sources.intake.drafts.of_code(
                organization,
                principal,
                recipient=command.to,
                sender=settings.sender,
                template=opening.text,
                size=size_of(written(opening.text, opening.words), opening.code_length),
                verification_id=opening.id,
                now_ms=now_ms,
                expires_at=expires_at,
                leaves=opening.leaves,
            ),
        )
        return new, opening.when_open

    def _fixed(self, mode: str, organization_id: str, number: str, now_ms: int) -> str | None:
        return self._sources.fixed_code(organization_id, number, now_ms) if mode == "live" else None

    def _judge(self, message: Judge) -> object:
        row = self._owned_row(message)
        is_over = row.status is not SessionState.PENDING
        if is_over and message.by is None and not (row.is_fixed and row.features):
            return False  # the session is over and never changes again, so the guess need not wait
        return Later(self._check, message, row, self._turns.join(row.id))

    def _owned_row(self, message: Judge) -> VerificationRow:
        asker = message.principal
        return self._sources.stored.owned(
            asker.organization_id, asker.mode, message.verification_id
        )

    async def _check(self, message: Judge, row: VerificationRow, turn: Turn) -> bool:
        try:
            matches = self._matches(message, row)
            if not turn.called.is_set():
                await turn.called.wait()
                row = self._owned_row(message)
            while True:
                stamp = self._sources.recorder.stamp()
                verdict = judge(row.session, matches=matches, now_ms=stamp.now_ms)
                if await self._write(row, verdict.trigger, stamp, message.by):
                    return verdict.approved
                row = self._owned_row(message)
        finally:
            self._turns.leave(turn)

    def _matches(self, message: Judge, row: VerificationRow) -> bool:
        sources, guess = self._sources, message.code
        if row.features is None and guess is not None and not message.beside and not row.is_fixed:
            return is_code(guess, derived_code(row, sources.codes))
        asker = message.principal
        check = CodeCheck(asker.organization_id, asker.type, message.beside)
        return sources.features.matches(row, guess, check, self._code_of)

    def _code_of(self, row: VerificationRow) -> str | None:
        """The code of a session; None: no guess is right any more. Of a number with a fixed code it
        is that one, as long as the number has it."""
        sources = self._sources
        if not row.is_fixed:
            return sources.features.code(row, sources.codes)
        now_ms = sources.recorder.clock.now_ms()
        return sources.fixed_code(row.organization_id, row.recipient, now_ms)

    async def _withdraw(self, message: Withdraw) -> None:
        sources = self._sources
        while True:
            row = sources.stored.session(message.verification_id)
            trigger = Trigger.WITHDRAWN if row.status is SessionState.PENDING else None
            if await self._write(row, trigger, sources.recorder.stamp(), message.by):
                return

    async def _write(
        self, row: VerificationRow, trigger: Trigger | None, stamp: Stamp, by: AuditEntry | None
    ) -> bool:
        """Write a judgement; False if the session has changed meanwhile and must be judged
        again."""
        sources = self._sources
        if trigger is None and by is None:
            return True
        changes = await sources.stored.settle(row, trigger, stamp, by)
        if changes is None:
            return False
        sources.recorder.tell(changes)
        if trigger is not Trigger.CODE_WRONG:
            self._deadlines.remove([(row.expires_at, row.id)])
        return True

    def _settle_due(self) -> object:
        if trio.current_time() - self._loaded_s >= RELOAD_S:
            self._deadlines.load()
            self._loaded_s = trio.current_time()
        due = self._deadlines.due(self._sources.recorder.clock.now_ms(), EXPIRE_BATCH)
        return Later(self._expire, due) if due else self._deadlines.next_ms()

    async def _expire(self, due: Sequence[Deadline]) -> int | None:
        # One that is set aside is due again with the next loading.
        items = self._sources.items
        await items.together(items.free(due, _session_of), _session_of, self._expire_these)
        self._deadlines.remove(due)
        return self._deadlines.next_ms()

    async def _expire_these(self, due: Sequence[Deadline]) -> None:
        recorder = self._sources.recorder
        stamps = [recorder.stamp() for _ in due]
        changes = await self._sources.stored.expire([*map(_session_of, due)], stamps)
        recorder.tell(changes)


def _session_of(deadline: Deadline) -> str:
    _, verification_id = deadline
    return verification_id


async def settle_due(sessions: Ref[SessionsMessage], clock: Clock) -> int | None:
    """Expire every session whose time is over; returns when the next one is due (UTC epoch
    milliseconds; None: none is pending).

    Raises:
        Unavailable: the expiry could not be written.
    """
    while True:
        next_ms: int | None = await sessions.ask(ExpireDue())
        if next_ms is None or next_ms > clock.now_ms():
            return next_ms


async def settle_seen(
    sessions: Ref[SessionsMessage], clock: Clock, rows: Iterable[VerificationRow]
) -> bool:
    """Before sessions are shown: write the end of those whose time is over, so that what was shown
    as expired stays so when the clock is set back. True: something was written, so that the rows
    have to be read again. While nothing can be written they are shown all the same.
    """
    now_ms, pending = clock.now_ms(), SessionState.PENDING
    if all(row.status is not pending or row.status_at(now_ms) is pending for row in rows):
        return False
    with suppress(Unavailable):
        await settle_due(sessions, clock)
    return True


async def keep_settling(sessions: Ref[SessionsMessage], alarm: Alarm, clock: Clock) -> None:
    """Expire sessions on time, until cancelled; one task for all of them."""
    while True:
        next_ms = await retry_until_committed("sessions", partial(settle_due, sessions, clock))
        await alarm.wait(next_ms)


def text_of(
    row: DueRow,
    stored: VerificationRepository,
    codes: Codes,
    seal: Seal,
    features: SessionFeatures,
) -> str | None:
    """The text to send for a queued row; for a code, its template with the code in it.

    None: it was sealed by a server key that is gone, or is not needed any more.
    """
    if row.verification_id is None:
        if row.kind != "code":
            return row.body
        sealed = stored.sealed(row.seq)
        return None if sealed is None else seal.open(sealed, row.id)
    session = stored.find(row.verification_id)
    assert session is not None
    return features.text(session, row.body, codes)


def view_of(
    row: VerificationRow, now_ms: int, features: SessionFeatures | None = None
) -> VerificationView:
    """A session as it is shown: after its time it is never shown as pending.

    Args:
        features: None: what they tell of it is left out.
    """
    status = row.status_at(now_ms)
    over = status is not row.status
    return VerificationView(
        id=row.id,
        organization_id=row.organization_id,
        mode=Mode(row.mode),
        to=row.recipient,
        status=status,
        reason="expired" if over else row.reason,
        attempts=row.attempts,
        attempts_max=row.attempts_max,
        expires_at=row.expires_at,
        created_at=row.created_at,
        updated_at=row.expires_at if over else row.updated_at,
        message_id=row.message_id or None,
        details=NOTHING_BESIDE if features is None else features.details(row),
    )
