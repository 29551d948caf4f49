"""Numbers with a fixed code: the answers of their operations, and the asks for them."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment

DAY_MS: Final = 86_400_000
NUMBERS_MAX: Final = 10
"""Fixed numbers of an organization: a few reviewers of two stores."""
DAYS_MAX: Final = 90
"""A review takes days; what is forgotten ends within a quarter of a year."""
CODE_DIGITS: Final = (6, 8)
"""The least and the most digits. A code that works for weeks is no shorter than usual ones."""


@dataclass(frozen=True, slots=True)
class FixedNumber:
    """A number whose users enter a fixed code, without the code."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    number: Annotated[str, UNAUDITED]
    ends_at: Annotated[Moment, AUDITED]
    """From then on codes leave by SMS again."""
    set_at: Annotated[Moment, UNAUDITED]
    set_by: Annotated[str, UNAUDITED]


@dataclass(frozen=True, slots=True)
class FixedNumbers:
    """The numbers of an organization with a fixed code now, the oldest first."""

    numbers: tuple[FixedNumber, ...]


LIST: Final = Ask("fixed_number.list", FixedNumbers)
SET: Final = Ask("fixed_number.set", FixedNumber)
REMOVE: Final = Ask("fixed_number.remove", FixedNumber)
