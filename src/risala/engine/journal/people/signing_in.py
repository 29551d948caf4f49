"""Signing in as units of work: a code is requested and judged, a link is used, failures are noted.

Refusals are returned, not raised: their attempts are counted nevertheless.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.people import (
    mails,
    members,
    security,
    sign_in_failures,
    sign_in_tokens,
    users,
    web_sessions,
)
from risala.engine.journal.store.audit_log import write
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Forbidden, RateLimited, Refusal
from risala.engine.model.people import Denied, FactorAwaited, SessionKind, User
from risala.engine.model.people_records import (
    CodeRequest,
    Entrant,
    FailureReason,
    LetIn,
    MailKind,
    MailOutcome,
    NewMail,
    SignInFailure,
    TurnedAway,
)
from risala.engine.rules.people.entering import SLOW, SignInRules, goes_on
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX, CODE_MS, SAME_CODE_MS

NO_OPERATOR: Final = "This is not the address of an operator."
_NO_SIGN_UP: Final = "You cannot sign up with this address here. Ask the operator of the service."
_HELD_UP: Final = (
    "Too many wrong codes were tried with this e-mail address. Sign in from a browser that you"
    " signed in on before, or make a link on the machine: risala user sign-in EMAIL --console."
)


def ask(
    conn: sqlite3.Connection, new: CodeRequest, rules: SignInRules, *, may_mail: bool
) -> CodeRequest:
    """Store a browser's request, or continue its present one, and owe the mail of its code: the
    work is the same if it is withheld."""
    old, now_ms = sign_in_tokens.request_of(conn, new.browser), new.mailed_at
    if goes_on(old, new.email, new.kind, now_ms) and old.expires_at - now_ms >= SAME_CODE_MS:
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
    may = _may_come_in(conn, known, new, rules, now_ms) and may_mail
    mails.owe(conn, mail, now_ms, outcome=None if may else MailOutcome.WITHHELD)
    return new


def _may_come_in(
    conn: sqlite3.Connection,
    known: User | None,
    request: CodeRequest,
    rules: SignInRules,
    now_ms: int,
) -> bool:
    is_invited = bool(members.invitations_to(conn, request.email, now_ms))  # read in any case
    return rules.lets_in(known, request.kind, is_invited=is_invited)


def judge(
    conn: sqlite3.Connection, browser: bytes, code: str, entrant: Entrant, rules: SignInRules
) -> LetIn | FactorAwaited | Denied | TurnedAway:
    """Judge a code, and count the attempt."""
    request = judged(conn, browser, code, entrant, rules)
    if not isinstance(request, CodeRequest):
        return request
    known = users.by_email(conn, request.email)
    if not _may_come_in(conn, known, request, rules, entrant.now_ms):
        no_operator = request.kind is SessionKind.OPERATOR
        refused = Forbidden(NO_OPERATOR if no_operator else _NO_SIGN_UP)
        failure = failure_of(entrant, request.kind, request.email, FailureReason.NOT_ALLOWED)
        return turn_away(conn, failure, refused, rules)
    if request.email != entrant.user.email or request.kind is not entrant.device.kind:
        return Denied(0)  # the browser requested another code meanwhile
    return await_or_enter(conn, entrant, known, request, "code")


def judged(
    conn: sqlite3.Connection, browser: bytes, code: str, entrant: Entrant, rules: SignInRules
) -> CodeRequest | Denied | TurnedAway:
    """The request whose code this is, which ends by that; else what a wrong code comes to."""
    request = sign_in_tokens.request_of(conn, browser)
    if request is None or request.user_id is not None or request.attempts >= ATTEMPTS_MAX:
        return Denied(0)
    if entrant.now_ms >= request.expires_at:
        return wrong(conn, entrant, request, FailureReason.EXPIRED, Denied(0), rules)
    if not entrant.known_browser:
        refusal = _held_up(conn, request.kind, request.email, entrant.now_ms)
        if refusal is not None:
            return wrong(conn, entrant, request, FailureReason.HELD_UP, refusal, rules)
    if not rules.matches(request, code):
        denied = Denied(ATTEMPTS_MAX - request.attempts - 1)
        return wrong(conn, entrant, request, FailureReason.WRONG_CODE, denied, rules)
    sign_in_tokens.end_request(conn, request.id)
    return request


def use_link(
    conn: sqlite3.Connection, link: bytes, entrant: Entrant, rules: SignInRules
) -> LetIn | FactorAwaited | Denied | TurnedAway:
    """Use a link up, and sign its user in."""
    taken = sign_in_tokens.take_link(conn, link, entrant.now_ms)
    known = None if taken is None else users.find(conn, taken.user_id)
    if taken is None or known is None:
        return Denied(0)
    if (refused := refuse_no_operator(conn, entrant, taken.kind, known, rules)) is not None:
        return refused
    return await_or_enter(conn, entrant, known, request_by(entrant, known, taken.kind), "link")


def refuse_no_operator(
    conn: sqlite3.Connection, entrant: Entrant, kind: SessionKind, known: User, rules: SignInRules
) -> TurnedAway | None:
    """Why somebody known does not get into the console; None: they do, or go elsewhere."""
    if kind is not SessionKind.OPERATOR or known.operator:
        return None
    failure = failure_of(entrant, kind, known.email, FailureReason.NOT_ALLOWED)
    return turn_away(conn, failure, Forbidden(NO_OPERATOR), rules)


def request_by(entrant: Entrant, user: User, kind: SessionKind) -> CodeRequest:
    """The request of a browser whose user came without a code, if it has to wait for more."""
    return CodeRequest(
        id=entrant.device.id,
        browser=entrant.browser,
        kind=kind,
        email=user.email,
        language=user.language,
        attempts=0,
        mailed_at=entrant.now_ms,
        expires_at=entrant.now_ms + CODE_MS,
        created_at=entrant.now_ms,
    )


def await_or_enter(
    conn: sqlite3.Connection, entrant: Entrant, known: User | None, request: CodeRequest, by: str
) -> LetIn | FactorAwaited:
    """Open a session, unless the user has a second factor: then the browser waits for it."""
    if known is None or not users.has_factor(conn, known.id):
        return enter(conn, entrant, known, by)
    expires_at = entrant.now_ms + CODE_MS
    waiting = replace(request, attempts=0, expires_at=expires_at, user_id=known.id)
    sign_in_tokens.ask(conn, waiting)
    return FactorAwaited(known.id)


def _held_up(
    conn: sqlite3.Connection, kind: SessionKind, email: str, now_ms: int
) -> RateLimited | None:
    """Why a stranger's code for an operator's address is not judged; None: it is.

    Checked in the unit that counts, so that parallel guesses are all counted.
    """
    if kind is not SessionKind.OPERATOR:
        return None
    for span_ms, tries_max in SLOW:
        tries = sign_in_failures.strangers_tries(conn, kind, email, now_ms - span_ms)
        if tries >= tries_max:
            return RateLimited("address", span_ms // 1000, _HELD_UP)
    return None


def wrong(
    conn: sqlite3.Connection,
    entrant: Entrant,
    request: CodeRequest,
    reason: FailureReason,
    answer: Denied | Refusal,
    rules: SignInRules,
) -> TurnedAway:
    """Count the attempt, so that each code makes few rows for any kind of refusal."""
    sign_in_tokens.change_request(conn, request.id, {"attempts": request.attempts + 1})
    failure = failure_of(entrant, request.kind, request.email, reason)
    return turn_away(conn, failure, answer, rules)


def failure_of(
    entrant: Entrant, kind: SessionKind, email: str, reason: FailureReason
) -> SignInFailure:
    address, known_browser = entrant.device.address, entrant.known_browser
    return SignInFailure(entrant.now_ms, kind, email, address, reason, known_browser)


def turn_away(
    conn: sqlite3.Connection, failure: SignInFailure, answer: Denied | Refusal, rules: SignInRules
) -> TurnedAway:
    note_failure(conn, failure, rules)
    return TurnedAway(answer, failure)


def note_failure(conn: sqlite3.Connection, new: SignInFailure, rules: SignInRules) -> None:
    """Store a failure; an address's first one in an hour in the audit trail too. Only users'
    addresses are stored in clear: other typed addresses are hashed."""
    user = users.by_email(conn, new.email) if new.email else None
    if new.email and user is None:
        new = replace(new, email=rules.hashed_address(new.email))
    is_wrong = new.reason is FailureReason.WRONG_CODE and not new.known_browser
    is_operators = user is not None and user.operator and new.kind is SessionKind.OPERATOR
    is_factor = new.reason is FailureReason.WRONG_FACTOR and not new.known_browser
    is_slow = is_factor or (is_wrong and is_operators)
    if not sign_in_failures.add(conn, replace(new, is_slow=is_slow)):
        return
    entry = AuditEntry(
        caller=Caller(new.address, caller_kind(new.kind), Role.SYSTEM),
        action="sign_in.failed",
        at=new.at,
        subject=None if user is None else user.id,
        details={"reason": new.reason.value},
        always=True,
    )
    write(conn, entry)


def enter(conn: sqlite3.Connection, entrant: Entrant, known: User | None, by: str) -> LetIn:
    """Open a session, and make the user if needed; with its line in the audit trail."""
    user = known or users.add(conn, entrant.user)
    if known is not None and known.seen_at is None:
        # Another person made them, so they have chosen no language before this page's.
        users.change(conn, user.id, {"language": entrant.user.language.value}, entrant.now_ms)
    users.seen(conn, user.id, entrant.now_ms)
    device = replace(entrant.device, user_id=user.id)
    web_sessions.add(conn, device, entrant.hashed)
    entry = AuditEntry(
        caller=Caller(user.email, caller_kind(device.kind), Role.USER, None, user.id),
        action="sign_in",
        at=entrant.now_ms,
        subject=user.id,
        organization_id=device.organization_id,
        details={"by": by, "new": known is None},
        always=True,
    )
    write(conn, entry)
    return LetIn(device, known is None)


def freshen_by_code(
    conn: sqlite3.Connection,
    session_id: str,
    browser: bytes,
    code: str,
    entrant: Entrant,
    rules: SignInRules,
) -> bool | Denied | TurnedAway:
    """A user in a session shows by a code by e-mail who they are; True: the session is fresh. It is
    for users without a factor: a factor is never replaced by e-mail alone."""
    request = judged(conn, browser, code, entrant, rules)
    if not isinstance(request, CodeRequest):
        return request
    if request.email != entrant.user.email or users.has_factor(conn, entrant.user.id):
        return Denied(0)
    freshened(conn, session_id, entrant, "code")
    return True


def freshened(conn: sqlite3.Connection, session_id: str, entrant: Entrant, by: str) -> None:
    """The session's user has shown who they are; with its line in the audit trail."""
    web_sessions.freshen(conn, session_id, entrant.now_ms)
    user = entrant.user
    entry = AuditEntry(
        caller=Caller(user.email, caller_kind(entrant.device.kind), Role.USER, None, user.id),
        action="sign_in.fresh",
        at=entrant.now_ms,
        subject=user.id,
        details={"by": by},
        always=True,
    )
    write(conn, entry)


def caller_kind(kind: SessionKind) -> CallerKind:
    return CallerKind.CONSOLE if kind is SessionKind.OPERATOR else CallerKind.DASHBOARD


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class SignInRepository:
    """What lets people in. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    request = read(sign_in_tokens.request)
    request_of = read(sign_in_tokens.request_of)
    peek_link = read(sign_in_tokens.peek_link)
    count_failed = read(sign_in_failures.counted)
    failures = read(sign_in_failures.newest)
    console_lock = read(security.lock)
    look_for_intruders = scan(security.security)

    # -- commands

    ask = command(ask)
    judge = command(judge)
    add_link = audited_command(sign_in_tokens.add_link)
    use_link = command(use_link)
    freshen_by_code = command(freshen_by_code)
    note_failure = command(note_failure)
    forget_over = command(sign_in_tokens.forget_over)
    lock_console = audited_command(security.lock_console)
    unlock_console = audited_command(security.unlock_console)
