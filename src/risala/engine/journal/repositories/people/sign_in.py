"""Signing in: requested codes, links, failed sign-ins, and web sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal import signing_in
from risala.engine.journal.people import sign_in_failures, sign_in_tokens, web_sessions
from risala.engine.journal.repositories.store import Store
from risala.engine.model.audit import AuditEntry
from risala.engine.model.people import Denied, Device, LinkView, SessionKind
from risala.engine.model.people_records.sign_in import (
    CodeRequest,
    Entrant,
    FailureReason,
    LetIn,
    SignInFailure,
    SignInLink,
    StoredSession,
    TurnedAway,
)
from risala.engine.rules.people.entering import SignInRules


@dataclass(frozen=True, slots=True)
class SignInRepository:
    """What lets people in. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def request(self, request_id: str) -> CodeRequest | None:
        """A browser that waits for a code, even if the code has expired."""
        return sign_in_tokens.request(self._store.reader, request_id)

    def request_of(self, browser: bytes) -> CodeRequest | None:
        """The request that a browser waits for, even if it has expired."""
        return sign_in_tokens.request_of(self._store.reader, browser)

    def peek_link(self, digest: bytes, now_ms: int) -> LinkView | None:
        """The purpose of a link; None: it was used, is too old, or does not exist."""
        return sign_in_tokens.peek_link(self._store.reader, digest, now_ms)

    def count_failed(self, since_ms: int) -> Mapping[tuple[SessionKind, FailureReason], int]:
        """How many sign-ins failed since then, by place and reason, counted up to a limit."""
        return sign_in_failures.counted(self._store.reader, since_ms)

    def failures(self, count: int) -> list[SignInFailure]:
        """Sign-ins that failed, the newest first."""
        return sign_in_failures.newest(self._store.reader, count)

    # -- commands

    async def ask(self, new: CodeRequest, rules: SignInRules, *, may_mail: bool) -> CodeRequest:
        """Store a browser's request, or go on with the one that it has, and owe the mail of its
        code.

        Args:
            may_mail: False: the mail is withheld, whosever the address is.
        """
        unit = partial(signing_in.ask, new=new, rules=rules, may_mail=may_mail)
        return await self._store.commit(unit)

    async def judge(
        self, browser: bytes, code: str, entrant: Entrant, rules: SignInRules
    ) -> LetIn | Denied | TurnedAway:
        """Judge the code that a browser waits for, and count the attempt."""
        given = (browser, code, entrant, rules)
        return await self._store.commit(lambda conn: signing_in.judge(conn, *given))

    async def add_link(self, digest: bytes, new: SignInLink, *, by: AuditEntry) -> None:
        """Store a link; those made before it for the same user end."""
        await self._store.commit(partial(sign_in_tokens.add_link, digest=digest, new=new), by)

    async def use_link(
        self, link: bytes, entrant: Entrant, rules: SignInRules
    ) -> LetIn | Denied | TurnedAway:
        """Use a link up, and sign its user in."""
        unit = partial(signing_in.use_link, link=link, entrant=entrant, rules=rules)
        return await self._store.commit(unit)

    async def note_failure(self, new: SignInFailure, rules: SignInRules) -> None:
        """Store a failure; the first one of an address in an hour in the audit trail too."""
        await self._store.commit(partial(signing_in.note_failure, new=new, rules=rules))

    async def forget_over(self, now_ms: int) -> None:
        """Delete expired requests, links, invitations and changes of address."""
        await self._store.commit(partial(sign_in_tokens.forget_over, now_ms=now_ms))


@dataclass(frozen=True, slots=True)
class WebSessionRepository:
    """Where users are signed in. All reads are by an index, on the loop's thread. Who signs in is
    given a session by :class:`SignInRepository`.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def by_hash(self, digest: bytes, kind: SessionKind, now_ms: int) -> StoredSession | None:
        """The session whose token has this hash; None: unknown, or the session is over."""
        return web_sessions.by_hash(self._store.reader, digest, kind, now_ms)

    def of_user(self, user_id: str, now_ms: int) -> list[Device]:
        """A user's sessions, the newest first."""
        return web_sessions.of_user(self._store.reader, user_id, now_ms)

    # -- commands

    async def rotate(self, digest: bytes, kind: SessionKind, new: bytes, now_ms: int) -> bool:
        """Set another token for a session; False if it is unknown, or was just rotated."""
        unit = partial(web_sessions.rotate, digest=digest, kind=kind, new=new, now_ms=now_ms)
        return await self._store.commit(unit)

    async def end(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        but: str | None = None,
        by: AuditEntry | None = None,
    ) -> int:
        """End a user's sessions: one, all except one, or all; returns how many there were."""
        unit = partial(web_sessions.end, user_id=user_id, session_id=session_id, but=but)
        return await self._store.commit(unit, by)

    async def touch(self, used: Mapping[str, int]) -> None:
        """Store when sessions were last used."""
        await self._store.commit(partial(web_sessions.touch, used=used))

    async def forget_over(self, now_ms: int) -> None:
        """Delete expired sessions."""
        await self._store.commit(partial(web_sessions.forget_over, now_ms=now_ms))
