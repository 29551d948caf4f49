"""Rules of signing in: who may, and until when a code is judged. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard

from risala.config.people import SignUp
from risala.dataclass import dataclass
from risala.engine.model.people import SessionKind, User
from risala.engine.model.people_records import CodeRequest
from risala.engine.rules.people.lifetimes import (
    ATTEMPTS_MAX,
    DAY_MS,
    FACTOR_TRIES_PER_DAY,
    FACTOR_TRIES_PER_MONTH,
    FAILURES_PER_DAY,
    FAILURES_PER_MONTH,
)

SLOW: Final = ((DAY_MS, FAILURES_PER_DAY), (30 * DAY_MS, FAILURES_PER_MONTH))
"""Periods, and the number of strangers' wrong codes for one operator's address judged in each."""

SLOW_FACTORS: Final = ((DAY_MS, FACTOR_TRIES_PER_DAY), (30 * DAY_MS, FACTOR_TRIES_PER_MONTH))
"""Periods, and the number of wrong codes of an app that are judged in each."""


@dataclass(frozen=True, slots=True)
class SignInRules:
    """The settings for signing in, and checks that need the server's key."""

    sign_up: SignUp
    matches: Callable[[CodeRequest, str], bool]
    """Whether a code matches a request."""
    hashed_address: Callable[[str], str]
    """The replacement for an e-mail address that no user has."""

    def lets_in(self, known: User | None, kind: SessionKind, *, is_invited: bool) -> bool:
        """Whether the reader of an address's mail may sign in."""
        if kind is SessionKind.OPERATOR:
            return known is not None and known.operator
        may_sign_up = is_invited if self.sign_up is SignUp.INVITED else self.sign_up is SignUp.OPEN
        return known is not None or may_sign_up


def is_over(request: CodeRequest, now_ms: int) -> bool:
    """Whether a request's codes are no longer judged."""
    return now_ms >= request.expires_at or request.attempts >= ATTEMPTS_MAX


def goes_on(
    request: CodeRequest | None, email: str, kind: SessionKind, now_ms: int
) -> TypeGuard[CodeRequest]:
    """Whether another request continues the same one."""
    return (
        request is not None
        and request.user_id is None
        and request.email == email
        and request.kind is kind
        and not is_over(request, now_ms)
    )
