"""Retention: deletes old rows by policy, a few at a time, for life.

Rows are deleted in small units through the journal's writer, each followed by a pause ten times as
long as the unit took. So however much there is to delete, it takes a tenth of the writer's time,
and less where others wait.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
import trio

from risala.config.model import RetentionSection
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store.patient import patiently
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.journal.upkeep import retention
from risala.engine.journal.upkeep.retention import LATE_MS, Forgot
from risala.engine.model.clock import iso
from risala.engine.model.ids import first_id

log = structlog.get_logger(__name__)

ROWS_AT_ONCE: Final = 100
"""Rows of one unit: some milliseconds of the writer."""
PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.05
EVERY_S: Final = 3600.0
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
    oldest: Callable[[sqlite3.Connection], int | None]


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
            partial(retention.oldest_message, walk="texts"),
        ),
        Rule(
            "timelines",
            section.timelines_days,
            (
                _walk(timelines, "timelines", timelines_ms),
                _walk(timelines, "timelines.late", timelines_ms + LATE_MS),
            ),
            partial(retention.oldest_message, walk="timelines"),
        ),
        Rule("events", section.events_days, (_events(events_ms),), retention.oldest_event),
        Rule("inbound", section.inbound_days, (_inbound(inbound_ms),), retention.oldest_inbound),
    )


def _walk(work: Callable[..., Forgot], name: str, age_ms: int) -> Make:
    def make(now_ms: int, _: str) -> Unit:
        return lambda conn: work(conn, name, now_ms - age_ms, ROWS_AT_ONCE)

    return make


def _events(age_ms: int) -> Make:
    def make(now_ms: int, after: str) -> Unit:
        return lambda conn: retention.events(conn, after, now_ms - age_ms, ROWS_AT_ONCE)

    return make


def _inbound(age_ms: int) -> Make:
    def make(now_ms: int, _: str) -> Unit:
        before = first_id("mo", max(0, now_ms - age_ms))
        return lambda conn: retention.inbound(conn, before, ROWS_AT_ONCE)

    return make


async def step(
    recorder: Recorder,
    section: RetentionSection,
    name: str,
    walk: int,
    after: str,
    *,
    by: Signature | None = None,
) -> Forgot:
    """One unit of one rule's walk.

    Raises:
        Unavailable: the unit could not be written.
    """
    rule = next(rule for rule in rules(section) if rule.name == name)
    if rule.days == 0:
        return Forgot(0, after, done=True)
    unit = rule.walks[walk](recorder.clock.now_ms(), after)
    return await recorder.journal.commit(signed(by, unit))


class Retention:
    """The service that deletes what is due."""

    def __init__(self, recorder: Recorder, section: RetentionSection) -> None:
        self._recorder = recorder
        self._section = section

    async def run(self) -> None:
        """Delete what is due, for life."""
        while True:
            gone = await patiently("retention", self._pass, again_max_s=STORAGE_RETRY_S)
            if gone:
                log.info("retention.forgot", **gone)
            await trio.sleep(EVERY_S)

    async def _pass(self) -> Counter[str]:
        gone: Counter[str] = Counter()
        for rule in rules(self._section):
            for walk in range(len(rule.walks)):
                after, done = "", False
                while not done:
                    began_s = trio.current_time()
                    forgot = await step(self._recorder, self._section, rule.name, walk, after)
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
        oldest = rule.oldest(reader)
        due_ms = now_ms - rule.days * DAY_MS - BEHIND_MS
        found.append(
            {
                "name": rule.name,
                "days": rule.days or None,
                "oldest": None if oldest is None else iso(oldest),
                "overdue": rule.days > 0 and oldest is not None and oldest < due_ms,
            }
        )
    return found
