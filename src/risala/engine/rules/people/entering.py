"""Who may come in, and until when a code is judged. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeGuard

from risala.config.people import SignUp
from risala.engine.model.people import SessionKind, User
from risala.engine.model.people_records.sign_in import CodeRequest
from risala.engine.rules.people.lifetimes import (
    ATTEMPTS_MAX,
    DAY_MS,
    FAILURES_PER_DAY,
    FAILURES_PER_MONTH,
)

SLOW: Final = ((DAY_MS, FAILURES_PER_DAY), (30 * DAY_MS, FAILURES_PER_MONTH))
"""Spans, and the wrong codes of strangers for one operator's address that are judged in each."""


@dataclass(frozen=True, slots=True)
class SignInRules:
    """What is set of signing in, and what only the server's key can tell."""

    sign_up: SignUp
    matches: Callable[[CodeRequest, str], bool]
    """Whether a code is that of a request."""
    hashed_address: Callable[[str], str]
    """What stands for an e-mail address that no user has."""

    def lets_in(self, known: User | None, kind: SessionKind, *, is_invited: bool) -> bool:
        """Whether somebody may come in who reads the mail of an address."""
        if kind is SessionKind.OPERATOR:
            return known is not None and known.operator
        may_sign_up = is_invited if self.sign_up is SignUp.INVITED else self.sign_up is SignUp.OPEN
        return known is not None or may_sign_up


def is_over(found: CodeRequest, now_ms: int) -> bool:
    """Whether no code of a request is judged any more."""
    return now_ms >= found.expires_at or found.attempts >= ATTEMPTS_MAX


def goes_on(
    found: CodeRequest | None, email: str, kind: SessionKind, now_ms: int
) -> TypeGuard[CodeRequest]:
    """Whether asking again is about the same request."""
    return (
        found is not None
        and found.email == email
        and found.kind is kind
        and not is_over(found, now_ms)
    )
