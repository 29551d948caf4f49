"""The moves of this version, in the order of their migrations."""

from __future__ import annotations

from typing import Final

from risala.engine.journal.upkeep.upgrade.move import RowMove

MOVES: Final[tuple[RowMove, ...]] = ()
"""None: no released version has rows that this one keeps elsewhere."""
