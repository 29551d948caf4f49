from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal import Play, playing


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    with playing(tmp_path) as start:
        yield start
