"""Backups, and what is asked after a restore."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, JsonName, Moment

_HERE: Final = "features.backup."
FEATURE: Final = Feature(
    name="backup",
    examined=later(_HERE + "stored.backup:examine"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    commands={
        "backup": elsewhere("cli.commands.upkeep.backup:backup"),
        "restore": elsewhere("cli.commands.upkeep.backup:restore"),
    },
)


@dataclass(frozen=True, slots=True)
class HeldMessage:
    id: Annotated[str, JsonName("messageId")]
    organization_id: str
    recipient: Annotated[str, JsonName("to")]
    send_at: Moment


@dataclass(frozen=True, slots=True)
class HeldMessages:
    count: int
    messages: tuple[HeldMessage, ...]
    """The earliest of them."""


@dataclass(frozen=True, slots=True)
class Decided:
    count: Annotated[int, UNAUDITED]
    """Messages that were let go, or ended."""


LIST: Final = Ask("restored.list", HeldMessages)
RELEASE: Final = Ask("restored.release", Decided)
END: Final = Ask("restored.end", Decided)
