"""The moves of this version, in the order of their migrations."""

from __future__ import annotations

from typing import Final

from risala.engine.journal.upkeep.upgrade.move import RowMove
from risala.engine.journal.upkeep.upgrade.slim.slim import SlimMove

MOVES: Final[tuple[RowMove, ...]] = (SlimMove(),)
