"""Alerts in words, in the reader's language: for mails, pages, calls and the command line.

The words are in ``alert_words/*.toml``, one file for each language, each with the same kinds and
the same placeholders. A placeholder has the name of a fact, or is ``subject``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.model.people import Language
from risala.engine.people.lines import one_line
from risala.engine.rules.alerts.alert import Alert, AlertKind, Fact

Catalogue = Mapping[str, Mapping[str, str]]
SayDriver = Callable[[Language, str], str]
"""Says a driver's text in a language, as far as it is one of our drivers'."""
NEVER: Final = "backup_never"
"""The words for an installation without any backup."""
OF_DRIVER: Final = "text"
"""The fact that is a driver's text."""
_NETWORKS: Final = (AlertKind.DELIVERY_LOW, AlertKind.APPROVAL_LOW)
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86_400
_SHOWN_FROM: Final = 2
"""A time is written in the largest unit of which there are at least two."""


@dataclass(frozen=True, slots=True)
class AlertWords:
    title: str
    """Half a line: the problem."""
    text: str
    """A sentence or two: with its figures, and what to do."""
    lasted: str
    """How long it lasted, or empty while it lasts."""


@cache
def catalogue(language: Language) -> Catalogue:
    """The words of one language."""
    place = files("risala.engine.people") / "alert_words" / f"{language.value}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


def as_written(_: Language, text: str) -> str:
    """A driver's text as the driver wrote it."""
    return text


def alert_words(alert: Alert, language: Language, say_driver: SayDriver = as_written) -> AlertWords:
    """The words of an alert; others' texts in it cannot break a line."""
    words, facts = catalogue(language), alert.facts
    subject = alert.subject
    if alert.kind in _NETWORKS:  # "mattel"; one abroad has its country in front: "SN/Orange"
        subject = subject[:1].upper() + subject[1:]
    said = {name: _spoken(name, value, words) for name, value in facts.items()}
    if isinstance(of_driver := facts.get(OF_DRIVER), str):
        said[OF_DRIVER] = say_driver(language, one_line(of_driver))
    never = alert.kind is AlertKind.BACKUP_OLD and facts.get("ever") == "no"
    of = words[NEVER if never else alert.kind.value]
    holes = _Holes({**said, "subject": one_line(subject)})
    lasted = ""
    if alert.over_at is not None:
        lasted = _duration((alert.over_at - alert.raised_at) / 1000, words)
    return AlertWords(of["title"].format_map(holes), of["text"].format_map(holes), lasted)


class _Holes(dict[str, str]):
    """A fact that an older version did not store is a dash."""

    def __missing__(self, name: str) -> str:
        return "–"


def _spoken(name: str, value: Fact, words: Catalogue) -> str:
    units: Mapping[str, Any] = words["units"]
    if isinstance(value, str):
        return words["words"].get(value) or one_line(value)
    if value is None:
        return "–"
    if name.endswith("_s"):
        return _duration(abs(value), words)
    if name.endswith("share"):
        return str(units["share"].format(count=f"{100 * value:.3g}"))
    if name.endswith("_bytes"):
        return str(units["bytes"].format(count=f"{value / 1e6:.0f}"))
    return f"{value:.12g}"


def _duration(span_s: float, words: Catalogue) -> str:
    units = words["units"]
    for unit, size_s in (("days", _DAY_S), ("hours", _HOUR_S)):
        if span_s >= _SHOWN_FROM * size_s:
            return units[unit].format(count=f"{span_s / size_s:.0f}")
    return units["minutes"].format(count=f"{max(1, span_s / _MINUTE_S):.0f}")
