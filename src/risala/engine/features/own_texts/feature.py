"""The operator's own texts: one by a named carrier, to try it or to write to a short code. No
organization sends them, and nobody pays."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED


@dataclass(frozen=True, slots=True)
class OperatorText:
    """What a carrier answered to a text of the operator's own."""

    carrier: Annotated[str, AUDITED]
    outcome: Annotated[str, AUDITED]
    """``accepted``, ``refused``, ``throttled``, ``unsent`` or ``uncertain``."""
    carrier_id: Annotated[str | None, UNAUDITED]
    """The carrier's id for it; its receipts name it."""
    cause: Annotated[str | None, AUDITED]
    """A word of the list of causes; null if it was accepted."""
    raw: Annotated[str, UNAUDITED]
    """The carrier's own word."""
    text: Annotated[str, UNAUDITED]
    """What that means, as a sentence."""


TEXT: Final = Ask("carriers.text", OperatorText)
FEATURE: Final = Feature(
    name="own_texts",
    operations=(later("features.own_texts.operations:OPERATIONS"),),
    commands={
        "carriers text": elsewhere("cli.commands.upkeep.carrier_texts:text"),
        "carriers try": elsewhere("cli.commands.upkeep.carrier_texts:try_"),
    },
)
