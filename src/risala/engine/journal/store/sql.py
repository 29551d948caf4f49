"""Small pieces of SQL."""

from __future__ import annotations

from collections.abc import Sequence


def places(values: Sequence[object]) -> str:
    """As many places as there are values, for ``IN (…)``."""
    return ", ".join("?" * len(values))
