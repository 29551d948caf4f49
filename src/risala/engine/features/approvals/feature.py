"""Four eyes: what one operator asks for, another confirms."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="approvals",
    operations=(later("operations.approving.approvals:OPERATIONS"),),
    tables=("approvals", "alone_sums"),
)
