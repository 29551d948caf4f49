"""Alerts: a problem is reported once, and once more when it is over.

A check measures all possible problems; a reading has to persist for a while (``rules``). A turn is
stored together with the mails and calls that are owed for it, in one transaction: a restart neither
raises an alert again nor forgets one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.config.alerts import AlertsSection
from risala.config.model import Settings
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.alerts.calls import alert_calls
from risala.engine.features.alerts.measure import Measuring, ReadingGroup
from risala.engine.features.alerts.networks import Networks
from risala.engine.features.alerts.records import Alert, AlertKind
from risala.engine.features.alerts.rules import (
    WELL,
    AlertAudience,
    AlertState,
    AlertTurn,
    Reading,
    Turning,
    Verdict,
    step,
)
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.model.errors import Draining, Unavailable
from risala.engine.model.features import Task, features
from risala.engine.services import Services

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = structlog.get_logger(__name__)

LOOK_S: Final = 60.0
"""Between two checks: a shorter time helps nobody, and a check costs a few milliseconds."""
SELDOM: Final = 5
"""How many checks pass between two of what changes slowly, and costs more to measure."""
UPKEEP_S: Final = 3600.0
DAY_MS: Final = 86_400_000
RECEIPTS_KEPT_MS: Final = 30 * DAY_MS
"""A carrier without receipts for this long is not one that gives receipts."""
GONE: Final = {"gone": "yes"}
"""The facts of an alert whose subject no longer exists."""
Key = tuple[AlertKind, str]


class Alerts:
    """A service; see the module's text."""

    def __init__(self, services: Services) -> None:
        self._alerts = services.repositories.part(AlertRepository)
        self._clock = services.recorder.clock
        self._limits: AlertsSection = services.settings.alerts
        self._calls = alert_calls(services)
        self._wake_post = services.surroundings.wake_post
        self._operator = services.settings.mail.operator
        self._measuring = Measuring(services, self._limits)
        self._networks = Networks(services, self._limits)
        self._items = services.set_aside.loop("alerts")
        self._open: dict[Key, Alert] = {}
        self._standings: dict[Key, AlertState] = {}
        self._groups = self._grouped(services)
        self._looks = 0
        self._tidied_s = 0.0

    def retune(self, limits: AlertsSection) -> None:
        """Use these from the next check on. The addresses to call stay as at the start."""
        self._limits = limits
        self._measuring.retune(limits)
        self._networks.retune(limits)

    @property
    def tasks(self) -> Sequence[Task]:
        calls = [] if self._calls is None else [("calls about alerts", self._calls.run, True)]
        return [*calls, ("alerts", self.run, True)]

    @property
    def audience(self) -> AlertAudience:
        """People who get alerts now, and which."""
        limits = self._limits
        return AlertAudience(
            urls=tuple(limits.webhook_url),
            by_mail=self._wake_post is not None and limits.mail,
            operator=self._operator,
            page_only=frozenset(limits.page_only),
        )

    def _grouped(self, services: Services) -> tuple[ReadingGroup, ...]:
        of, kind = self._measuring, AlertKind
        theirs = [
            group
            for feature in features()
            if feature.measured is not None
            for group in feature.measured()(services, lambda: self._limits)
        ]
        return (
            ReadingGroup((kind.CARRIER_DOWN, kind.SIM_BALANCE_LOW, kind.QUOTA_LOW), of.lanes),
            ReadingGroup((kind.RECEIPTS_MISSING,), of.receipts),
            ReadingGroup((kind.ENDS_MISSING,), of.ends),
            ReadingGroup((kind.QUEUE_OLD,), of.queue),
            ReadingGroup((kind.NUMBERS_UNSERVED,), of.unserved),
            ReadingGroup((kind.DISK_LOW,), of.disk),
            ReadingGroup((kind.CLOCK_JUMPED,), of.clock),
            ReadingGroup((kind.ERRORS,), of.errors),
            ReadingGroup((kind.SINK_BEHIND,), of.sinks),
            ReadingGroup((kind.ITEM_SET_ASIDE,), of.set_aside),
            *theirs,
            ReadingGroup((kind.TRAIL_BROKEN,), of.trail),
            ReadingGroup((kind.BACKUP_OLD,), of.backups, is_seldom=True),
            ReadingGroup((kind.BALANCE_LOW,), of.balances, is_seldom=True),
            ReadingGroup((kind.STORAGE_FULL,), of.stored, is_seldom=True),
            ReadingGroup((kind.CODES_ABUSED,), of.codes, is_seldom=True),
            ReadingGroup((kind.INBOUND_UNSERVED,), of.inbound, is_seldom=True),
            ReadingGroup((kind.SIGN_IN_FAILING,), of.sign_ins),
        )

    async def run(self) -> None:
        """Check until cancelled."""
        self._load()
        self._tidied_s = trio.current_time()
        while True:
            await trio.sleep(LOOK_S)
            try:
                await self._evaluate()
                await self._tidy()
            except Draining:
                raise
            except Unavailable as error:
                log.warning("alerts.storage", reason=str(error))

    def _load(self) -> None:
        """Load the raised alerts from the disk."""
        opened = self._alerts.opened(self._items.broken_row)
        self._open = {(each.kind, each.subject): each for each in opened}
        for key, each in self._open.items():
            if not self._state_of(key).is_raised:
                self._standings[key] = AlertState(is_raised=True, flaps=each.flaps)
        for key in [key for key, each in self._standings.items() if each.is_raised]:
            if key not in self._open:
                del self._standings[key]

    def _state_of(self, key: Key) -> AlertState:
        return self._standings.get(key, WELL)

    async def _evaluate(self) -> None:
        is_seldom = self._looks % SELDOM == 0
        self._looks += 1
        readings: list[Reading] = []
        self._measuring.begin()
        if is_seldom:
            with self._items.item("balances"):
                await self._measuring.follow_balances()
            with self._items.item("stored"):
                await self._measuring.follow_stored()
            with self._items.item("networks"):
                await self._networks.follow()
        for group in self._groups:
            if is_seldom or not group.is_seldom:
                readings += self._measured(group)
        if self._networks.is_known:
            rates = ReadingGroup(
                (AlertKind.DELIVERY_LOW, AlertKind.APPROVAL_LOW), self._networks.rates
            )
            readings += self._measured(rates)
        turning = [each for reading in readings if (each := self._judge(reading)) is not None]
        turning = self._items.free(turning, _name_of)
        # One that was muted, or one too many of its kind, may have to be sent now.
        if turning or any(map(self.audience.misses, self._open.values())):
            await self._items.together(turning, _name_of, self._write)

    def _measured(self, group: ReadingGroup) -> list[Reading]:
        """The readings of a group; raised alerts whose subject was not found are over."""
        kinds = [kind for kind in group.kinds if kind.value not in self._limits.off]
        measured = []
        if kinds:
            readings: list[Reading] | None = None
            try:
                # A bug in one subject, or a driver's odd values, must hide no other.
                with self._items.item(group.kinds[0].value):
                    readings = [each for each in group.measure(self._open) if each.kind in kinds]
            except (Unavailable, OSError) as error:
                log.warning("alerts.unmeasured", kinds=[*group.kinds], reason=str(error))
            if readings is None:
                return []
            measured = readings
        seen = {(each.kind, each.subject) for each in measured}
        return [*measured, *self._gone(group, seen)]

    def _gone(self, group: ReadingGroup, seen: set[Key]) -> Iterator[Reading]:
        for kind, subject in {*self._open, *self._standings} - seen:
            if kind in group.kinds:
                yield Reading(kind, subject, Verdict.GOOD, GONE)

    def _judge(self, reading: Reading) -> Turning | None:
        key = (reading.kind, reading.subject)
        # On Trio's clock, because the wall clock may be set while a reading has to persist.
        now_ms = round(trio.current_time() * 1000)
        # A worker has no measured duration; all else that may last for a while has.
        grace_s = self._limits.carrier_down_s if reading.kind is AlertKind.CARRIER_DOWN else 0
        hold_s = self._limits.hold_s
        standing, turn = step(
            self._state_of(key), reading.verdict, now_ms, grace_s * 1000, hold_s * 1000
        )
        if turn is not None:
            known = self._open.get(key)
            return Turning(reading, turn, None if known is None else known.seq)
        if standing == WELL:
            self._standings.pop(key, None)
        else:
            self._standings[key] = standing
        return None

    async def _write(self, turning: Sequence[Turning]) -> None:
        """Store the turns, and owe the mails and calls. The state on disk counts, even if the
        outcome of an attempt is unknown."""
        now_ms = self._clock.now_ms()
        unit = partial(self._alerts.write, turning, self.audience, now_ms)
        await retry_until_committed("alerts", unit)
        for each in turning:
            reading, level = (
                each.reading,
                log.warning if each.turn is AlertTurn.RAISED else log.info,
            )
            level(f"alert.{each.turn}", kind=reading.kind, subject=reading.subject, **reading.facts)
        self._load()
        if self._wake_post is not None:
            self._wake_post()
        if self._calls is not None:
            self._calls.wake()

    async def _tidy(self) -> None:
        """Forget old data, and note which carriers give receipts."""
        now_ms, now_s = self._clock.now_ms(), trio.current_time()
        giving = self._measuring.newly_giving_receipts()
        is_time = now_s - self._tidied_s >= UPKEEP_S
        if not giving and not is_time:
            return
        if is_time:
            await self._alerts.tidy(
                giving,
                alerts_before=now_ms - self._limits.history_days * DAY_MS,
                receipts_before=now_ms - RECEIPTS_KEPT_MS,
                now_ms=now_ms,
            )
        else:
            await self._alerts.note_receipts(giving, now_ms)
        self._measuring.noted(giving, now_ms)
        if is_time:
            self._tidied_s = now_s


def _name_of(turning: Turning) -> str:
    return f"{turning.reading.kind.value} {turning.reading.subject}".rstrip()


def tasks(services: Services) -> Sequence[Task]:
    return services.part(Alerts).tasks


def retune(services: Services, settings: Settings) -> None:
    services.part(Alerts).retune(settings.alerts)


def of_alerts(repositories: Repositories, _: int) -> Iterator[Metric]:
    """The metrics of alerts that are open."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import gauge

    raised = repositories.part(AlertRepository).open_counts()
    text = "Alerts that are open, by their kind."
    yield gauge("alerts_open", text, [({"kind": kind.value}, raised[kind]) for kind in AlertKind])
