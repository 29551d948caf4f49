"""Readings for the alert that codes of an organization are pumped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from risala.config.alerts import AlertsSection
from risala.engine.features.alerts.measure import Open, ReadingGroup
from risala.engine.features.alerts.records import AlertKind, Facts
from risala.engine.features.alerts.rules import Reading, Verdict
from risala.engine.features.pumping.joining import guarding_of
from risala.engine.services import Services

if TYPE_CHECKING:
    from risala.engine.features.pumping.guarding import GuardedOrganization

QUIET_MS: Final = 3_600_000
"""The alert is over after an hour without a suspicious code."""
_KIND: Final = AlertKind.CODES_PUMPED


def measured(services: Services, _: Callable[[], AlertsSection]) -> tuple[ReadingGroup, ...]:
    """What alerts are raised of: organizations in which codes were suspicious."""
    return (ReadingGroup((_KIND,), partial(organizations, services), is_seldom=True),)


def organizations(services: Services, raised: Open) -> Iterator[Reading]:
    """One reading for each organization in which codes were suspicious since the start; of one of
    before, that it is over."""
    # Imported here: a service that sends no codes does without.
    from risala.engine.features.pumping.guarding import Guarding

    guarding = guarding_of(services)
    known = guarding.organizations if isinstance(guarding, Guarding) else {}
    now_ms = services.recorder.clock.now_ms()
    for organization_id, whose in known.items():
        if whose.last_found_ms is not None:
            yield reading(services, organization_id, whose, now_ms)
    for kind, subject in raised:
        of = known.get(subject)
        if kind is _KIND and (of is None or of.last_found_ms is None):
            yield Reading(_KIND, subject, Verdict.GOOD, {})


def reading(
    services: Services, organization_id: str, whose: GuardedOrganization, now_ms: int
) -> Reading:
    """Whether codes of an organization are pumped now."""
    suspicion, last_ms = whose.last_suspicion, whose.last_found_ms
    assert suspicion is not None and last_ms is not None, "it has one"  # noqa: PT018 -- together
    usual, seen = suspicion.usual, suspicion.seen
    facts: Facts = {
        "name": services.accounts.organization(organization_id).name,
        "count": round(seen.codes),
        "share": round(seen.entered / seen.codes, 3) if seen.codes else 0.0,
        "usual_share": round(usual.entered / (usual.entered + usual.missed), 3),
        "found": whose.found,
    }
    is_bad = now_ms - last_ms < QUIET_MS
    return Reading(_KIND, organization_id, Verdict.BAD if is_bad else Verdict.GOOD, facts)
