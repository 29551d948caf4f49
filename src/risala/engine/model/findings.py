"""The input and the results of the checks."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from risala.config.alerts import AlertsSection
from risala.config.smpp_server import SmppServerSection
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
    limits: AlertsSection = field(default_factory=AlertsSection)
    """The limits for a low disk and an old backup: as for alerts."""
    smpp_server: SmppServerSection = field(default_factory=SmppServerSection)
    """The address of the SMPP server for customers, by the settings."""
    tls_keys: tuple[Path, ...] = ()
    """The files with the keys of TLS addresses, by the settings."""
    currency: str | None = None
    """Of all amounts, by the settings; None: unknown."""
    upgrading: str | None = None
    """The running service's report while it migrates its database; None: it does not."""
