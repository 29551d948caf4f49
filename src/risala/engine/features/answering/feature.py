"""Carriers that call: receipts and texts by HTTP, each carrier at an address of its own."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment

ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
"""Characters of an address's secret: those that nobody mistakes for another."""
SECRET_CHARACTERS: Final = 32
"""187 random bits."""
FORMER_MS: Final = 24 * 3_600_000
"""How long the former secret still works after another one was made."""


@dataclass(frozen=True, slots=True)
class CarrierAddress:
    """The address at which a carrier calls this service."""

    carrier: Annotated[str, AUDITED]
    url: Annotated[str, UNAUDITED]
    """The address with its secret, which is shown this once; the driver's paths follow it."""
    former_until: Annotated[Moment | None, UNAUDITED] = None
    """Until when the former secret works too; None: there was none."""


ROTATE: Final = Ask("carriers.rotate", CarrierAddress)
FEATURE: Final = Feature(
    name="answering",
    operations=(later("features.answering.operations:OPERATIONS"),),
    access=later("features.answering.calls:CarrierCalls"),
    live_metrics=later("features.answering.calls:metrics"),
    mounts=elsewhere("http.faces.carriers:mount"),
    tables=("carrier_addresses",),
    console=(elsewhere("http.operator.carriers.address:ROUTES"),),
    shown={"carrier": elsewhere("http.operator.carriers.address:of_carrier")},
    commands={"carriers rotate": elsewhere("cli.commands.upkeep.carrier_address:rotate")},
)
