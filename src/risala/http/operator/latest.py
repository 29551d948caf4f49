"""Draws where the newest messages went, for the overview; carriers side by side, for their page."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.features.overview.records import (
    LATEST,
    CarrierRun,
    LatestMessages,
    MessageDestination,
)
from risala.http.web.languages import N_, country_name, network_name
from risala.http.web.page_request import PageRequest

SIZES: Final = 12
"""Widths that a destination may have, as its share of all messages."""
COMPARED_MIN: Final = 2
"""One carrier has nothing beside it."""


@dataclass(frozen=True, slots=True)
class DestinationTile:
    """A destination as its reader sees it."""

    name: str | Markup
    country: str | None
    """None: it stands in the name, or is not known."""
    messages: int
    share: float

    @property
    def size(self) -> int:
        """From 1 to :data:`SIZES`: how wide it is beside the others."""
        return max(1, round(self.share * SIZES))


@dataclass(frozen=True, slots=True)
class ComparedCarrier:
    """A carrier beside the others."""

    run: CarrierRun
    share: float
    """The delivered share of what has ended."""


async def of_overview(request: PageRequest) -> dict[str, Any]:
    """The picture of where the newest messages went."""
    latest = await request.ask(LATEST)
    places = [_tile(request, latest, each) for each in latest.destinations]
    return {"places": places, "looked_at": _looked_at(request, latest)}


async def of_carriers(request: PageRequest) -> dict[str, Any]:
    """For the page of all carriers: those that had messages lately, on one scale."""
    latest = await request.ask(LATEST)
    if len(latest.carriers) < COMPARED_MIN:
        return {}
    return {
        "compared": [
            ComparedCarrier(each, each.delivered / each.ended) for each in latest.carriers
        ],
        "compared_top": max((each.most_ms or 0 for each in latest.carriers), default=0),
        "looked_at": _looked_at(request, latest),
    }


async def of_carrier(request: PageRequest, carrier: str) -> dict[str, Any]:
    """For the page of one carrier: how it did lately."""
    latest = await request.ask(LATEST)
    run = next((each for each in latest.carriers if each.carrier == carrier), None)
    if run is None:
        return {}
    lately = ComparedCarrier(run, run.delivered / run.ended)
    return {"lately": lately, "looked_at": _looked_at(request, latest)}


def _looked_at(request: PageRequest, latest: LatestMessages) -> Markup | None:
    """The messages that the picture is of; None: of none."""
    if latest.since is None:
        return None
    when = request.formats.clock_or_moment(latest.since)
    return request.words.counted(
        "Of {n} message, since {when}.",
        "Of the newest {n} messages, since {when}.",
        latest.messages,
        n=request.formats.num(latest.messages),
        when=when,
    )


def _tile(
    request: PageRequest, latest: LatestMessages, each: MessageDestination
) -> DestinationTile:
    words, share = request.words, each.messages / latest.messages
    if each.network is None:
        return DestinationTile(words(N_("All others")), None, each.messages, share)
    code = each.country
    country = None if code is None else country_name(words.language, code, code)
    if each.network.startswith("+") and country:
        return DestinationTile(country, None, each.messages, share)
    return DestinationTile(network_name(each.network), country, each.messages, share)
