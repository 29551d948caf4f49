"""Signed heads of the audit trail, which go out once a day."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, later

_SERVICE: Final = "features.trail_heads.service:"
FEATURE: Final = Feature(
    name="trail_heads",
    tasks=later(_SERVICE + "tasks"),
    retuned=later(_SERVICE + "retune"),
)
