"""Second factors of people who sign in: authenticator apps, passkeys, recovery codes."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, later
from risala.engine.model.people_records import MailKind

_STORED: Final = "features.factors.stored:"
_TOLD: Final = (
    *(MailKind.FACTOR_ADDED, MailKind.FACTOR_REMOVED, MailKind.FACTORS_RESET),
    *(MailKind.RECOVERY_CODES_MADE, MailKind.RECOVERY_CODE_USED),
)
FEATURE: Final = Feature(
    name="factors",
    needs=("providers",),
    operations=(later("features.factors.operations:OPERATIONS"),),
    duties={Duty.FACTOR: later(_STORED + "has_any")},
    access=later("features.factors.signing_in:FactorSignIn"),
    of_user={"factors": later(_STORED + "shown")},
    letters=dict.fromkeys(_TOLD, later("features.factors.service:letter")),
    of_users=("factors", "recovery_codes"),
    shifts=later(_STORED + "SHIFTS"),
    sealed=later(_STORED + "SEALED"),
    tables=("factors", "recovery_codes"),
)
