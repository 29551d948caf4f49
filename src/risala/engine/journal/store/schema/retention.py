"""What retention leaves behind."""

from __future__ import annotations

from typing import Final

RETENTION: Final = """
-- 1: the text is no longer kept, 2: nor timeline and segments, 3: both.
ALTER TABLE messages ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
"""
