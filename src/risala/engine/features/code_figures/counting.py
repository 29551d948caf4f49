"""Counts codes as their sessions are settled, and forgets old counts: a service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.engine.actors.set_aside import concerns_all
from risala.engine.features.code_figures.rules import AT_ONCE, CarrierCodes
from risala.engine.features.code_figures.stored.counts import (
    CodeCountRepository,
    CodeTotal,
)
from risala.engine.journal.repositories import Repositories
from risala.engine.model.errors import Draining, Unavailable
from risala.engine.model.features import Task
from risala.engine.services import Services

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = structlog.get_logger(__name__)

LOOK_S: Final = 60.0
"""Between two looks at what is settled: figures read newer sessions themselves."""
BETWEEN_S: Final = 0.05
"""Between two units of counting, so that a long history takes a part of the writer only."""
JUDGE_LOOKS: Final = 5
"""Looks between two judgements of carriers: alerts are checked as seldom."""
STEPS: Final = ("asked", "sent", "delivered", "entered")


class CodeCounting:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._stored = services.repositories.part(CodeCountRepository)
        self._clock = services.recorder.clock
        self._plan = services.settings.plan
        self._items = services.set_aside.loop("code_counts")
        self._looks = 0
        self._judged_to: str | None = None
        """The newest session when carriers were last read."""
        self.carriers: tuple[CarrierCodes, ...] | None = None
        """The last codes of each carrier; None: not read yet, or there was never a code."""

    def of_carrier(self, name: str) -> CarrierCodes | None:
        """The last codes of a carrier; None: it took none, or they are not read yet."""
        return next((each for each in self.carriers or () if each.carrier == name), None)

    def country_of(self, number: str) -> str | None:
        """The two letters of the served country that a number belongs to."""
        country = self._plan.country_of(number)
        return None if country is None else country.code

    async def run(self) -> None:
        """Count until cancelled."""
        while True:
            await trio.sleep(LOOK_S)
            try:
                await self.follow()
            except Draining:
                raise
            except Unavailable as error:
                log.warning("codes.storage", reason=str(error))

    async def follow(self) -> None:
        """Count all that is settled, and every few times look at the carriers.

        Raises:
            Unavailable: the storage refused; the next call continues from there.
        """
        await self.count_settled()
        while self._stored.has_old(self._clock.now_ms()):
            await self._stored.forget_old(self._clock.now_ms())
            await trio.sleep(BETWEEN_S)
        if self._looks % JUDGE_LOOKS == 0:
            await self._look_at_carriers()
        self._looks += 1

    async def count_settled(self) -> None:
        """Count until the next session may still change."""
        try:
            while self._stored.has_settled(self._clock.now_ms()):
                await self._count(AT_ONCE)
                await trio.sleep(BETWEEN_S)
        except Exception as fault:
            if concerns_all(fault):
                raise
            await self._count_each()

    async def _count(self, at_once: int) -> int:
        """Count the next sessions; returns how many."""
        return await self._stored.count_next(self._clock.now_ms(), self.country_of, at_once)

    async def _count_each(self) -> None:
        """Count the next sessions one by one, and leave out those that cannot be counted: they are
        not tried again, as later ones are counted by then."""
        for _ in range(AT_ONCE):
            session = self._stored.next_session()
            if session is None:
                return
            is_broken = True
            with self._items.item(session):
                if await self._count(1) == 0:
                    return
                is_broken = False
            if is_broken:
                await self._stored.pass_over(session)
            await trio.sleep(BETWEEN_S)

    async def _look_at_carriers(self) -> None:
        newest = self._stored.newest_session()
        if newest != self._judged_to:
            now_ms = self._clock.now_ms()
            self.carriers = tuple(await self._stored.carriers_lately(now_ms))
            self._judged_to = newest


def lately(services: Services) -> CodeCounting:
    """For pages of carriers: what is known of each one's codes."""
    return services.part(CodeCounting)


def tasks(services: Services) -> Sequence[Task]:
    return (("codes' counts", services.part(CodeCounting).run, True),)


def of_codes(repositories: Repositories, _: int) -> Iterator[Metric]:
    """How many codes were asked for, sent, delivered and entered, by carrier and channel."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import counter

    totals = repositories.part(CodeCountRepository).totals()
    text = "Live codes that are settled, by carrier, channel, and how far they came."
    rows = [(_labels(each, step), getattr(each, step)) for each in totals for step in STEPS]
    yield counter("codes", text, rows)
    text = "Those of them that were entered within 60 seconds of being asked for."
    rows = [(_labels(each), each.in_minute) for each in totals]
    yield counter("codes_entered_within_minute", text, rows)


def _labels(total: CodeTotal, step: str | None = None) -> dict[str, str]:
    labels = {"carrier": total.carrier, "channel": total.channel}
    return labels if step is None else {**labels, "step": step}
