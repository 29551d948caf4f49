"""Worlds for tests: one that a test leads by itself, and folders for those that are played."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.simulation.plan import Plan
from tests.simulation.world import World


@pytest.fixture
def new_world(tmp_path: Path):
    """``new_world(seed)``."""
    return lambda seed: World(tmp_path, Plan(seed))
