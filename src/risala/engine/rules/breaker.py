"""The circuit breaker of a worker: after many refusals in a row, stop using the carrier. Pure."""

from __future__ import annotations


class Breaker:
    """Closed → open after ``failures_max`` failures in a row → one probe after ``open_s``.

    Times are seconds of one monotonic clock, handed in.
    """

    def __init__(self, failures_max: int, open_s: float) -> None:
        self._failures_max = failures_max
        self._open_s = open_s
        self._failures = 0
        self._open_until_s: float | None = None
        self._probing = False

    def allows(self, now_s: float) -> bool:
        """True if a submit may go out; after the wait only one, the probe."""
        if self._open_until_s is None:
            return True
        return now_s >= self._open_until_s and not self._probing

    @property
    def open_until_s(self) -> float | None:
        """When the next probe may go out; None while the breaker is closed."""
        return self._open_until_s

    def submitted(self) -> None:
        """A submit goes out: while open, it is the probe."""
        self._probing = self._open_until_s is not None

    def succeeded(self) -> None:
        self._failures = 0
        self._open_until_s = None

    def failed(self, now_s: float) -> bool:
        """Count a failure; True if it opened the breaker."""
        self._failures += 1
        was_open = self._open_until_s is not None
        if self._failures >= self._failures_max:
            self._open_until_s = now_s + self._open_s
        self._probing = False
        return self._open_until_s is not None and not was_open

    def withdrew(self) -> None:
        """Forget a submit that shows nothing about the carrier's health: it did not leave, or was
        throttled."""
        self._probing = False
