"""Retention: deletes old rows by policy, a few at a time, until cancelled.

The policy is the operator's, and for organizations whose owners chose fewer days, theirs.

Rows are deleted in small units through the journal's writer, each followed by a pause ten times as
long as the unit took. So however much there is to delete, it takes a tenth of the writer's time,
and less if others wait.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

import structlog
import trio

from risala.config.model import RetentionSection
from risala.dataclass import dataclass
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.own_data.records import (
    EVENTS_LATE_MS,
    EVENTS_LATE_WALK,
    EVENTS_WALK,
    LATE_MS,
    RetentionDays,
    RetentionRule,
)
from risala.engine.features.own_data.stored.retention import RetentionRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.feature_work import Forgot, RetentionWalk, WalkKind
from risala.engine.model.features import features
from risala.engine.services import Services

log = structlog.get_logger(__name__)

PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.05
EVERY_S: Final = 3600.0
STORAGE_RETRY_S: Final = 60.0
"""Seconds before the next try after the disk refused: deleting is not urgent."""
DAY_MS: Final = 86_400_000
DETAILS_MS: Final = 30 * DAY_MS
"""For how long there is what callers said of codes."""
_WITHOUT_DAYS: Final = (WalkKind.CLEARED, WalkKind.HOPS, WalkKind.SESSION_DETAILS)
"""Walks that go on where the operator keeps all else for ever."""
BEHIND_MS: Final = 2 * DAY_MS
"""Rows that should have been deleted this long ago are reported as overdue."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are deleted after how many days."""

    name: str
    days: int
    """Days after which they are deleted; 0: never, unless somebody deletes what they belong to."""
    walks: tuple[RetentionWalk, ...]


def rules(section: RetentionSection) -> tuple[Rule, ...]:
    """The rules from the settings."""
    texts_ms, timelines_ms = section.texts_days * DAY_MS, section.timelines_days * DAY_MS
    events_ms, inbound_ms = section.events_days * DAY_MS, section.inbound_days * DAY_MS
    mailings = RetentionWalk(WalkKind.MAILINGS, section.mailings_days * DAY_MS)
    inbound = RetentionWalk(WalkKind.INBOUND, inbound_ms)
    timelines = _twice(WalkKind.TIMELINES, timelines_ms)
    hops = RetentionWalk(WalkKind.HOPS, 0)
    bank_texts = RetentionWalk(WalkKind.BANK_TEXTS, inbound_ms, "bank_texts")
    texts = (bank_texts, RetentionWalk(WalkKind.OWN_ANSWERS, inbound_ms))
    every_rule = [
        Rule("texts", section.texts_days, _twice(WalkKind.TEXTS, texts_ms)),
        Rule("timelines", section.timelines_days, (*timelines, *_walked(hops))),
        Rule("events", section.events_days, (RetentionWalk(WalkKind.EVENTS, events_ms),)),
        Rule("inbound", section.inbound_days, _walked(inbound, *texts, *_talks(inbound))),
    ]
    if walks := _walked(mailings):
        details = RetentionWalk(WalkKind.SESSION_DETAILS, DETAILS_MS)
        walks += (RetentionWalk(WalkKind.CLEARED, 0), *_walked(details))
        every_rule.append(Rule("mailings", section.mailings_days, walks))
    return tuple(every_rule)


def _talks(texts: RetentionWalk) -> tuple[RetentionWalk, ...]:
    """The walks through what there is of texts that go by another walk."""
    kinds = (WalkKind.CONVERSATIONS, WalkKind.ANSWERS, WalkKind.ALARMS)
    return tuple(
        RetentionWalk(kind, texts.age_ms, organizations=texts.organizations) for kind in kinds
    )


def _walked(*walks: RetentionWalk) -> tuple[RetentionWalk, ...]:
    """Walks of the core, and of features that are there."""
    theirs = {kind for each in features() for kind in each.walks}
    return tuple(walk for walk in walks if walk.kind in theirs or walk.kind is WalkKind.INBOUND)


def _twice(kind: WalkKind, age_ms: int, *organizations: str) -> tuple[RetentionWalk, RetentionWalk]:
    """Walks through messages when they are due, and again when none of them can be under way."""
    return (
        RetentionWalk(kind, age_ms, kind.value, organizations),
        RetentionWalk(kind, age_ms + LATE_MS, f"{kind.value}.late", organizations),
    )


def chosen_rules(
    section: RetentionSection, chosen: Mapping[str, RetentionDays]
) -> tuple[Rule, ...]:
    """The rules from owners' choices that keep data for a shorter time than the operator."""
    chosen_ones: list[Rule] = []
    by_days: defaultdict[int, list[str]] = defaultdict(list)
    for organization_id, days in chosen.items():
        if _is_shorter(days.texts, section.texts_days):
            chosen_ones.append(_texts_of(organization_id, days.texts))
        if _is_shorter(days.inbound, section.inbound_days):
            walk = RetentionWalk(
                WalkKind.INBOUND, days.inbound * DAY_MS, organizations=(organization_id,)
            )
            chosen_ones.append(Rule("inbound", days.inbound, _walked(walk, *_talks(walk))))
        if _is_shorter(days.events, section.events_days):
            by_days[days.events].append(organization_id)
    chosen_ones += (_events_of(days, by_days[days]) for days in sorted(by_days))
    return tuple(chosen_ones)


def _is_shorter(days: int | None, operators_days: int) -> TypeGuard[int]:
    return days is not None and (not operators_days or days < operators_days)


def _texts_of(organization_id: str, days: int) -> Rule:
    return Rule("texts", days, _twice(WalkKind.TEXTS, days * DAY_MS, organization_id))


def _events_of(days: int, organizations: Sequence[str]) -> Rule:
    walks = tuple(
        RetentionWalk(
            WalkKind.CHOSEN_EVENTS,
            days * DAY_MS + late_ms,
            name.format(days=days),
            tuple(organizations),
        )
        for name, late_ms in ((EVENTS_WALK, 0), (EVENTS_LATE_WALK, EVENTS_LATE_MS))
    )
    return Rule("events", days, walks)


def all_rules(section: RetentionSection, kept: RetentionRepository) -> tuple[Rule, ...]:
    """The operator's rules, then those of owners."""
    return (*rules(section), *chosen_rules(section, kept.chosen()))


async def step(
    kept: RetentionRepository,
    rule: Rule,
    walk: int,
    after: str,
    now_ms: int,
    *,
    by: AuditEntry | None = None,
) -> Forgot:
    """One unit of one rule's walk.

    Raises:
        Unavailable: the unit could not be written.
    """
    on = rule.walks[walk]
    if rule.days == 0 and on.kind not in _WITHOUT_DAYS:
        return Forgot(0, after, done=True)
    return await kept.forget(by, on, now_ms, after)


class Retention:
    """The service that deletes what is due."""

    def __init__(self, services: Services) -> None:
        self._items = services.set_aside.loop("retention")
        self._kept = services.repositories.part(RetentionRepository)
        self._storage = services.repositories.storage
        self._clock = services.recorder.clock
        self._section = services.settings.retention

    async def run(self) -> None:
        """Delete what is due, until cancelled."""
        while True:
            gone = await retry_until_committed("retention", self._pass, again_max_s=STORAGE_RETRY_S)
            if gone:
                log.info("retention.forgot", **gone)
            await retry_until_committed("retention", self._note, again_max_s=STORAGE_RETRY_S)
            await trio.sleep(EVERY_S)

    async def _note(self) -> None:
        await self._storage.note_passed(self._clock.now_ms())

    async def _pass(self) -> Counter[str]:
        gone: Counter[str] = Counter()
        for rule in all_rules(self._section, self._kept):
            for walk, on in enumerate(rule.walks):
                name = " ".join((on.kind.value, on.name, *on.organizations))
                if self._items.is_free(name):
                    with self._items.item(name):
                        await self._walk(rule, walk, gone)
        return gone

    async def _walk(self, rule: Rule, walk: int, gone: Counter[str]) -> None:
        after, done = "", False
        while not done:
            began_s = trio.current_time()
            forgot = await step(self._kept, rule, walk, after, self._clock.now_ms())
            after, done = forgot.after, forgot.done
            if forgot.rows:
                gone[rule.name] += forgot.rows
            took_s = trio.current_time() - began_s
            await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))


def overview(
    section: RetentionSection, kept: RetentionRepository, now_ms: int
) -> list[RetentionRule]:
    """Each rule with the age of the oldest row that is left, and whether it is behind."""
    shown_rules = []
    for rule in rules(section):
        oldest = kept.oldest(rule.name)
        due_ms = now_ms - rule.days * DAY_MS - BEHIND_MS
        overdue = rule.days > 0 and oldest is not None and oldest < due_ms
        shown_rules.append(RetentionRule(rule.name, rule.days or None, oldest, overdue))
    return shown_rules
