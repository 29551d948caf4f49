"""Retention: deletes old rows by policy, a few at a time, for life.

The policy is the operator's, and of organizations whose owners chose fewer days, theirs.

Rows are deleted in small units through the journal's writer, each followed by a pause ten times as
long as the unit took. So however much there is to delete, it takes a tenth of the writer's time,
and less where others wait.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeGuard

import structlog
import trio

from risala.config.model import RetentionSection
from risala.engine.journal.audit.audited import audited
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store import meta
from risala.engine.journal.store.patient import retry_until_committed
from risala.engine.journal.upkeep import retention, retention_days
from risala.engine.journal.upkeep.retention import EVENTS_LATE_MS, LATE_MS, Forgot
from risala.engine.model.audit import AuditEntry
from risala.engine.model.ids import first_id
from risala.engine.model.records.retention import RetentionDays
from risala.engine.model.times import maybe_iso

log = structlog.get_logger(__name__)

ROWS_AT_ONCE: Final = 100
"""Rows of one unit: some milliseconds of the writer."""
PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.05
EVERY_S: Final = 3600.0
PASSED: Final = "retention.passed"
"""Under which the file notes when everything was last looked through."""
STORAGE_RETRY_S: Final = 60.0
"""Seconds before the next try after the disk refused: deleting is in no hurry."""
DAY_MS: Final = 86_400_000
BEHIND_MS: Final = 2 * DAY_MS
"""Rows that should have been deleted this long ago are told as overdue."""

Unit = Callable[[sqlite3.Connection], Forgot]
Make = Callable[[int, str], Unit]
"""Makes a unit from the time (UTC epoch milliseconds) and the place where the last one stopped."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are deleted after how many days."""

    name: str
    days: int
    """Days after which they go; 0: never."""
    walks: tuple[Make, ...]


OLDEST: Final[Mapping[str, Callable[[sqlite3.Connection], int | None]]] = {
    "texts": partial(retention.oldest_message, walk="texts"),
    "timelines": partial(retention.oldest_message, walk="timelines"),
    "events": retention.oldest_event,
    "inbound": retention.oldest_inbound,
}
"""Of each of the operator's rules: when the oldest was accepted, or came, of what is left."""


def rules(section: RetentionSection) -> tuple[Rule, ...]:
    """The rules that the settings make."""
    texts_ms, timelines_ms = section.texts_days * DAY_MS, section.timelines_days * DAY_MS
    events_ms, inbound_ms = section.events_days * DAY_MS, section.inbound_days * DAY_MS
    texts, timelines = retention.texts, retention.timelines
    return (
        Rule(
            "texts",
            section.texts_days,
            (_walk(texts, "texts", texts_ms), _walk(texts, "texts.late", texts_ms + LATE_MS)),
        ),
        Rule(
            "timelines",
            section.timelines_days,
            (
                _walk(timelines, "timelines", timelines_ms),
                _walk(timelines, "timelines.late", timelines_ms + LATE_MS),
            ),
        ),
        Rule("events", section.events_days, (_events(events_ms),)),
        Rule(
            "inbound",
            section.inbound_days,
            (_inbound(inbound_ms), _walk(retention.bank_texts, "bank_texts", inbound_ms)),
        ),
    )


def chosen_rules(
    section: RetentionSection, chosen: Mapping[str, RetentionDays]
) -> tuple[Rule, ...]:
    """The rules that owners' choices make, where they keep things shorter than the operator."""
    found: list[Rule] = []
    by_days: defaultdict[int, list[str]] = defaultdict(list)
    for organization_id, days in chosen.items():
        if _is_shorter(days.texts, section.texts_days):
            found.append(_texts_of(organization_id, days.texts))
        if _is_shorter(days.inbound, section.inbound_days):
            walk = _inbound(days.inbound * DAY_MS, organization_id)
            found.append(Rule("inbound", days.inbound, (walk,)))
        if _is_shorter(days.events, section.events_days):
            by_days[days.events].append(organization_id)
    found += (_events_of(days, by_days[days]) for days in sorted(by_days))
    return tuple(found)


def _is_shorter(days: int | None, operators_days: int) -> TypeGuard[int]:
    return days is not None and (not operators_days or days < operators_days)


def _texts_of(organization_id: str, days: int) -> Rule:
    work = partial(retention.texts, organization_id=organization_id)
    age_ms = days * DAY_MS
    walks = (_walk(work, "texts", age_ms), _walk(work, "texts.late", age_ms + LATE_MS))
    return Rule("texts", days, walks)


def _events_of(days: int, organizations: Sequence[str]) -> Rule:
    walks = tuple(
        _chosen_events(name.format(days=days), organizations, days * DAY_MS + late_ms)
        for name, late_ms in ((retention_days.WALK, 0), (retention_days.LATE_WALK, EVENTS_LATE_MS))
    )
    return Rule("events", days, walks)


def _walk(work: Callable[..., Forgot], name: str, age_ms: int) -> Make:
    def make(now_ms: int, _: str) -> Unit:
        return lambda conn: work(conn, name, now_ms - age_ms, ROWS_AT_ONCE)

    return make


def _events(age_ms: int) -> Make:
    def make(now_ms: int, after: str) -> Unit:
        before_ms = now_ms - age_ms
        return lambda conn: retention.events(conn, after, before_ms, ROWS_AT_ONCE, now_ms)

    return make


def _chosen_events(name: str, organizations: Sequence[str], age_ms: int) -> Make:
    def make(now_ms: int, _: str) -> Unit:
        before_ms = now_ms - age_ms
        return lambda conn: retention.chosen_events(
            conn, name, organizations, before_ms, ROWS_AT_ONCE, now_ms
        )

    return make


def _inbound(age_ms: int, organization_id: str | None = None) -> Make:
    def make(now_ms: int, _: str) -> Unit:
        before = first_id("mo", max(0, now_ms - age_ms))
        return lambda conn: retention.inbound(conn, before, ROWS_AT_ONCE, organization_id)

    return make


def all_rules(section: RetentionSection, reader: sqlite3.Connection) -> tuple[Rule, ...]:
    """The operator's rules, then those of owners."""
    return (*rules(section), *chosen_rules(section, retention_days.chosen(reader)))


async def step(
    recorder: Recorder, rule: Rule, walk: int, after: str, *, by: AuditEntry | None = None
) -> Forgot:
    """One unit of one rule's walk.

    Raises:
        Unavailable: the unit could not be written.
    """
    if rule.days == 0:
        return Forgot(0, after, done=True)
    unit = rule.walks[walk](recorder.clock.now_ms(), after)
    return await recorder.journal.commit(audited(by, unit))


class Retention:
    """The service that deletes what is due."""

    def __init__(
        self, recorder: Recorder, reader: sqlite3.Connection, section: RetentionSection
    ) -> None:
        self._recorder = recorder
        self._reader = reader
        self._section = section

    async def run(self) -> None:
        """Delete what is due, for life."""
        while True:
            gone = await retry_until_committed("retention", self._pass, again_max_s=STORAGE_RETRY_S)
            if gone:
                log.info("retention.forgot", **gone)
            await retry_until_committed("retention", self._note, again_max_s=STORAGE_RETRY_S)
            await trio.sleep(EVERY_S)

    async def _note(self) -> None:
        now_ms = self._recorder.clock.now_ms()
        await self._recorder.journal.commit(lambda conn: meta.put(conn, PASSED, str(now_ms)))

    async def _pass(self) -> Counter[str]:
        gone: Counter[str] = Counter()
        for rule in all_rules(self._section, self._reader):
            for walk in range(len(rule.walks)):
                after, done = "", False
                while not done:
                    began_s = trio.current_time()
                    forgot = await step(self._recorder, rule, walk, after)
                    after, done = forgot.after, forgot.done
                    if forgot.rows:
                        gone[rule.name] += forgot.rows
                    took_s = trio.current_time() - began_s
                    await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))
        return gone


def overview(
    section: RetentionSection, reader: sqlite3.Connection, now_ms: int
) -> list[dict[str, Any]]:
    """Each rule with the age of the oldest row that is left, and whether it is behind."""
    found = []
    for rule in rules(section):
        oldest = OLDEST[rule.name](reader)
        due_ms = now_ms - rule.days * DAY_MS - BEHIND_MS
        found.append(
            {
                "name": rule.name,
                "days": rule.days or None,
                "oldest": maybe_iso(oldest),
                "overdue": rule.days > 0 and oldest is not None and oldest < due_ms,
            }
        )
    return found
