"""The proof that balances, ledger and messages agree, and that the audit trail is as it was."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The findings of ``risala audit``."""

    organizations: int
    messages: int
    entries: int
    clean: bool
    faults: tuple[str, ...]
    lines: int
    """Lines of the audit trail."""
    head: str
    """The hash of its last line; of zeros alone if it has none."""
    heads: int
    """Signed heads that were compared with it."""
    remarks: tuple[str, ...]
    """Heads that do not fit for a reason that the trail gives: a backup was restored."""


AUDIT: Final = Ask("audit", AuditReport)
