"""Other software's ways in: credentials for other faces, and mails that become messages."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="compat",
    operations=(
        later("operations.credentials:OPERATIONS"),
        later("operations.faces.mails:OPERATIONS"),
    ),
    images={AuditImage.CREDENTIAL: later("journal.accounts.credentials:seen")},
    exported_settings={"credentials": later("journal.accounts.credentials:of_organization")},
    deleted=("face_credentials",),
    tables=("face_credentials", "face_callback", "face_call"),
)
