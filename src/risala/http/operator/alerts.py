"""Alerts as pages show them: the sentence in the reader's language, and its link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from risala.http.web.page_request import PageRequest

ATTENTION_MAX: Final = 2
"""The maximum of alerts above the overview: unacknowledged ones first, newest first; of the others
only the number is shown."""
_OF_CARRIER: Final = frozenset({"lane_down", "receipts_missing", "sim_balance_low", "quota_low"})
_OF_NUMBERS: Final = frozenset({"codes_abused"})
_OF_SERVICE: Final = frozenset(
    {"disk_low", "backup_old", "errors", "clock_jumped", "sink_behind", "standby_behind"}
)
_BAD: Final = frozenset(
    {"lane_down", "disk_low", "errors", "clock_jumped", "codes_abused", "sign_in_failing"}
)


def needed_first(alerts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Unacknowledged alerts first, else in the given order."""
    return sorted(alerts, key=lambda each: each["isMuted"] or each["acknowledgedAt"] is not None)


def shown_alerts(visit: PageRequest, alerts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Alerts of ``alert.list`` with words, an address, and how they are drawn."""
    language = visit.words.language.value
    return [
        {
            **each,
            "title_text": each["title"][language],
            "told_text": each["text"][language],
            "note": "bad" if each["kind"] in _BAD else "warn",
            "leads_to": _address(visit, each["kind"], each["subject"]),
        }
        for each in alerts
    ]


def _address(visit: PageRequest, kind: str, subject: str | None) -> str | None:
    """The page with more details; None: no such page."""
    if kind in _OF_CARRIER and subject:
        return visit.at(f"carriers/{quote(subject, safe='')}")
    if kind == "balance_low" and subject:
        return visit.at(f"organizations/{subject}") if visit.has("organizations") else None
    if kind in _OF_NUMBERS and subject:
        return visit.at("messages", to=subject) if visit.has("messages") else None
    if kind == "sign_in_failing":
        return visit.at("audit") if visit.has("audit") else None
    if kind in _OF_SERVICE:
        return visit.at("system") if visit.has("system") else None
    return visit.at("carriers")
