"""Fixtures for plugin authors. pytest imports this in every run, so it imports nothing itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from risala.plugins.testing.context import RecordingContext


@pytest.fixture
def recording_context() -> RecordingContext:
    """A :class:`~risala.plugins.testing.context.RecordingContext` to hand to ``driver.run``."""
    from risala.plugins.testing.context import RecordingContext

    return RecordingContext()
