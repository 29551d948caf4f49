"""A plugin of pytest: the quickest tests are first, so that most mutants are found at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from mutmut.state import state

_STATISTICS: Final = Path("mutmut-stats.json")
"""What mutmut has measured; a process that it did not fork reads it from there."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    took_s = state().duration_by_test or _stored()
    items.sort(key=lambda item: took_s.get(item.nodeid, 0.0))


def _stored() -> dict[str, float]:
    if not _STATISTICS.exists():
        return {}
    found: dict[str, float] = json.loads(_STATISTICS.read_text("utf-8"))["duration_by_test"]
    return found
