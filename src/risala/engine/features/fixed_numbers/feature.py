"""Numbers with a fixed code, for reviewers of app stores: no SMS, no charge, and an end."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind
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


_HERE: Final = "features.fixed_numbers."
_STORED: Final = _HERE + "stored:"
_COMMANDS: Final = "cli.commands.messaging.fixed_numbers:"
_PAGES: Final = "http.dashboard.verify.fixed:"
FEATURE: Final = Feature(
    name="fixed_numbers",
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={AuditImage.FIXED_NUMBER: later(_STORED + "image")},
    exported_settings={"fixedNumbers": later(_STORED + "of_organization")},
    erased=later(_STORED + "erase"),
    letters={MailKind.FIXED_NUMBER_ENDS: later(_HERE + "upkeep:letter")},
    duties={Duty.FIXED_CODE: later(_STORED + "fixed_code")},
    tasks=later(_HERE + "upkeep:tasks"),
    rests_without=(),
    deleted=("fixed_numbers",),
    shifts=later(_STORED + "SHIFTS"),
    sealed=later(_STORED + "SEALED"),
    tables=("fixed_numbers",),
    dashboard=(elsewhere(_PAGES + "ROUTES"),),
    commands={
        "verify fixed": elsewhere(_COMMANDS + "fixed"),
        "verify fix": elsewhere(_COMMANDS + "fix"),
        "verify unfix": elsewhere(_COMMANDS + "unfix"),
    },
    shown={"verify_settings": elsewhere(_PAGES + "shown_with_settings")},
)
