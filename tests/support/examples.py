"""How many examples a property is tried with."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

_WHOLE: Final = 100
"""Examples of ``make test-all``, which is Hypothesis's own default."""


def examples(count: int) -> int:
    """``count`` in ``make test-all``, and in proportion where less is asked for (``make test``)."""
    return max(1, count * settings.default.max_examples // _WHOLE)
