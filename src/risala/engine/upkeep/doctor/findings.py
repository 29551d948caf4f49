"""What is looked at, and what is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from risala.config.alerts import AlertsSection
from risala.config.smpp_server import SmppServerSection

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
    """What it means, and what to do."""


@dataclass(frozen=True, slots=True)
class Patient:
    """The installation that is looked at, and what the running service says of itself."""

    data_dir: Path
    now_ms: int
    running: bool
    """A service holds the data directory and answers."""
    pid: int | None = None
    """The service's process id, where it is known."""
    carriers: tuple[dict[str, Any], ...] = ()
    statistics: dict[str, Any] | None = None
    """The running service's own numbers; None: it told none."""
    untold: str | None = None
    """Why the running service could not tell all of how it is; None: it did."""
    limits: AlertsSection = field(default_factory=AlertsSection)
    """From when on a disk is low, and a backup old: as for alerts."""
    smpp_server: SmppServerSection = field(default_factory=SmppServerSection)
    """What customers' SMPP software binds to, by the settings."""
    tls_keys: tuple[Path, ...] = ()
    """The files that hold the keys of addresses with TLS, by the settings."""
    upgrading: str | None = None
    """What the running service says while it brings its database over; None: it is not at it."""
