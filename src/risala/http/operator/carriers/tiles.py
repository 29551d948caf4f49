"""The tile of a carrier: a summary for operators."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.records.carriers.state import Carrier, CarrierQuota
from risala.http.operator.carriers.driver_phrases import REGISTRATIONS
from risala.http.operator.carriers.driver_words import driver_said
from risala.http.operator.carriers.words import reason_sentence
from risala.http.web.formats import Formats
from risala.http.web.messages.sentences import cause_markup
from risala.http.web.page_request import PageRequest

WAITS_LONG_MS: Final = 30_000
"""A message leaves within seconds: one that has waited so long is drawn in amber."""
BEAT_S: Final = 3.0
"""How often a page of carriers is drawn: links come and go without an event."""
NEARLY: Final = 0.8
"""A quota that is used so far is drawn in amber."""
_BROKEN: Final = frozenset({"down", "sick"})


@dataclass(frozen=True, slots=True)
class Tile:
    """A carrier as it is drawn."""

    lane: Carrier
    badge: str
    """A state of the pages: ``up``, ``down``, ``paused``, ``draining``, ``disabled``."""
    condition: Markup
    quotation: Markup
    """The driver's text, as a quotation."""
    oldest_ms: int | None
    """For how long the oldest message waits."""
    is_late: bool
    registration: Markup | None
    error: Markup | None
    quota_class: str

    @property
    def is_broken(self) -> bool:
        return self.badge == "down"

    @property
    def is_modem(self) -> bool:
        return self.lane.signal.dbm is not None or self.lane.driver == "modem"


def tile(formats: Formats, lane: Carrier) -> Tile:
    """One carrier of ``carriers``, in the reader's words."""
    oldest_ms = None if lane.oldest is None else max(0, formats.now_ms - lane.oldest)
    registration = lane.network.registration
    return Tile(
        lane=lane,
        badge=_badge(lane),
        condition=reason_sentence(formats, lane.condition),
        quotation=driver_said(formats.words, lane.text),
        oldest_ms=oldest_ms,
        is_late=oldest_ms is not None and oldest_ms >= WAITS_LONG_MS,
        registration=formats.words(REGISTRATIONS[str(registration)])
        if registration in REGISTRATIONS
        else None,
        error=cause_markup(formats, lane.last_error.code) if lane.last_error else None,
        quota_class=_quota_class(lane.quota.day),
    )


def _badge(lane: Carrier) -> str:
    code = lane.condition.code
    if code == "disabled":
        return "disabled"
    if lane.gate == "paused":
        return "paused"
    if lane.gate in ("draining", "leaving"):
        return "draining"
    return "down" if lane.state in _BROKEN or code == "driver_fault" else "up"


def _quota_class(quota: CarrierQuota) -> str:
    used, limit = quota.used, quota.limit
    if not isinstance(used, int | float) or not isinstance(limit, int | float) or not limit:
        return ""
    if used >= limit:
        return "bad"
    return "warn" if used >= NEARLY * limit else ""


def carrier_named(request: PageRequest) -> str:
    """The carrier that a page's address names."""
    return str(request.arguments["carrier"])
