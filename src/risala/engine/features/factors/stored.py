"""Second factors and recovery codes: rows, changes, and signing in by them, a unit of work each.

Their owner, and the owners of each organization that they work for, are told of a change by mail.
What is shown at sign-in is judged, and a refusal returned, not raised: its attempt is counted
nevertheless.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.factors.records import (
    Factor,
    FactorProof,
    FactorTry,
    ProofKind,
    factor_view,
)
from risala.engine.features.providers.stored import identities
from risala.engine.journal.people import (
    mails,
    members,
    sign_in_failures,
    sign_in_tokens,
    users,
    web_sessions,
)
from risala.engine.journal.people.signing_in import (
    enter,
    failure_of,
    freshened,
    refuse_no_operator,
    turn_away,
    wrong,
)
from risala.engine.journal.sealed.columns import SealedColumn
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, NotFound, RateLimited, SecretLost
from risala.engine.model.people import Denied, SessionKind, User
from risala.engine.model.people_records import (
    Entrant,
    FailureReason,
    LetIn,
    MailKind,
    NewMail,
    TurnedAway,
)
from risala.engine.model.records.people.users import FactorKind, FactorView
from risala.engine.rules.people.entering import SLOW_FACTORS, SignInRules
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX
from risala.engine.rules.sealing import SecretPurpose

FACTORS_MAX: Final = 20
"""The most factors of one user: several devices, and some that are lost."""
TOLD_MAX: Final = 200
"""How many other people are told of one change: each is a mail."""
SHIFTS: Final = (
    # Codes of an authenticator app: a step that is still to come would refuse all until then.
    "UPDATE factors SET counter = :now / 30000 WHERE kind = 'app' AND counter > :now / 30000",
)
"""Statements to run after the clock was set back."""

_FACTOR_HELD_UP: Final = (
    "Too many wrong codes of your app were tried. Use a passkey or a recovery code, or sign in from"
    " a browser that you signed in on before."
)
_TABLE: Final = "factors"
SEALED: Final = (
    SealedColumn(
        _TABLE,
        "seed",
        SecretPurpose.TOTP_SEED,
        "risala user reset-factors EMAIL, of whose app it is ({})",
    ),
)
_CODES: Final = "recovery_codes"
_FACTORS: Final = Rows(Factor, kind=FactorKind)
_OF_OPERATORS: Final = (
    "SELECT EXISTS (SELECT 1 FROM factors JOIN users ON users.id = factors.user_id"
    " WHERE users.operator = 1)"
)
_USED_APP: Final = (
    "UPDATE factors SET counter = :counter, used_at = :now"
    " WHERE id = :id AND user_id = :user AND kind = 'app' AND counter < :counter"
)
_USED_PASSKEY: Final = (
    "UPDATE factors SET counter = :counter, used_at = :now"
    " WHERE id = :id AND user_id = :user AND kind = 'passkey'"
    " AND (counter < :counter OR (counter = 0 AND :counter = 0))"
)
_USED_CODE: Final = (
    "UPDATE recovery_codes SET used_at = :now"
    " WHERE user_id = :user AND hash = :code AND used_at IS NULL"
)
_USES: Final = {
    ProofKind.APP: _USED_APP,
    ProofKind.PASSKEY: _USED_PASSKEY,
    ProofKind.RECOVERY_CODE: _USED_CODE,
}


def of_user(conn: sqlite3.Connection, user_id: str) -> list[Factor]:
    """A user's factors, the oldest first."""
    factors = table(conn, _TABLE)
    return _FACTORS.find(factors, "user_id = ?", (user_id,), order_by="created_at, id")


def factor(conn: sqlite3.Connection, user_id: str, factor_id: str) -> Factor:
    """One factor of a user.

    Raises:
        NotFound: the user has no such factor.
    """
    rows = _FACTORS.find(table(conn, _TABLE), "user_id = ? AND id = ?", (user_id, factor_id))
    if not rows:
        raise NotFound("There is no such factor.")
    return rows[0]


def by_credential(conn: sqlite3.Connection, credential: bytes) -> Factor | None:
    """The passkey with this id at its authenticator; None: unknown."""
    where = "credential = ? AND kind = 'passkey'"
    rows = _FACTORS.find(table(conn, _TABLE), where, (credential,))
    return rows[0] if rows else None


def has_any(conn: sqlite3.Connection, user_id: str | None) -> bool:
    """Whether a user must show a second factor; None: whether any operator has one."""
    if user_id is None:
        return bool(value_of(conn, _OF_OPERATORS))
    return bool(table(conn, _TABLE).count_where("user_id = ?", (user_id,)))


def shown(conn: sqlite3.Connection, user_id: str) -> tuple[FactorView, ...]:
    """A user's factors, as operators see them."""
    return tuple(map(factor_view, of_user(conn, user_id)))


def codes_left(conn: sqlite3.Connection, user_id: str) -> int:
    """How many recovery codes a user has not used."""
    return table(conn, _CODES).count_where("user_id = ? AND used_at IS NULL", (user_id,))


def _put(conn: sqlite3.Connection, new: Factor) -> None:
    if len(of_user(conn, new.user_id)) >= FACTORS_MAX:
        raise Conflict(f"A user can have at most {FACTORS_MAX} factors.")
    if new.kind is FactorKind.PASSKEY and by_credential(conn, new.credential) is not None:
        raise Conflict("This passkey is already here.")
    writable(conn, _TABLE).insert(columns_of(asdict(new)))


def forget_all(conn: sqlite3.Connection, user_id: str) -> int:
    """Delete a user's factors and recovery codes; returns how many factors there were."""
    count = len(of_user(conn, user_id))
    for name in (_TABLE, _CODES):
        writable(conn, name).delete_where("user_id = ?", (user_id,))
    return count


def put_codes(conn: sqlite3.Connection, user_id: str, hashes: Sequence[bytes]) -> None:
    """Store a user's recovery codes in place of the earlier ones."""
    stored = writable(conn, _CODES)
    stored.delete_where("user_id = ?", (user_id,))
    stored.insert_all({"user_id": user_id, "hash": each} for each in hashes)


def add(
    conn: sqlite3.Connection, new: Factor, codes: Sequence[bytes], session_id: str, now_ms: int
) -> Factor:
    """Store a factor. With the first one come recovery codes, and all other sessions of the user
    end: from then on each session has shown a factor.

    Args:
        codes: the hashes of recovery codes, in case it is the first factor.

    Raises:
        NotFound: the user is gone.
        Conflict: it is here already, or the user has too many.
    """
    user = users.user(conn, new.user_id)
    is_first = not has_any(conn, user.id)
    _put(conn, new)
    if is_first:
        put_codes(conn, user.id, codes)
        web_sessions.end(conn, user.id, but=session_id)
    _tell(conn, user, MailKind.FACTOR_ADDED, now_ms, new.kind)
    return new


def remove(
    conn: sqlite3.Connection, user_id: str, factor_id: str, now_ms: int, *, keep_one: bool
) -> Factor:
    """Delete a factor; with the last one the recovery codes go.

    Raises:
        NotFound: the user has no such factor.
        Conflict: it is the last one, and one is to be kept.
    """
    removed, user = factor(conn, user_id, factor_id), users.user(conn, user_id)
    if keep_one and len(of_user(conn, user_id)) == 1:
        raise Conflict("Operators need a second factor here. Set up another one first.")
    writable(conn, _TABLE).delete(factor_id)
    if not has_any(conn, user_id):
        forget_all(conn, user_id)
    _tell(conn, user, MailKind.FACTOR_REMOVED, now_ms, removed.kind)
    return removed


def renew_codes(
    conn: sqlite3.Connection, user_id: str, codes: Sequence[bytes], now_ms: int
) -> None:
    """Store other recovery codes in place of the present ones.

    Raises:
        Conflict: the user has no factor.
    """
    user = users.user(conn, user_id)
    if not has_any(conn, user_id):
        raise Conflict("Recovery codes belong to a factor. Set up a factor first.")
    put_codes(conn, user_id, codes)
    _tell(conn, user, MailKind.RECOVERY_CODES_MADE, now_ms)


def reset(conn: sqlite3.Connection, user_id: str, now_ms: int) -> int:
    """Delete all factors of a user and what they have at identity providers, and end their
    sessions; returns how many there were.

    Raises:
        NotFound: the user is gone.
    """
    user = users.user(conn, user_id)
    count = forget_all(conn, user_id) + identities.forget(conn, user_id)
    if count:
        web_sessions.end(conn, user_id)
        _tell(conn, user, MailKind.FACTORS_RESET, now_ms)
    return count


def tell_code_used(conn: sqlite3.Connection, user: User, now_ms: int) -> None:
    """A recovery code let somebody in: its owner may not have been that."""
    _owe(conn, user, user, MailKind.RECOVERY_CODE_USED, now_ms, None)


def _tell(
    conn: sqlite3.Connection,
    user: User,
    kind: MailKind,
    now_ms: int,
    factor: FactorKind | None = None,
) -> None:
    for each in (user, *_others(conn, user)):
        _owe(conn, each, user, kind, now_ms, factor)


def _others(conn: sqlite3.Connection, user: User) -> list[User]:
    """Owners of the user's organizations; and of an operator, all operators."""
    user_ids = {
        owner
        for place in members.of_user(conn, user.id)
        for owner in members.owners(conn, place.organization_id)
    }
    if user.operator:
        user_ids |= {each.id for each in users.operators(conn)}
    return [users.user(conn, each) for each in sorted(user_ids - {user.id})[:TOLD_MAX]]


def _owe(
    conn: sqlite3.Connection,
    reader: User,
    user: User,
    kind: MailKind,
    now_ms: int,
    factor: FactorKind | None,
) -> None:
    details = {
        "who": user.email,
        "at": now_ms,
        "factor": "" if factor is None else factor.value,
    }
    mails.owe(conn, NewMail(kind, reader.email, reader.language, details), now_ms)


def use(conn: sqlite3.Connection, user_id: str, proof: FactorProof, now_ms: int) -> bool:
    """Accept a proof once; False: it was used before, or its factor is gone.

    One statement compares and writes: the same code, sent twice at once, passes once.
    """
    values = {
        "user": user_id,
        "id": proof.factor_id,
        "counter": proof.counter,
        "code": proof.code,
        "now": now_ms,
    }
    return conn.execute(_USES[proof.kind], values).rowcount == 1


# -- at sign-in, and within a session


def judge(
    conn: sqlite3.Connection,
    browser: bytes,
    tried: FactorTry,
    entrant: Entrant,
    rules: SignInRules,
) -> LetIn | Denied | TurnedAway:
    """Judge the second factor of a browser whose code was right, and count the attempt."""
    request = sign_in_tokens.request_of(conn, browser)
    if request is None or request.user_id is None or request.attempts >= ATTEMPTS_MAX:
        return Denied(0)
    if entrant.now_ms >= request.expires_at:
        return wrong(conn, entrant, request, FailureReason.EXPIRED, Denied(0), rules)
    if tried.is_guessable and not entrant.known_browser:
        refusal = factor_held_up(conn, request.kind, request.email, entrant.now_ms)
        if refusal is not None:
            return wrong(conn, entrant, request, FailureReason.HELD_UP, refusal, rules)
    if tried.proof is None or not use(conn, request.user_id, tried.proof, entrant.now_ms):
        denied = Denied(ATTEMPTS_MAX - request.attempts - 1)
        return wrong(conn, entrant, request, FailureReason.WRONG_FACTOR, denied, rules)
    sign_in_tokens.end_request(conn, request.id)
    known = users.user(conn, request.user_id)
    if (refused := refuse_no_operator(conn, entrant, request.kind, known, rules)) is not None:
        return refused
    if tried.proof.kind is ProofKind.RECOVERY_CODE:
        tell_code_used(conn, known, entrant.now_ms)
    device = replace(entrant.device, kind=request.kind)
    return enter(conn, replace(entrant, device=device), known, tried.proof.kind.value)


def enter_by_passkey(
    conn: sqlite3.Connection, user_id: str, tried: FactorTry, entrant: Entrant, rules: SignInRules
) -> LetIn | Denied | TurnedAway:
    """Sign in with a passkey alone, which is two factors: the device, and who unlocked it."""
    known = users.find(conn, user_id)
    kind = entrant.device.kind
    if known is None or tried.proof is None:
        return Denied(0)
    if (refused := refuse_no_operator(conn, entrant, kind, known, rules)) is not None:
        return refused
    if not use(conn, user_id, tried.proof, entrant.now_ms):
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
    if tried.proof is None or not use(conn, user.id, tried.proof, entrant.now_ms):
        failure = failure_of(entrant, kind, user.email, FailureReason.WRONG_FACTOR)
        return turn_away(conn, failure, Denied(ATTEMPTS_MAX), rules)
    if tried.proof.kind is ProofKind.RECOVERY_CODE:
        tell_code_used(conn, user, entrant.now_ms)
    freshened(conn, session_id, entrant, tried.proof.kind.value)
    return True


@dataclass(frozen=True, slots=True)
class FactorRepository:
    """Users' second factors. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    of_user = read(of_user)
    by_credential = read(by_credential)
    codes_left = read(codes_left)

    # -- seeds of apps, which the database has sealed

    def sealed(self, factor_id: str, seed: str) -> str:
        """A seed as the database keeps it."""
        return self._store.sealing.seal(SecretPurpose.TOTP_SEED, factor_id, seed.encode())

    def seed_of(self, app: Factor) -> str | None:
        """The seed of an app; None: the key that sealed it is lost."""
        try:
            return self._store.sealing.unseal(SecretPurpose.TOTP_SEED, app.id, app.seed).decode()
        except SecretLost:
            return None

    # -- commands

    add = audited_command(add)
    remove = audited_command(remove)
    renew_codes = audited_command(renew_codes)
    reset = audited_command(reset)
    judge = command(judge)
    enter_by_passkey = command(enter_by_passkey)
    freshen = command(freshen)
