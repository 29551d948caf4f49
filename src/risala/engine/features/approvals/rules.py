"""Four eyes: what one operator may do alone, and who may confirm the rest. Pure."""

from __future__ import annotations

from typing import Final

from risala.engine.model.callers import Caller

APPROVAL_MS: Final = 72 * 3_600_000
"""How long a request waits: over a weekend, and not so long that nobody knows why it was asked."""
PENDING_MAX: Final = 200
"""Requests that wait at a time, of all operators: more than two people look through."""
PENDING_EACH_MAX: Final = 50
"""Requests of one operator that wait at a time, so that one cannot take all places."""
DAY_MS: Final = 86_400_000


def operator_key(caller: Caller) -> str:
    """A key that an operator keeps, whatever their address is now: a user, or a user of this
    machine."""
    return caller.user_id or f"machine {caller.who}"


def needs_second(limit: int, alone: int, amount: int | None) -> bool:
    """Whether a second operator must confirm.

    Args:
        limit: from here on it needs two; minor units.
        alone: what the operator did alone today.
        amount: what is to be done now; None: it always needs two.
    """
    return amount is None or alone + amount >= limit


def is_asker(caller: Caller, asked_key: str, asked_by: str) -> bool:
    """Whether a caller is the one who asked, in whatever session and under either name."""
    return operator_key(caller) == asked_key or caller.who == asked_by
