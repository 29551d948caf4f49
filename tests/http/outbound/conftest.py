from __future__ import annotations

from types import ModuleType

import pytest

import webhook_receiver


@pytest.fixture
def web() -> ModuleType:
    """Real servers: see ``tests/support/webhook_receiver.py``."""
    return webhook_receiver
