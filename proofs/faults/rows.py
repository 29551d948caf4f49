"""Every fault that is made, by where it strikes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from proofs.faults.disk import DISK
from proofs.faults.files import FILES, START
from proofs.faults.machine import MACHINE
from proofs.faults.outside import CLIENTS, OUTSIDE
from proofs.faults.row import Fault

FAULTS: Final[Mapping[str, tuple[Fault, ...]]] = {
    "The disk": DISK,
    "The database's files": FILES,
    "A start": START,
    "The machine": MACHINE,
    "What it talks to": OUTSIDE,
    "Clients": CLIENTS,
}
