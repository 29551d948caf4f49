"""The input and the results of the checks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.model.records.carriers.state import Carrier

DATABASE: Final = "risala.db"


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
