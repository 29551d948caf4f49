"""Alerts in words, in the reader's language: for mails, pages, calls and the command line.

The words are in ``words/*.toml``, one file for each language, each with the same kinds and
the same placeholders. A placeholder has the name of a fact, or is ``subject``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.alerts.records import Alert, AlertKind, Fact
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.model.people import Language
from risala.engine.model.people_records import OwedMail
from risala.engine.people.letters import (
    Letters,
    SayDriver,
    Values,
    Words,
    apart,
    as_written,
    figure,
    moment,
    one_line,
)

Catalogue = Mapping[str, Mapping[str, Any]]
NEVER: Final = "backup_never"
"""The words for an installation without any backup."""
OF_DRIVER: Final = "text"
"""The fact that is a driver's text."""
_NETWORKS: Final = (AlertKind.DELIVERY_LOW, AlertKind.APPROVAL_LOW)
_SPANS: Final = {"minutes": "minutes", "limited": "minutes", "hours": "hours"}
"""The facts that are counts of a unit of time, by that unit."""
_BALANCE: Final = "balance"
"""The fact that is an amount, whether it was stored as a number or in digits."""
_SITES: Final = (AlertKind.SIGN_IN_FAILING,)
"""Kinds whose subject is one of our own words."""
_AMOUNT: Final = re.compile(r"-?\d+(?:\.\d+)?")
_GIGA: Final = 1e9
"""Bytes from which they are counted by the thousand million."""
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
    place = resources.files("risala.engine.features.alerts") / "words" / f"{language.value}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


def alert_words(alert: Alert, language: Language, say_driver: SayDriver = as_written) -> AlertWords:
    """The words of an alert; others' texts in it cannot break a line, nor turn it around."""
    words, facts = catalogue(language), alert.facts
    subject = alert.subject
    if alert.kind in _NETWORKS:  # "mattel"; one abroad has its country in front: "SN/Orange"
        subject = subject[:1].upper() + subject[1:]
    elif alert.kind in _SITES:
        subject = words["words"].get(subject, subject)
    shown = {name: _spoken(name, value, language) for name, value in facts.items()}
    if isinstance(of_driver := facts.get(OF_DRIVER), str):
        shown[OF_DRIVER] = say_driver(language, one_line(of_driver))
    never = alert.kind is AlertKind.BACKUP_OLD and facts.get("ever") == "no"
    of = words[NEVER if never else alert.kind.value]
    holes = _Holes({**shown, "subject": apart(language, one_line(subject))})
    lasted = ""
    if alert.over_at is not None:
        lasted = _duration((alert.over_at - alert.raised_at) / 1000, language)
    return AlertWords(of["title"].format_map(holes), of["text"].format_map(holes), lasted)


class _Holes(dict[str, str]):
    """A fact that an older version did not store is a dash."""

    def __missing__(self, name: str) -> str:
        return "–"


def _spoken(name: str, value: Fact, language: Language) -> str:
    if value is None:
        return "–"
    words = catalogue(language)
    units = words["units"]
    if isinstance(value, str):
        if name == _BALANCE and _AMOUNT.fullmatch(value):
            return apart(language, figure(language, value))
        return words["words"].get(value) or apart(language, one_line(value))
    if name in _SPANS:
        return _counted(_SPANS[name], round(value), language)
    if name.endswith("_s"):
        return _duration(abs(value), language)
    if name.endswith("share"):
        return apart(language, units["share"].format(count=figure(language, f"{100 * value:.3g}")))
    if name.endswith("_bytes"):
        unit, size = ("gigabytes", _GIGA) if value >= _GIGA else ("bytes", 1e6)
        count = f"{value / size:.1f}" if value >= _GIGA else f"{value / size:.0f}"
        return apart(language, units[unit].format(count=figure(language, count)))
    return apart(language, figure(language, f"{value:.12g}"))


def _duration(span_s: float, language: Language) -> str:
    for unit, size_s in (("days", _DAY_S), ("hours", _HOUR_S)):
        if span_s >= _SHOWN_FROM * size_s:
            return _counted(unit, round(span_s / size_s), language)
    return _counted("minutes", max(1, round(span_s / _MINUTE_S)), language)


def plural_form(language: Language, count: int) -> str:
    """Unicode's name of the form that a word has beside a count: ``one``, ``two``, ``few``,
    ``many`` or ``other``; English and French have the first and the last."""
    if language is Language.ENGLISH:
        return "one" if count == 1 else "other"
    if language is Language.FRENCH:
        return "one" if count < 2 else "other"
    if count in (1, 2):
        return ("one", "two")[count - 1]
    rest = count % 100
    return "few" if 3 <= rest <= 10 else "many" if rest > 10 else "other"


def _counted(unit: str, count: int, language: Language) -> str:
    forms: Mapping[str, str] = catalogue(language)["units"][unit]
    form = forms[plural_form(language, count)]
    return form.format(count=apart(language, figure(language, str(count))))


def letter(letters: Letters, owed: OwedMail, _: Words) -> Values:
    """The values of a mail's text.

    Raises:
        NotFound: the alert is forgotten.
    """
    alert = letters.repositories.part(AlertRepository).alert(owed.details["alert"])
    words = alert_words(alert, owed.language, letters.say_driver)
    over_at = alert.over_at
    return {
        "title": words.title,
        "what": words.text,
        "since": moment(alert.raised_at, owed.language, letters.zone),
        "until": "" if over_at is None else moment(over_at, owed.language, letters.zone),
        "lasted": words.lasted,
        "url": f"{letters.console_url}/operator/overview",
    }
