"""The parts of a worker: its jobs, counts, the operator's gate, its hooks."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Final

import structlog

from risala.dataclass import dataclass
from risala.engine.model.errors import Unavailable
from risala.engine.model.numbers import halves_of, part_of
from risala.engine.model.records.attempts import Repeat
from risala.engine.model.records.messages import DueRow
from risala.engine.rules.router import message_class_of
from risala.sms.message import WHOLE, Alphabet, Segment
from risala.sms.segment import Parts
from risala.sms.values import quickly

# How long a carrier takes to answer, counted in buckets as in Prometheus.

BUCKETS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper ends: SMPP answers in tens of milliseconds, a modem in seconds."""


class Latency:
    """The answer times of one worker since the start."""

    __slots__ = ("_counts", "sum_s")

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS_S) + 1)
        self.sum_s = 0.0

    def add(self, took_s: float) -> None:
        """Count an answer that took this long."""
        self._counts[bisect_left(BUCKETS_S, took_s)] += 1
        self.sum_s += took_s

    def buckets(self) -> list[int]:
        """The number of answers within each of :data:`BUCKETS_S`; at the end the number of all."""
        cumulative, whole = [], 0
        for count in self._counts:
            whole += count
            cumulative.append(whole)
        return cumulative


log = structlog.get_logger(__name__)

_segment: Final = quickly(Segment)


@dataclass(slots=True)
class Job:
    """A message that a worker handles: its row, its parts, and which of them is next."""

    row: DueRow
    parts: Parts
    remaining: deque[int]
    """Numbers of the parts still to be accepted; only :data:`~risala.sms.message.WHOLE` if it goes
    whole."""
    alphabet: Alphabet
    reference: int
    """The reference that its parts share; 0 if it has only one part."""
    attempt: int = 0
    """0 until the attempt is on disk."""
    partly_accepted: bool = False
    repeat: Repeat | None = None
    """Set while its next part is one that this attempt has submitted before, without an answer."""

    def segment_of(self, attempt: int, number: int) -> Segment:
        """One part of the message, in an attempt of that number."""
        self.attempt = attempt
        return self.segment(number)

    def segment(self, number: int) -> Segment:
        """One part of the message, in the form that a driver gets."""
        row, texts = self.row, self.parts.texts
        before, behind = ("", "") if row.part is None else halves_of(row.part)
        return _segment(
            message_id=row.id,
            number=number,
            total=1 if number == WHOLE else len(texts),
            attempt=self.attempt,
            sender=row.sender,
            recipient=row.recipient,
            alphabet=self.alphabet,
            text="".join(texts) if number == WHOLE else texts[number - 1],
            reference=self.reference,
            reference_bits=self.parts.reference_bits,
            expires_at_ms=row.valid_until,
            urgent=row.priority == 0,
            within=None if row.part is None else part_of(row.part),
            half_before=before,
            half_behind=behind,
            message_class=message_class_of(row.route),
        )


def tell_unwritten(carrier: str, message_id: str, error: BaseException) -> None:
    """Log why something about a message could not be written down."""
    if isinstance(error, Unavailable):
        log.warning("lane.storage", carrier=carrier, reason=str(error))
    else:
        log.error("lane.bug", carrier=carrier, message_id=message_id, exc_info=error)


@dataclass(slots=True)
class Counts:
    submitted: int = 0
    accepted: int = 0
    throttled: int = 0
    refused: int = 0
    uncertain: int = 0
    late: int = 0
    receipts: int = 0
    final: int = 0
    """Receipts that end a message."""
    latency: Latency = field(default_factory=Latency)


@dataclass(frozen=True, slots=True)
class WorkerHooks:
    """What a worker reports to the scheduler and asks the router; all synchronous."""

    changed: Callable[[], None]
    """A slot is free, or the health has changed."""
    release: Callable[[str], None]
    """The worker has finished with a message: only the journal counts again."""
    put_back: Callable[[DueRow], None]
    """Puts a message back whose due time is unchanged."""
    next_route: Callable[[DueRow, tuple[str, ...]], str | None]
    """The next route for a message that the carriers of these names refused."""
    willing_route: Callable[[DueRow, tuple[str, ...], int], str | None]
    """The route to a healthy carrier that would take so many segments now; None: there is none."""
