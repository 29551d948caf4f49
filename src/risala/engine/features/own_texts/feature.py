"""The operator's own texts: one by a named carrier, to try it or to write to a short code. No
organization sends them, nobody pays, and the answers of a short code are for no customer."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Moment


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


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """What a short code or a service number wrote back."""

    sender: Annotated[str, JsonName("from")]
    text: str = field(repr=False)
    received_at: Moment


@dataclass(frozen=True, slots=True)
class ServiceReplies:
    """What came back by one carrier, the latest first."""

    answers: tuple[ServiceReply, ...]


TEXT: Final = Ask("carriers.text", OperatorText)
ANSWERS: Final = Ask("carriers.answers", ServiceReplies)
_STORED: Final = "features.own_texts.stored:"
FEATURE: Final = Feature(
    name="own_texts",
    operations=(later("features.own_texts.operations:OPERATIONS"),),
    duties={Duty.OWN_ANSWERS: later(_STORED + "take")},
    walks={WalkKind.OWN_ANSWERS: later(_STORED + "walk_old")},
    tables=("own_texts", "own_answers"),
    shown={"carrier": elsewhere("http.operator.carriers.own_answers:of_carrier")},
    commands={
        "carriers answers": elsewhere("cli.commands.upkeep.carrier_texts:answers"),
        "carriers text": elsewhere("cli.commands.upkeep.carrier_texts:text"),
        "carriers try": elsewhere("cli.commands.upkeep.carrier_texts:try_"),
    },
)
