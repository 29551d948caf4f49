"""Signing in: codes that are asked for, links, and sign-ins that failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal import signing_in
from risala.engine.journal.people import sign_in_failures, sign_in_tokens
from risala.engine.journal.store.signature import Signature
from risala.engine.journal.store.store import Store
from risala.engine.model.people import Denied, LinkView, SessionKind
from risala.engine.model.people_records.sign_in import (
    CodeRequest,
    Entrant,
    FailureReason,
    LetIn,
    SignInFailure,
    SignInLink,
    TurnedAway,
)
from risala.engine.rules.people.entering import SignInRules


@dataclass(frozen=True, slots=True)
class SignInRepository:
    """What lets people in. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` where the disk did not take it.
    """

    _store: Store

    # -- reads

    def request(self, request_id: str) -> CodeRequest | None:
        """A browser that waits for a code, also where the code is over."""
        return sign_in_tokens.request(self._store.reader, request_id)

    def request_of(self, browser: bytes) -> CodeRequest | None:
        """What a browser waits for, also where it is over."""
        return sign_in_tokens.request_of(self._store.reader, browser)

    def peek_link(self, digest: bytes, now_ms: int) -> LinkView | None:
        """What a link is good for; None: it was used, is too old, or never was."""
        return sign_in_tokens.peek_link(self._store.reader, digest, now_ms)

    def count_failed(self, since_ms: int) -> Mapping[tuple[SessionKind, FailureReason], int]:
        """How many sign-ins failed since then, by where and why, counted up to a limit."""
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

    async def add_link(self, digest: bytes, new: SignInLink, *, by: Signature) -> None:
        """Store a link; those made before it for the same user end."""
        await self._store.commit(partial(sign_in_tokens.add_link, digest=digest, new=new), by)

    async def use_link(
        self, link: bytes, entrant: Entrant, rules: SignInRules
    ) -> LetIn | Denied | TurnedAway:
        """Use a link up, and sign in whoever it was made for."""
        unit = partial(signing_in.use_link, link=link, entrant=entrant, rules=rules)
        return await self._store.commit(unit)

    async def note_failure(self, new: SignInFailure, rules: SignInRules) -> None:
        """Write a failure down; the first one of an address in an hour in the audit trail too."""
        await self._store.commit(partial(signing_in.note_failure, new=new, rules=rules))

    async def forget_over(self, now_ms: int) -> None:
        """Forget requests, links, invitations and changes of address that time has ended."""
        await self._store.commit(partial(sign_in_tokens.forget_over, now_ms=now_ms))
