"""The server key: the answer of its rotation, and the ask for it."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, Moment


@dataclass(frozen=True, slots=True)
class RotatedServerKey:
    since: Annotated[Moment, UNAUDITED]
    """From when on things are made by it."""
    old_until: Annotated[Moment | None, UNAUDITED]
    """Until when the one before is valid; None: no longer."""


ROTATE: Final = Ask("server_key.rotate", RotatedServerKey)
