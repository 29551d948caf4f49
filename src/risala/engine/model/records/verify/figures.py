"""What became of codes, as figures, and the ask for them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import Count, Moment, Money

KEPT_DAYS: Final = 400
"""Days that counts are kept, and the most that figures are of: a year, and the same month of the
year before."""
OTHER: Final = "*"
"""Names what is counted together, once a day has too many different counts."""


class FiguresBy(StrEnum):
    """What figures are of."""

    DAY = "day"
    NETWORK = "network"
    COUNTRY = "country"
    CARRIER = "carrier"
    CHANNEL = "channel"
    KEY = "key"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFigure:
    """What became of codes. Each is counted on the day on which it was asked for."""

    of: str | None = None
    """A day (`2026-11-28`), a network, a country's two letters, a carrier, a channel, a key's id or
    a language. Null: it is not known, as the carrier of a code that none has taken."""
    asked: Count
    """Codes that were accepted to be sent."""
    sent: Count
    """Codes that a carrier took."""
    delivered: Count
    """Codes whose receipt says that they arrived, and codes that were entered."""
    entered: Count
    """Codes that were entered rightly and in time."""
    within_minute: Count
    """Codes that were entered within 60 seconds of being asked for."""
    median_seconds: Count | None
    """The time from asking to entering within which half of the entered codes were entered: exact
    to half a second below a minute, 2.5 seconds below ten minutes, half a minute beyond."""
    p90_seconds: Count | None
    """The time within which nine of ten entered codes were entered."""
    cost: Money
    """What was charged for all of them, and not refunded."""


DAILY: Final = (FiguresBy.NETWORK, FiguresBy.LANGUAGE)
"""What is told day by day."""
LINES_MAX: Final = 6
"""Networks, and languages, that are told day by day: as many as one can compare at a look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDays:
    """Codes day by day; a number for each day of the figures, in their order."""

    by: FiguresBy
    of: str | None
    """A network or a language; null: it is not known, or the line is of all codes, by day."""
    asked: tuple[int, ...]
    entered: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CodeFigures:
    """What became of the codes of some days: together, and one item for each day, network, country,
    carrier, channel, key or language of the text."""

    by: FiguresBy
    currency: str
    whole: CodeFigure
    """All codes of these days together."""
    items: tuple[CodeFigure, ...]
    """Days in their order, all else by how many were asked for, most first."""
    counted_until: Moment | None
    """Codes asked for from here on are not in the figures yet, because there are too many of them
    to read at once: ask again in some minutes. Null: all are."""
    daily: tuple[CodeDays, ...] = ()
    """Day by day, if asked for: all codes first, then those of networks and of languages with most
    codes."""


FIGURES: Final = Ask("codes.figures", CodeFigures)
