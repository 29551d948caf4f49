"""Networks compared with their usual rates: hours are summed up once they are over, and kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from risala.config.alerts import AlertsSection
from risala.dataclass import dataclass
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.alerts import readings
from risala.engine.features.alerts.measure import Open
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.rules import Rate, Reading, by_network, latest, usual
from risala.engine.features.alerts.stored.facts import AlertFactsRepository
from risala.engine.services import Services

LAG_MS: Final = 600_000
"""How long after its end an hour is summed up: most receipts have come, most codes have ended. So
all hours are counted at the same age, and can be compared."""
HOUR_MS: Final = 3_600_000
HOURS_AT_ONCE: Final = 24
"""Hours summed up at one check: those from before the first start take some checks."""


@dataclass(frozen=True, slots=True)
class _Judged:
    kind: AlertKind
    network: str
    rate: Rate
    usual: float | None


class Networks:
    def __init__(self, services: Services, limits: AlertsSection) -> None:
        self._facts = services.repositories.part(AlertFactsRepository)
        self._clock = services.recorder.clock
        self._limits = limits
        self._done: int | None = None
        """The last hour that is summed up; None: not read yet."""
        self._judged: list[_Judged] = []
        self._is_known = False

    def retune(self, limits: AlertsSection) -> None:
        """Judge the networks again, by the known hours."""
        self._limits = limits
        self._is_known = False

    async def follow(self) -> None:
        """Sum up the hours that have ended since the last call, and judge the networks by them.

        Raises:
            Unavailable: the storage refused; the next call continues from there.
        """
        now_ms, length = self._clock.now_ms(), self._limits.rate_usual_days * 24
        end = (now_ms - LAG_MS) // HOUR_MS
        after = await self._after(end - length)
        if after is None:
            return
        if after >= end:
            if not self._is_known:  # a start within the hour: raised alerts are judged again
                self._judge(end)
            return
        new = range(after, min(end, after + HOURS_AT_ONCE))
        hours = {hour: counted for hour in new if (counted := await self._facts.hour(hour))}
        if hours:
            await retry_until_committed(
                "alerts", partial(self._facts.write_hours, hours, end - length)
            )
        self._done = new[-1]
        if new[-1] == end - 1:
            self._judge(end)

    async def _after(self, least: int) -> int | None:
        """The first hour that is not summed up; None: no messages count."""
        if self._done is None:
            first, last = self._facts.first_hour(), self._facts.last_hour()
            if first is None:
                return None
            self._done = max(first, last + 1 if last is not None else first) - 1
        return max(least, self._done + 1)

    def _judge(self, end: int) -> None:
        limits, facts = self._limits, self._facts
        length, since = limits.rate_hours, end - limits.rate_usual_days * 24
        judged = []
        for kind, rows in (
            (AlertKind.DELIVERY_LOW, facts.deliveries(since)),
            (AlertKind.APPROVAL_LOW, facts.approvals(since)),
        ):
            for network, known in by_network(rows).items():
                middle = usual(known, end, length, limits.rate_count_min)
                judged.append(_Judged(kind, network, latest(known, end, length), middle))
        self._judged, self._is_known = judged, True

    def rates(self, raised: Open) -> Iterator[Reading]:
        for each in self._judged:
            is_raised = (each.kind, each.network) in raised
            rate_facts = (each.kind, each.network, each.rate, each.usual, self._limits)
            yield readings.rate_low(*rate_facts, is_raised=is_raised)

    @property
    def is_known(self) -> bool:
        """Whether networks were judged since the start."""
        return self._is_known
