"""Readings for the alert that a carrier's codes are no longer entered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from risala.config.alerts import AlertsSection
from risala.engine.features.alerts.measure import Open, ReadingGroup
from risala.engine.features.alerts.records import Alert, AlertKind, Facts
from risala.engine.features.alerts.rules import Reading, Verdict
from risala.engine.features.code_figures.counting import CodeCounting
from risala.engine.features.code_figures.rules import CarrierCodes, are_unentered
from risala.engine.services import Services

_KIND = AlertKind.CODES_UNENTERED


def measured(services: Services, _: Callable[[], AlertsSection]) -> tuple[ReadingGroup, ...]:
    """What alerts are raised of: the last codes of each carrier, against its usual share."""
    measure = partial(carriers, services.part(CodeCounting))
    return (ReadingGroup((_KIND,), measure, is_seldom=True),)


def carriers(counting: CodeCounting, raised: Open) -> Iterator[Reading]:
    """One reading for each carrier that has taken codes in the last days.

    What is not known yet, after a start, changes no alert.
    """
    if counting.carriers is None:
        for kind, name in raised:
            if kind is _KIND:
                yield Reading(kind, name, Verdict.UNKNOWN, {})
        return
    for each in counting.carriers:
        yield reading(each, raised.get((_KIND, each.carrier)))


def reading(of: CarrierCodes, alert: Alert | None) -> Reading:
    """Whether a carrier's codes are no longer entered.

    Args:
        alert: None: none is raised.
    """
    known = None if alert is None else alert.facts.get("usual_share")
    raised_share = known if isinstance(known, int | float) else None
    usual = of.usual_share if raised_share is None else raised_share
    facts: Facts = {
        "count": of.codes,
        "share": round(of.share, 3),
        "usual_share": None if usual is None else round(usual, 3),
    }
    is_bad = are_unentered(of, raised_share)
    if is_bad is None:
        return Reading(_KIND, of.carrier, Verdict.UNKNOWN, facts)
    return Reading(_KIND, of.carrier, Verdict.BAD if is_bad else Verdict.GOOD, facts)
