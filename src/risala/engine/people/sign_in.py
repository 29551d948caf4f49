"""Signing in and up: by a code to an e-mail address, or by a link that the operator hands over.

Whether an address is known is told to nobody who cannot read its mail: the answer is the same, and
so is the work (a row for the request, a row for the mail, which is sent or is not). What only an
unknown address can meet (sign-up is closed, too many sign-ups) is said after the code was right.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from risala.config.people import SignUp
from risala.engine.journal.people import mails, members, sign_in_tokens, users, web_sessions
from risala.engine.journal.upkeep.audit_log import AuditEntry, write
from risala.engine.limits.claims import TakePeople
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import PeopleUse
from risala.engine.model.errors import Forbidden, Invalid, Refusal
from risala.engine.model.people import (
    Browser,
    CodeAsked,
    Denied,
    Device,
    LinkView,
    SessionKind,
    SignedIn,
    User,
)
from risala.engine.model.people_records.mails import MailKind, MailOutcome, NewMail
from risala.engine.model.people_records.sign_in import CodeRequest, FailureReason, SignInFailure
from risala.engine.people import sign_in_limits
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in_limits import SignInLimits
from risala.engine.people.sources import PeopleSources
from risala.engine.people.tokens import digest, is_token, new_token
from risala.engine.rules.people.emails import domain_of, normalised
from risala.engine.rules.people.lifetimes import (
    AGAIN_MS,
    ATTEMPTS_MAX,
    CODE_MS,
    SAME_CODE_MS,
    SIGN_IN_DIGITS,
    TOTAL_MS,
)

AGENT_MAX: Final = 200
"""Characters of a browser's name for itself: enough to know it again in a list of devices."""
GUESS_MAX: Final = 64
"""Characters of what is typed for a code that are looked at."""
_NO_OPERATOR: Final = "This address is no operator's."
_NO_SIGN_UP: Final = "Nobody can sign up with this address here; ask whoever runs the service."


def address_of(text: str, path: str = "email") -> str:
    """An e-mail address in its one form.

    Raises:
        Invalid: it is none.
    """
    found = normalised(text)
    if found is None:
        raise Invalid(path, "invalid_email", f"`{path}` is an e-mail address: name@example.com.")
    return found


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a right code or link lets in, decided before the unit that writes it."""

    user: User
    """As it is made where nobody has the address."""
    device: Device
    hashed: bytes
    now_ms: int
    known_browser: bool = False


@dataclass(frozen=True, slots=True)
class _Let:
    device: Device
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Failed:
    """What is answered to a code that lets nobody in, and what was written down of it."""

    answer: Denied | Refusal
    failure: SignInFailure


class SignIn:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._have = sources
        self._sessions = sessions
        self.limits = SignInLimits(sources)

    # -- by a code

    async def begin(
        self, browser: Browser, email: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> CodeAsked:
        """Mail a code to an address, if it is one that may sign in; the answer does not tell.

        Raises:
            Invalid: it is no address.
            RateLimited: too many were asked for, whosever the address is.
            Unavailable: not now; nothing was stored.
        """
        have, hashed = self._have, digest(browser.token)
        address, now_ms = address_of(email), have.now_ms()
        waiting = sign_in_tokens.request_of(have.reader, hashed)
        if _goes_on(waiting, address, kind, now_ms) and now_ms < waiting.mailed_at + AGAIN_MS:
            return _asked(waiting)
        may_mail = await self.limits.take_code(browser, kind, address)
        new = CodeRequest(
            id=have.ids.new("sgn"),
            browser=hashed,
            kind=kind,
            email=address,
            language=browser.language,
            attempts=0,
            mailed_at=now_ms,
            expires_at=now_ms + CODE_MS,
            created_at=now_ms,
        )
        asked = await have.recorder.journal.commit(lambda conn: self._ask(conn, new, may_mail))
        have.owed()
        return asked

    def _ask(self, conn: sqlite3.Connection, new: CodeRequest, may_mail: bool) -> CodeAsked:
        old = sign_in_tokens.request_of(conn, new.browser)
        now_ms = new.mailed_at
        if _goes_on(old, new.email, new.kind, now_ms) and old.expires_at - now_ms >= SAME_CODE_MS:
            new = replace(old, mailed_at=now_ms)
        sign_in_tokens.ask(conn, new)
        known = users.by_email(conn, new.email)
        mail = NewMail(
            MailKind.SIGN_IN_CODE,
            new.email,
            new.language if known is None else known.language,
            {"request": new.id},
            new.expires_at,
        )
        may = self._may_come_in(conn, known, new.email, new.kind, now_ms) and may_mail
        mails.owe(conn, mail, now_ms, outcome=None if may else MailOutcome.WITHHELD)
        return _asked(new)

    def _may_come_in(
        self,
        conn: sqlite3.Connection,
        known: User | None,
        email: str,
        kind: SessionKind,
        now_ms: int,
    ) -> bool:
        invited = bool(members.invitations_to(conn, email, now_ms))  # looked at in any case
        if kind is SessionKind.OPERATOR:
            return known is not None and known.operator
        sign_up = self._have.settings.people.sign_up
        may_sign_up = invited if sign_up is SignUp.INVITED else sign_up is SignUp.OPEN
        return known is not None or may_sign_up

    def pending(self, token: str) -> CodeAsked | None:
        """What a browser waits for."""
        found = sign_in_tokens.request_of(self._have.reader, digest(token))
        if found is None or _is_over(found, self._have.now_ms()):
            return None
        return _asked(found)

    async def finish(
        self, browser: Browser, code: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> SignedIn | Denied:
        """Judge a code; the attempt is counted on disk before this returns.

        Raises:
            RateLimited: too many guesses from this address, or too many sign-ups.
            Forbidden: the code was right, and still nobody may come in by it.
            Unavailable: not now; nothing was counted.
        """
        have, hashed = self._have, digest(browser.token)
        waiting = sign_in_tokens.request_of(have.reader, hashed)
        await self.limits.take_guess(browser, kind, None if waiting is None else waiting.email)
        if waiting is None:
            return Denied(0)
        if self._matches(waiting, code) and users.by_email(have.reader, waiting.email) is None:
            uses = (
                (PeopleUse.SIGN_UP_IP, browser.bucket),
                (PeopleUse.SIGN_UP_DOMAIN, domain_of(waiting.email)),
                (PeopleUse.SIGN_UP_ALL, None),
            )
            await have.limits.ask(TakePeople(uses))
        token = new_token()
        entry = self._entry(browser, waiting.email, waiting.kind, token)
        answer = await have.recorder.journal.commit(
            lambda conn: self._judge(conn, hashed, code, entry)
        )
        return self._let_in(answer, token)

    def _judge(
        self, conn: sqlite3.Connection, hashed: bytes, code: str, entry: _Entry
    ) -> _Let | Denied | _Failed:
        """Refusals are answers here: the attempt that met one counts all the same."""
        found = sign_in_tokens.request_of(conn, hashed)
        if found is None or found.attempts >= ATTEMPTS_MAX:
            return Denied(0)
        if entry.now_ms >= found.expires_at:
            return self._wrong(conn, entry, found, FailureReason.EXPIRED, Denied(0))
        if not entry.known_browser:
            refusal = self.limits.refusal(conn, found.kind, found.email, entry.now_ms)
            if refusal is not None:
                return self._wrong(conn, entry, found, FailureReason.HELD_UP, refusal)
        if not self._matches(found, code):
            denied = Denied(ATTEMPTS_MAX - found.attempts - 1)
            return self._wrong(conn, entry, found, FailureReason.WRONG_CODE, denied)
        sign_in_tokens.end_request(conn, found.id)
        known = users.by_email(conn, found.email)
        if not self._may_come_in(conn, known, found.email, found.kind, entry.now_ms):
            no_operator = found.kind is SessionKind.OPERATOR
            refused = Forbidden(_NO_OPERATOR if no_operator else _NO_SIGN_UP)
            why = FailureReason.NOT_ALLOWED
            return self._failed(conn, entry, found.kind, found.email, why, refused)
        if found.email != entry.user.email or found.kind is not entry.device.kind:
            return Denied(0)  # the browser asked for another code meanwhile
        return _enter(conn, entry, known, "code")

    def _wrong(
        self,
        conn: sqlite3.Connection,
        entry: _Entry,
        found: CodeRequest,
        reason: FailureReason,
        answer: Denied | Refusal,
    ) -> _Failed:
        """Count the attempt, so that each code makes few rows whatever it is refused for."""
        sign_in_tokens.change_request(conn, found.id, {"attempts": found.attempts + 1})
        return self._failed(conn, entry, found.kind, found.email, reason, answer)

    def _failed(
        self,
        conn: sqlite3.Connection,
        entry: _Entry,
        kind: SessionKind,
        email: str,
        reason: FailureReason,
        answer: Denied | Refusal,
    ) -> _Failed:
        """Write down, in the unit that judges, that a code or a link let nobody in."""
        at, address, known = entry.now_ms, entry.device.address, entry.known_browser
        failure = SignInFailure(at, kind, email, address, reason, known)
        self.limits.record(conn, failure)
        return _Failed(answer, failure)

    def _matches(self, found: CodeRequest, code: str) -> bool:
        codes, basis = self._have.derived.sign_in_codes, code_basis(found)
        guess = "".join(code[:GUESS_MAX].split())  # people copy "123 456"
        return codes.matches(guess, basis, SIGN_IN_DIGITS[found.kind], test=False)

    # -- by a link

    def peek_link(self, token: str) -> LinkView | None:
        """What a link is good for; None: it was used, is too old, or is none."""
        if not is_token(token):
            return None
        return sign_in_tokens.peek_link(self._have.reader, digest(token), self._have.now_ms())

    async def use_link(
        self, token: str, browser: Browser, kind: SessionKind = SessionKind.CUSTOMER
    ) -> SignedIn | None:
        """Sign in by a link, which ends by that.

        Args:
            kind: whose pages it was opened on, where nobody knows what the link was for.

        Raises:
            RateLimited: too many were tried from this address.
            Forbidden: whoever it was made for is no operator any more.
            Unavailable: not now; the link holds.
        """
        have = self._have
        view = self.peek_link(token)
        kind = kind if view is None else view.kind
        await self.limits.take_guess(browser, kind, None)
        if view is None:
            await self.limits.note_link(browser, kind)
            return None
        cookie, hashed = new_token(), digest(token)
        entry = self._entry(browser, "", view.kind, cookie)

        def unit(conn: sqlite3.Connection) -> _Let | Denied | _Failed:
            link = sign_in_tokens.take_link(conn, hashed, entry.now_ms)
            known = None if link is None else users.find(conn, link.user_id)
            if link is None or known is None:
                return Denied(0)
            if link.kind is SessionKind.OPERATOR and not known.operator:
                refused, why = Forbidden(_NO_OPERATOR), FailureReason.NOT_ALLOWED
                return self._failed(conn, entry, kind, known.email, why, refused)
            return _enter(conn, entry, known, "link")

        found = self._let_in(await have.recorder.journal.commit(unit), cookie)
        return found if isinstance(found, SignedIn) else None

    # -- both

    def _entry(self, browser: Browser, email: str, kind: SessionKind, token: str) -> _Entry:
        have = self._have
        now_ms, user_id = have.now_ms(), have.ids.new("usr")
        user = User(user_id, email, "", browser.language, False, now_ms, now_ms, None)
        device = Device(
            id=have.ids.new("web"),
            user_id=user_id,
            kind=kind,
            agent=_cleaned(browser.agent)[:AGENT_MAX],
            address=_cleaned(browser.address)[:AGENT_MAX],
            created_at=now_ms,
            used_at=now_ms,
            expires_at=now_ms + TOTAL_MS[kind],
        )
        known = bool(email) and self.limits.known_browser(browser, kind, email) is not None
        return _Entry(user, device, digest(token), now_ms, known)

    def _let_in(self, answer: _Let | Denied | _Failed, token: str) -> SignedIn | Denied:
        if isinstance(answer, _Failed):
            sign_in_limits.say(answer.failure)
            if isinstance(answer.answer, Refusal):
                raise answer.answer
            return answer.answer
        if isinstance(answer, Denied):
            return answer
        self._sessions.forget(answer.device.user_id)
        session, kind = self._sessions.view(answer.device), answer.device.kind
        known_as = self._have.derived.known_browser(kind, session.user.email, self._have.now_ms())
        return SignedIn(token, session, answer.is_new, known_as)


def code_basis(found: CodeRequest) -> str:
    """What a code is derived from: this request of this browser, and nothing else."""
    return f"{found.id} {found.browser.hex()}"


def _goes_on(
    found: CodeRequest | None, email: str, kind: SessionKind, now_ms: int
) -> TypeGuard[CodeRequest]:
    """Whether asking again is about the same request."""
    return (
        found is not None
        and found.email == email
        and found.kind is kind
        and not _is_over(found, now_ms)
    )


def _is_over(found: CodeRequest, now_ms: int) -> bool:
    return now_ms >= found.expires_at or found.attempts >= ATTEMPTS_MAX


def _asked(found: CodeRequest) -> CodeAsked:
    return CodeAsked(
        found.email,
        found.kind,
        found.expires_at,
        ATTEMPTS_MAX - found.attempts,
        found.mailed_at + AGAIN_MS,
    )


def _enter(conn: sqlite3.Connection, entry: _Entry, known: User | None, by: str) -> _Let:
    """Open a session, for a new user where there is none; with its line in the audit trail."""
    user = known or users.add(conn, entry.user)
    if known is not None and known.seen_at is None:
        # Somebody else made them, so they have chosen no language before this page's.
        users.change(conn, user.id, {"language": entry.user.language.value}, entry.now_ms)
    users.seen(conn, user.id, entry.now_ms)
    device = replace(entry.device, user_id=user.id)
    web_sessions.add(conn, device, entry.hashed)
    face = CallerKind.CONSOLE if device.kind is SessionKind.OPERATOR else CallerKind.DASHBOARD
    hand = AuditEntry(
        caller=Caller(user.email, face, Role.USER, None, user.id),
        action="sign_in",
        at=entry.now_ms,
        subject=user.id,
        said={"by": by, "new": known is None},
        always=True,
    )
    write(conn, hand)
    return _Let(device, known is None)


def _cleaned(text: str) -> str:
    """What a browser says of itself, as one line."""
    return "".join(each if each.isprintable() else " " for each in text).strip()
