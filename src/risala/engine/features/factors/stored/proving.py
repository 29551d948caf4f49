"""Second factors as units of work: at sign-in, and before something important in a session.

Refusals are returned, not raised: their attempts are counted nevertheless.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Final

from risala.engine.features.factors.records import FactorTry, ProofKind
from risala.engine.features.factors.stored import factors
from risala.engine.journal.people import sign_in_failures, sign_in_tokens, users
from risala.engine.journal.signing_in import (
    NO_OPERATOR,
    enter,
    failure_of,
    freshened,
    turn_away,
    wrong,
)
from risala.engine.model.errors import Forbidden, RateLimited
from risala.engine.model.people import Denied, SessionKind
from risala.engine.model.people_records.sign_in import (
    Entrant,
    FailureReason,
    LetIn,
    TurnedAway,
)
from risala.engine.rules.people.entering import SLOW_FACTORS, SignInRules
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX

_FACTOR_HELD_UP: Final = (
    "Too many wrong codes of your app were tried. Use a passkey or a recovery code, or sign in from"
    " a browser that you signed in on before."
)


def judge(
    conn: sqlite3.Connection,
    browser: bytes,
    tried: FactorTry,
    entrant: Entrant,
    rules: SignInRules,
) -> LetIn | Denied | TurnedAway:
    """Judge the second factor of a browser whose code was right, and count the attempt."""
    found = sign_in_tokens.request_of(conn, browser)
    if found is None or found.user_id is None or found.attempts >= ATTEMPTS_MAX:
        return Denied(0)
    if entrant.now_ms >= found.expires_at:
        return wrong(conn, entrant, found, FailureReason.EXPIRED, Denied(0), rules)
    if tried.is_guessable and not entrant.known_browser:
        refusal = factor_held_up(conn, found.kind, found.email, entrant.now_ms)
        if refusal is not None:
            return wrong(conn, entrant, found, FailureReason.HELD_UP, refusal, rules)
    if tried.proof is None or not factors.use(conn, found.user_id, tried.proof, entrant.now_ms):
        denied = Denied(ATTEMPTS_MAX - found.attempts - 1)
        return wrong(conn, entrant, found, FailureReason.WRONG_FACTOR, denied, rules)
    sign_in_tokens.end_request(conn, found.id)
    known = users.user(conn, found.user_id)
    if found.kind is SessionKind.OPERATOR and not known.operator:
        failure = failure_of(entrant, found.kind, known.email, FailureReason.NOT_ALLOWED)
        return turn_away(conn, failure, Forbidden(NO_OPERATOR), rules)
    if tried.proof.kind is ProofKind.RECOVERY_CODE:
        factors.tell_code_used(conn, known, entrant.now_ms)
    device = replace(entrant.device, kind=found.kind)
    return enter(conn, replace(entrant, device=device), known, tried.proof.kind.value)


def enter_by_passkey(
    conn: sqlite3.Connection, user_id: str, tried: FactorTry, entrant: Entrant, rules: SignInRules
) -> LetIn | Denied | TurnedAway:
    """Sign in with a passkey alone, which is two factors: the device, and who unlocked it."""
    known = users.find(conn, user_id)
    kind = entrant.device.kind
    if known is None or tried.proof is None:
        return Denied(0)
    if kind is SessionKind.OPERATOR and not known.operator:
        failure = failure_of(entrant, kind, known.email, FailureReason.NOT_ALLOWED)
        return turn_away(conn, failure, Forbidden(NO_OPERATOR), rules)
    if not factors.use(conn, user_id, tried.proof, entrant.now_ms):
        failure = failure_of(entrant, kind, known.email, FailureReason.WRONG_FACTOR)
        return turn_away(conn, failure, Denied(0), rules)
    return enter(conn, entrant, known, ProofKind.PASSKEY.value)


def factor_held_up(
    conn: sqlite3.Connection, kind: SessionKind, email: str, now_ms: int
) -> RateLimited | None:
    """Why no more codes of a user's app are judged; None: they are. As :func:`_held_up`."""
    for span_ms, tries_max in SLOW_FACTORS:
        tries = sign_in_failures.factor_tries(conn, kind, email, now_ms - span_ms)
        if tries >= tries_max:
            return RateLimited("address", span_ms // 1000, _FACTOR_HELD_UP)
    return None


def freshen(
    conn: sqlite3.Connection,
    session_id: str,
    tried: FactorTry,
    entrant: Entrant,
    rules: SignInRules,
) -> bool | Denied | TurnedAway:
    """A user in a session shows a factor again; True: the session is fresh.

    Args:
        entrant: the session's user and device. Wrong codes of an app count whatever browser this
            is: who has stolen a session has its cookies too.
    """
    user, kind = entrant.user, entrant.device.kind
    if tried.is_guessable:
        refusal = factor_held_up(conn, kind, user.email, entrant.now_ms)
        if refusal is not None:
            failure = failure_of(entrant, kind, user.email, FailureReason.HELD_UP)
            return turn_away(conn, failure, refusal, rules)
    if tried.proof is None or not factors.use(conn, user.id, tried.proof, entrant.now_ms):
        failure = failure_of(entrant, kind, user.email, FailureReason.WRONG_FACTOR)
        return turn_away(conn, failure, Denied(ATTEMPTS_MAX), rules)
    if tried.proof.kind is ProofKind.RECOVERY_CODE:
        factors.tell_code_used(conn, user, entrant.now_ms)
    freshened(conn, session_id, entrant, tried.proof.kind.value)
    return True
