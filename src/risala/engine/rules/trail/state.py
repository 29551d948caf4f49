"""What the last look at the audit trail found: written by what sends its heads, read by alerts."""

from __future__ import annotations


class TrailState:
    def __init__(self) -> None:
        self.faults: tuple[str, ...] | None = None
        """The faults of the last look; None: nobody has looked since the start."""
