"""What a mailing has come to, and how long the rest takes through which carriers.

Both are counted over all its rows, on a thread; so the last answers are kept, each for as long as
what it cost is worth.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import trio

from risala.dataclass import dataclass
from risala.engine.features.mailings.records import (
    CarrierShare,
    Mailing,
    MailingView,
    MailingWait,
    Outcomes,
    RunPoint,
)
from risala.engine.features.mailings.row_records import StoredMailing
from risala.engine.features.mailings.rules import seconds_for
from risala.engine.features.mailings.sources import MailingSources
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.model.states import Mode
from risala.engine.rules.router import TEST_CARRIER, Router

if TYPE_CHECKING:
    from prometheus_client.core import Metric

T = TypeVar("T")

KEPT_MAX: Final = 200
"""Mailings whose figures are in memory: those that somebody looks at."""
KEEP_FACTOR: Final = 20
"""Figures are kept for so many times as long as counting them took: at most a twentieth of a
processor counts."""
KEEP_MIN_S: Final = 1.0
"""A page looks every two seconds."""


@dataclass(frozen=True, slots=True)
class _Counted(Generic[T]):
    """One kind of figures of a mailing."""

    value: T
    counts: tuple[int, int, int]
    """The counts of the mailing's rows when it was counted."""
    until_s: float


class _Memory(Generic[T]):
    """The last figures of one kind, by mailing, each kept by what it cost."""

    def __init__(self, count: Callable[[StoredMailing], Awaitable[T]]) -> None:
        self._count = count
        self._kept: OrderedDict[str, _Counted[T]] = OrderedDict()

    def forget(self, mailing_id: str) -> None:
        self._kept.pop(mailing_id, None)

    async def of(self, stored: StoredMailing) -> T:
        """The figures of a mailing, counted now or lately."""
        mailing, began_s = stored.mailing, trio.current_time()
        counts = (mailing.rows, mailing.ready, mailing.accepted)
        known = self._kept.get(mailing.id)
        if known is not None and began_s < known.until_s:
            # A draft's figures follow its rows, and the first messages are shown at once.
            is_other = mailing.started_at is None or not known.counts[2]
            if not (is_other and known.counts != counts):
                return known.value
        value = await self._count(stored)
        now_s = trio.current_time()
        until_s = now_s + max(KEEP_MIN_S, KEEP_FACTOR * (now_s - began_s))
        self._kept[mailing.id] = _Counted(value, counts, until_s)
        if len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
        return value


class MailingFigures:
    """See the module's text."""

    def __init__(self, sources: MailingSources) -> None:
        self._sources = sources
        self._outcomes = _Memory(self._outcomes_of)
        self._shares = _Memory(self._shares_of)
        self._runs = _Memory(self._run_of)

    def forget(self, mailing_id: str) -> None:
        """Count a mailing again: its rows have changed."""
        self._outcomes.forget(mailing_id)
        self._shares.forget(mailing_id)
        self._runs.forget(mailing_id)

    async def view(self, stored: StoredMailing) -> MailingView:
        """A mailing as its page shows it."""
        mailing = stored.mailing
        outcomes, shares = await self._outcomes.of(stored), await self._shares.of(stored)
        organization = self._sources.accounts.fresh_organization(mailing.organization_id)
        seconds = _seconds_of(mailing, shares)
        run = await self._runs.of(stored)
        return MailingView(mailing, outcomes, organization.balance, shares, seconds, run)

    async def _outcomes_of(self, stored: StoredMailing) -> Outcomes:
        if not stored.mailing.accepted:
            return Outcomes(0, 0, 0, 0)
        return await self._sources.mailings.outcomes(stored.key)

    async def _run_of(self, stored: StoredMailing) -> tuple[RunPoint, ...]:
        if not stored.mailing.accepted:
            return ()
        return await self._sources.mailings.run(stored.key)

    async def _shares_of(self, stored: StoredMailing) -> tuple[CarrierShare, ...]:
        mailing, router = stored.mailing, self._sources.router
        if not mailing.ready:
            return ()
        if mailing.mode is Mode.TEST:
            return (CarrierShare((TEST_CARRIER,), mailing.ready, None),)
        shares = await self._sources.mailings.shares(stored.key, router.reach)
        by_carriers: dict[tuple[str, ...], tuple[int, int]] = {}
        for each in shares:
            carriers = _first_tier(router, each.number)
            messages, segments = by_carriers.get(carriers, (0, 0))
            by_carriers[carriers] = (messages + each.rows, segments + each.segments)
        paces = self._sources.paces()
        return tuple(
            CarrierShare(
                carriers, messages, _through(segments, [paces.get(c, 0) for c in carriers])
            )
            for carriers, (messages, segments) in by_carriers.items()
        )


def _first_tier(router: Router, number: str) -> tuple[str, ...]:
    """The carriers that take a number first; none: nobody serves it."""
    route = router.routes.get(router.route_key(number))
    return route.tiers[0] if route is not None and route.tiers else ()


def _through(segments: int, paces: Sequence[float]) -> int | None:
    """How long parts take through carriers with these paces, in seconds; None: one of them has
    none, or there is no carrier."""
    if not paces or not all(paces):
        return None
    return ceil(segments / sum(paces))


def _seconds_of(mailing: Mailing, shares: Sequence[CarrierShare]) -> int | None:
    """How long the ready rows take in all; None: unknown."""
    times = [each.seconds for each in shares if each.seconds is not None]
    if mailing.pace is not None:
        times.append(seconds_for(mailing.ready, mailing.pace))
    elif len(times) < len(shares):
        return None
    return max(times, default=0)


def _named_elsewhere(mailing_id: str, fault: Exception) -> None:
    """The loop that sends sets a mailing aside whose row cannot be read."""


def of_mailings(repositories: Repositories, _: int) -> Iterator[Metric]:
    """The metrics of mailings that send, and of their rows."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import gauge

    started = repositories.part(MailingRepository).to_send(_named_elsewhere)
    sending = [stored.mailing for stored in started]
    waits = Counter(each.wait for each in sending)
    text = "Mailings that send, by what they wait for; `nothing`: they are under way."
    rows = [({"wait": "nothing"}, waits[None])]
    rows += [({"wait": wait.value}, waits[wait]) for wait in MailingWait]
    yield gauge("mailings_sending", text, rows)
    text = "Rows of these mailings that have not become messages yet."
    yield gauge("mailing_rows_ready", text, [({}, sum(each.ready for each in sending))])
