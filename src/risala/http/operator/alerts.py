"""Alerts as pages show them: the sentence in the reader's language, and its link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from markupsafe import Markup, escape

from risala.dataclass import dataclass
from risala.engine.features.alerts.records import AlertView
from risala.http.operator.carriers.driver_words import driver_line
from risala.http.web.page_request import PageRequest

ATTENTION_MAX: Final = 2
"""The maximum of alerts above the overview: unacknowledged ones first, newest first; of the others
only the number is shown."""
_OF_CARRIER: Final = frozenset(
    {
        *("carrier_down", "receipts_missing", "ends_missing", "codes_unentered"),
        *("sim_balance_low", "quota_low"),
    }
)
_OF_NUMBERS: Final = frozenset({"codes_abused"})
_OF_SERVICE: Final = frozenset(
    {
        "disk_low",
        "backup_old",
        "errors",
        "clock_jumped",
        "sink_behind",
        "item_set_aside",
        "standby_behind",
        "standby_copy",
        "standby_silent",
        "standby_async",
        "trail_broken",
    }
)
_BAD: Final = frozenset(
    {
        *("carrier_down", "disk_low", "errors", "clock_jumped", "codes_abused"),
        *("sign_in_failing", "trail_broken", "item_set_aside"),
    }
)


@dataclass(frozen=True, slots=True)
class AlertNote:
    """An alert in the reader's language."""

    alert: AlertView
    title: str
    text: Markup
    look: str
    """``bad`` or ``warn``."""
    leads_to: str | None
    """The address of a page with more details; None: no such page."""


def needed_first(alerts: Sequence[AlertView]) -> list[AlertView]:
    """Unacknowledged alerts first, else in the given order."""
    return sorted(alerts, key=lambda each: each.is_muted or each.acknowledged_at is not None)


def shown_alerts(request: PageRequest, alerts: Sequence[AlertView]) -> list[AlertNote]:
    language = request.words.language.value
    return [
        AlertNote(
            each,
            each.title[language],
            _text(request, each),
            "bad" if each.kind in _BAD else "warn",
            _address(request, each.kind, each.subject),
        )
        for each in alerts
    ]


def _text(request: PageRequest, alert: AlertView) -> Markup:
    """The sentence of an alert; what a driver wrote in it is in the reader's language."""
    text, of_driver = alert.text[request.words.language.value], alert.facts.get("text")
    if not isinstance(of_driver, str) or not of_driver or of_driver not in text:
        return escape(text)
    before, _, after = text.rpartition(of_driver)
    return escape(before) + driver_line(request.words, of_driver) + escape(after)


def _address(request: PageRequest, kind: str, subject: str | None) -> str | None:
    if kind in _OF_CARRIER and subject:
        return request.at(f"carriers/{quote(subject, safe='')}")
    if kind in ("balance_low", "storage_full") and subject:
        return request.at(f"organizations/{subject}") if request.has("organizations") else None
    if kind in _OF_NUMBERS and subject:
        return request.at("messages", to=subject) if request.has("messages") else None
    if kind == "sign_in_failing":
        return request.at("security") if request.has("security") else None
    if kind in _OF_SERVICE:
        return request.at("system") if request.has("system") else None
    return request.at("carriers")
