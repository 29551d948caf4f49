"""When a call is made again, and when it has failed for good: decided without a socket or a clock.

A call is made again only where that cannot do its work twice: the request never left, the service
refused it without storing anything (408, 429, its own 503), or the call is one whose repetition
changes nothing, as every send with an idempotency key is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .errors import (
    LostAnswerError,
    NotReachedError,
    OutcomeUnknownError,
    RefusedError,
    RisalaError,
    ServiceFaultError,
    TooManyRequestsError,
    UnansweredError,
    UnavailableError,
)

UNSETTLED_STATUSES = (401, 403, 413, 415)
"""Refusals that come before the service looks the idempotency key up: they say nothing of an
attempt whose answer was lost."""
GATEWAY_STATUSES = (502, 503, 504)
"""What a proxy says when the service does not answer it. It may have been asked all the same."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """How long a call tries, and how it waits between two attempts."""

    deadline_s: float = 60.0
    """For the whole call, with all its attempts and waits."""
    attempt_s: float = 15.0
    """For one attempt: longer than the service takes under its heaviest load."""
    connect_s: float = 5.0
    """For the connection: a host that is there answers within a fraction of it."""
    first_wait_s: float = 0.2
    """Before the second attempt, at most; doubled each time. What is waited is drawn at random
    between nothing and that, so that many clients do not come back at one moment."""
    wait_max_s: float = 8.0
    """The most that it is doubled to: a service that is back is asked within it."""
    retry_after_max_s: float = 30.0
    """The longest `Retry-After` that is waited for. A limit of an hour is told at once instead."""


class Tries:
    """The attempts of one call."""

    def __init__(
        self, retrying: Retrying, now: float, *, is_repeatable: bool, chance: Callable[[], float]
    ) -> None:
        """``chance``: a number from 0 to 1, each time another."""
        self._retrying = retrying
        self._deadline = now + retrying.deadline_s
        self._is_repeatable = is_repeatable
        self._chance = chance
        self._failed = 0
        self._is_maybe_done = False

    def limit_s(self, now: float) -> float:
        """How long the next attempt may take."""
        return max(0.0, min(self._retrying.attempt_s, self._deadline - now))

    def wait_s(self, error: RisalaError, now: float) -> float:
        """Seconds to wait before the next attempt. Raises the error that the call ends with, where
        there is to be none."""
        self._failed += 1
        is_lost = _is_maybe_done(error)
        error.is_maybe_done = is_lost
        self._is_maybe_done |= is_lost
        if not _is_passing(error) or (is_lost and not self._is_repeatable):
            raise self._last(error)
        wait_s = self._backoff_s()
        if isinstance(error, RefusedError) and error.retry_after_s is not None:
            if error.retry_after_s > self._retrying.retry_after_max_s:
                raise self._last(error)
            wait_s += error.retry_after_s
        if now + wait_s >= self._deadline:
            raise self._last(error)
        return wait_s

    def _backoff_s(self) -> float:
        doubled = self._retrying.first_wait_s * 2.0 ** min(self._failed - 1, 30)
        return self._chance() * min(doubled, self._retrying.wait_max_s)

    def _last(self, error: RisalaError) -> RisalaError:
        """The error as the call raises it: what an earlier attempt may have done counts too."""
        if not self._is_maybe_done or error.is_maybe_done:
            return error
        if isinstance(error, NotReachedError):
            lost = LostAnswerError(
                "An attempt got no answer, and then the service could not be reached:"
                " whether the call was carried out is not known."
            )
            lost.is_maybe_done = True
            lost.__cause__ = error
            return lost
        is_settled = isinstance(error, RefusedError) and not (
            error.status >= 500 or error.status in UNSETTLED_STATUSES
        )
        error.is_maybe_done = not is_settled
        return error


def _is_maybe_done(error: RisalaError) -> bool:
    """Whether the attempt that ended so may have been carried out."""
    if isinstance(error, UnansweredError):
        return not isinstance(error, NotReachedError)
    if isinstance(error, OutcomeUnknownError):
        return True
    if isinstance(error, UnavailableError):
        return not error.code  # a proxy's: the service's own says that nothing was stored
    return isinstance(error, ServiceFaultError)


def _is_passing(error: RisalaError) -> bool:
    """Whether another attempt may fare better."""
    if isinstance(error, UnansweredError | TooManyRequestsError):
        return error.is_passing
    if isinstance(error, RefusedError):
        return error.status == 408 or error.status in GATEWAY_STATUSES
    return False
