"""Numbers with a fixed code, for reviewers of app stores: no SMS, no charge, and an end."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind

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
