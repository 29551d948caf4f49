"""On a carrier's page: whether phones can prove their numbers by it, and if not, why."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.features.reverse.records import HOSTED, LineFault
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest

ORIGINS: Final = {
    "network": N_("Believed: the network itself says who sends."),
    "trusted": N_("Believed, because your settings say so."),
    "untrusted": N_("Not believed: anybody may write any number."),
}
FAULTS: Final = {
    LineFault.UNTRUSTED: N_(
        "Set origin to trusted, if the carrier refuses texts whose sender is forged."
    ),
    LineFault.NAMELESS: N_("Its own number is not known: set own_number."),
    LineFault.TAKEN: N_("Its texts are read for payments."),
}


async def of_carrier(request: PageRequest, carrier: str) -> dict[str, Any]:
    """What the page shows of it."""
    origin = request.site.gateway.access(HOSTED).origin(carrier)
    if origin is None or origin.fault is LineFault.DEAF:
        return {}
    return {
        "origin": origin,
        "origin_words": ORIGINS[origin.origin],
        "origin_fault": None if origin.fault is None else FAULTS[origin.fault],
    }
