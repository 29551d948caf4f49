"""The states of things as readers see them: a word and a shape for each."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.http.web.languages import N_, NC_


@dataclass(frozen=True, slots=True)
class StateLook:
    word: str
    shape: str
    """The name of the shape in the sprite."""
    turns: bool = False
    """The shape points along the line, and so the other way in Arabic."""


STATES: Final = {
    # Of a message.
    "pending": StateLook(NC_("state", "Pending"), "s-pending"),
    "processing": StateLook(NC_("state", "Processing"), "s-processing", turns=True),
    "sent": StateLook(NC_("state", "Sent"), "s-sent"),
    "delivered": StateLook(NC_("state", "Delivered"), "s-delivered"),
    "undelivered": StateLook(NC_("state", "Undelivered"), "s-undelivered", turns=True),
    "failed": StateLook(NC_("state", "Failed"), "s-failed"),
    "canceled": StateLook(NC_("state", "Canceled"), "s-canceled"),
    "uncertain": StateLook(NC_("state", "Uncertain"), "s-uncertain"),
    # Of sender names and verifications.
    "approved": StateLook(NC_("state", "Approved"), "s-sent"),
    "denied": StateLook(NC_("state", "Denied"), "s-failed"),
    "waiting": StateLook(NC_("state", "Waiting"), "s-pending"),
    "expired": StateLook(NC_("state", "Expired"), "s-expired"),
    # Of carriers, keys, endpoints.
    "up": StateLook(NC_("state", "Up"), "s-on"),
    "down": StateLook(NC_("state", "Down"), "s-down"),
    "paused": StateLook(NC_("state", "Paused"), "s-paused"),
    "draining": StateLook(NC_("state", "Draining"), "s-drain"),
    "disabled": StateLook(NC_("state", "Disabled"), "s-off"),
}
ENTRY_KINDS: Final = {
    "charge": N_("Messages"),
    "refund": N_("Refund"),
    "topup": N_("Top-up"),
    "adjustment": N_("Adjustment"),
}
"""The kinds of entries of a statement."""

_NETWORKS: Final = {"mauritel": "Mauritel", "mattel": "Mattel", "chinguitel": "Chinguitel"}


def network_name(name: str) -> str:
    """A mobile network as it calls itself."""
    return _NETWORKS.get(name, name)
