"""When an event is tried again or given up: decided from the answer alone (contract §5)."""

from __future__ import annotations

from dataclasses import field
from datetime import UTC, datetime
from email import utils
from typing import Final

from risala.dataclass import dataclass

WAITS_S: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds of the wait after each failed attempt except the last: three days in all, for an outage
over a weekend."""
TRIES_MAX: Final = len(WAITS_S) + 1
JITTER: Final = 0.1
"""A wait is longer by up to this share: what failed together must not come back together."""
RETRY_AFTER_MAX_S: Final = 86_400
"""``Retry-After`` is honoured up to the schedule's own longest wait."""


CONTENT_BYTES_MAX: Final = 4096
"""Bytes of an answer's body that counts for something (contract §15)."""


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """The body of an answer, where that counts for something."""

    type: str
    """The answer's ``Content-Type``; empty: it has none."""
    octets: bytes | None = field(repr=False)
    """One more than :data:`CONTENT_BYTES_MAX` of a body that is longer; None: it did not come to
    its end in time."""


@dataclass(frozen=True, slots=True)
class ReceiverAnswer:
    """The answer of an endpoint."""

    status: int
    retry_after: str | None
    excerpt: str
    """The beginning of the body as text, for people."""
    content: AnswerContent | None = None
    """None: its body counts for nothing."""


@dataclass(frozen=True, slots=True)
class ReceiverFault:
    """Why no answer came: ``code`` for programs, ``text`` for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What follows from an attempt, for the delivery."""

    state: str
    """``delivered``, ``pending`` (tried again at ``due_at``) or ``failed``."""
    due_at: int
    status: int | None
    error: str | None
    excerpt: str | None
    gone: bool = False


def decide(
    seen: ReceiverAnswer | ReceiverFault, tries: int, now_ms: int, jitter: float
) -> AnswerVerdict:
    """The result of the ``tries``-th attempt.

    Args:
        jitter: a random number from 0 to 1.
    """
    if isinstance(seen, ReceiverFault):
        state, due_at = _again(tries, now_ms, jitter, None)
        return AnswerVerdict(state, due_at, None, f"{seen.code}: {seen.text}", None)
    if 200 <= seen.status < 300:
        return AnswerVerdict("delivered", now_ms, seen.status, None, seen.excerpt)
    error = _sentence(seen.status)
    if seen.status == 410:
        return AnswerVerdict("failed", now_ms, seen.status, error, seen.excerpt, gone=True)
    wait_s = retry_after_s(seen.retry_after, now_ms)
    state, due_at = _again(tries, now_ms, jitter, wait_s)
    return AnswerVerdict(state, due_at, seen.status, error, seen.excerpt)


def _again(tries: int, now_ms: int, jitter: float, asked_s: float | None) -> tuple[str, int]:
    if tries >= TRIES_MAX:
        return "failed", now_ms
    wait_s = WAITS_S[tries - 1] * (1 + JITTER * jitter)
    return "pending", now_ms + round(max(wait_s, asked_s or 0) * 1000)


def _sentence(status: int) -> str:
    if status == 410:
        return "HTTP 410: the endpoint no longer exists."
    if 300 <= status < 400:
        return f"HTTP {status}: redirects are not followed."
    return f"HTTP {status}"


def retry_after_s(text: str | None, now_ms: int) -> float | None:
    """Seconds of a ``Retry-After``, given as seconds or as a date; None if it is neither."""
    if text is None or len(text) > 64:
        return None
    if text.isascii() and text.isdigit():
        return float(min(int(text), RETRY_AFTER_MAX_S))
    try:
        at = utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    wait_s = ((at if at.tzinfo is not None else at.replace(tzinfo=UTC)) - now).total_seconds()
    return min(max(wait_s, 0.0), float(RETRY_AFTER_MAX_S))
