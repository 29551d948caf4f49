"""Tables of people: files that are uploaded, and read in a process of their own."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="tables",
    duties={
        Duty.UPLOAD: later("features.tables.operations:receive_upload"),
        Duty.UPLOADS_WAITING: later("features.tables.operations:waiting"),
    },
    tasks=later("features.tables.uploads:tasks"),
)
