"""Second factors of people who sign in."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="factors",
    operations=(later("operations.people.factors:OPERATIONS"),),
    tables=("factors", "recovery_codes"),
)
