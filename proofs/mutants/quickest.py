"""A plugin of pytest: the quickest tests are first, so that most mutants are found at once."""

from __future__ import annotations

import pytest
from mutmut.state import state


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    took_s = state().duration_by_test
    items.sort(key=lambda item: took_s.get(item.nodeid, 0.0))
