"""Many wrong keys from one address: noticed, logged, and answered a little later.

Only the 401 answers to that address are delayed. Behind a carrier's NAT thousands of clients share
an address, and those with a valid key notice nothing. A key has 190 random bits, so a stronger
brake on guessing is not needed.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog
import trio

from risala.engine.rules.windows import SlidingWindows, Window
from risala.http.common.client_address import ClientAddresses, bucket_of

log = structlog.get_logger("risala.http")

FREE_A_MINUTE: Final = 30
"""Wrong keys a minute from one IPv4 address or IPv6 /64 that are answered at once: as many as a
forgotten client sends that asks every two seconds."""
DELAY_S: Final = 0.5
"""Seconds of the delay: far longer than such an answer normally takes, and too short for any
client's own time limit."""
WAITING_MAX: Final = 1000
"""Answers that one brake delays at the same time, each with its connection; further ones leave at
once."""
ADDRESSES_MAX: Final = 10_000
"""Addresses that are remembered, about 5 MB at most; the one longest unheard of is forgotten."""
SAID_EVERY_S: Final = 600.0
"""Seconds between two lines in the log about one address."""
LINES_EVERY_S: Final = 1.0
"""Seconds between two lines in the log about any address: a flood from everywhere must not become a
flood of lines."""


class GuessBrake:
    """Delays the answers to those who guess more than an honest mistake explains."""

    def __init__(self, now_s: Callable[[], float] = trio.current_time) -> None:
        self._now_s = now_s
        self._failed = SlidingWindows((Window(FREE_A_MINUTE, 60_000),), ADDRESSES_MAX)
        self._waiting = 0

    def is_over(self, bucket: Hashable) -> bool:
        """Count a wrong guess; whether its address has made more than are free."""
        return bool(self._failed.take(bucket, int(self._now_s() * 1000)))

    @property
    def has_room(self) -> bool:
        """Whether one more answer may wait."""
        return self._waiting < WAITING_MAX

    async def wait(self) -> None:
        """Return when the answer to such an address may leave."""
        self._waiting += 1
        try:
            await trio.sleep(DELAY_S)
        finally:
            self._waiting -= 1


class FailedKeys:
    """Counts the wrong keys of each address, and delays the 401 answers to them."""

    def __init__(
        self,
        addresses: ClientAddresses,
        tally: AnswerTally,
        now_s: Callable[[], float] = trio.current_time,
    ) -> None:
        self._addresses = addresses
        self._tally = tally
        self._now_s = now_s
        self._brake = GuessBrake(now_s)
        self._silent_until_s: OrderedDict[Hashable, float] = OrderedDict()
        self._line_at = 0.0
        self._unsaid = 0

    async def hold(self, peer: str | None, forwarded: Sequence[str]) -> None:
        """Count a wrong key; return when its answer may leave.

        ``peer`` and ``forwarded`` as for :meth:`ClientAddresses.of`.
        """
        self._tally.failed_keys += 1
        address = self._addresses.of(peer, forwarded)
        bucket = bucket_of(address)
        if not self._brake.is_over(bucket):
            return
        self._say(bucket, str(address), self._now_s())
        if self._brake.has_room:
            self._tally.failed_keys_delayed += 1
            await self._brake.wait()

    def _say(self, bucket: Hashable, address: str, now_s: float) -> None:
        if now_s < self._silent_until_s.get(bucket, now_s):
            return
        if now_s < self._line_at:
            self._unsaid += 1
            return
        log.warning(
            "keys.failing", address=address, more_than_a_minute=FREE_A_MINUTE, unsaid=self._unsaid
        )
        self._line_at, self._unsaid = now_s + LINES_EVERY_S, 0
        self._silent_until_s[bucket] = now_s + SAID_EVERY_S
        self._silent_until_s.move_to_end(bucket)
        if len(self._silent_until_s) > ADDRESSES_MAX:
            self._silent_until_s.popitem(last=False)


# Answers of the public face: counted by status, for ``/metrics``.


@dataclass(slots=True)
class AnswerTally:
    """Counts since the start. Answers that the server gave before the app (400, 431, 503) count
    too."""

    answers: Counter[int] = field(default_factory=Counter)
    """Answers by status."""
    failed_keys: int = 0
    """Requests with a key that is unknown, disabled or deleted."""
    failed_keys_delayed: int = 0
    """Requests with such a key whose 401 was delayed."""
    crowded: int = 0
    """Answers 503 to a crowd at a carrier's address."""

    def counts(self) -> Mapping[int, int]:
        """Answers by status, without those to a crowd: strangers raise no alert of errors."""
        return {**self.answers, 503: self.answers[503] - self.crowded}

    def page(self) -> bytes:
        """The numbers as Prometheus reads them."""
        return "".join(self._lines()).encode()

    def _lines(self) -> Iterator[str]:
        name = "risala_http_responses_total"
        yield f"# HELP {name} Answers of the public address since the start.\n"
        yield f"# TYPE {name} counter\n"
        for status, count in sorted(self.answers.items()):
            yield f'{name}{{status="{status}"}} {count}.0\n'
        for name, text, count in (
            ("failed_keys", "Requests whose API key was not valid.", self.failed_keys),
            (
                "failed_keys_delayed",
                "Those of them whose 401 was delayed, because many came from one address.",
                self.failed_keys_delayed,
            ),
        ):
            name = f"risala_http_{name}_total"
            yield f"# HELP {name} {text}\n# TYPE {name} counter\n{name} {count}.0\n"
