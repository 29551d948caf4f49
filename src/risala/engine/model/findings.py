"""The input and the results of the checks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.model.records.carriers.state import Carrier
from risala.engine.model.times import iso

DATABASE: Final = "risala.db"
CLOCK_SLACK_MS: Final = 5_000
"""How much later than now the newest row may be: NTP may step a clock back by a little."""
EPOCH_MS: Final = 1_735_689_600_000
"""2025-01-01: an earlier time is wrong, since this program did not exist before."""


class Grade(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: Grade
    text: str
    """The meaning, and what to do."""


@dataclass(frozen=True, slots=True)
class Patient:
    """The examined installation, and the running service's report on itself."""

    data_dir: Path
    now_ms: int
    running: bool
    """A service holds the data directory and answers."""
    pid: int | None = None
    """The service's process id, if it is known."""
    carriers: tuple[Carrier, ...] = ()
    statistics: dict[str, Any] | None = None
    """The running service's own numbers; None: it sent none."""
    untold: str | None = None
    """Why the running service's report is incomplete; None: it is complete."""
    upgrading: str | None = None
    """The running service's report while it migrates its database; None: it does not."""
    known_settings: Settings | None = None
    """None: they do not load."""

    @property
    def settings(self) -> Settings:
        """The settings; those of an empty file, if they do not load."""
        return self.known_settings or Settings()

    @property
    def currency(self) -> str | None:
        """The currency of all amounts; None: unknown."""
        return None if self.known_settings is None else self.known_settings.service.currency


def clock_finding(newest_ms: int | None, now_ms: int) -> Finding:
    """Whether the clock is before the newest row, or far behind the real time.

    Args:
        newest_ms: when the newest row was made; None: there is no row.
    """
    if now_ms < EPOCH_MS:
        text = (
            f"The clock says {iso(now_ms)}, which is far in the past. Set it, and use NTP to "
            "keep it right."
        )
        return Finding("clock", Grade.FAIL, text)
    if newest_ms is not None and newest_ms > now_ms + CLOCK_SLACK_MS:
        text = (
            f"The newest row is from {iso(newest_ms)}, but the clock says {iso(now_ms)}: the "
            f"clock was set back. Messages from before the last start wait until it has caught "
            f"up. Use NTP to keep the clock right."
        )
        return Finding("clock", Grade.FAIL, text)
    return Finding("clock", Grade.OK, "The clock is later than all stored times.")
