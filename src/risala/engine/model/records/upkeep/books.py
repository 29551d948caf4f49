"""The proof that balances, ledger and messages agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from risala.engine.model.records.asks import Ask


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The findings of ``risala audit``."""

    organizations: int
    messages: int
    entries: int
    clean: bool
    faults: tuple[str, ...]


AUDIT: Final = Ask("audit", AuditReport)
