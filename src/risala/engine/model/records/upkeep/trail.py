"""The audit trail as operators see it: the answers of its operations, and the asks for them."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.audit import Values
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the trail, as it is stored."""

    seq: int
    at: Moment
    who: str
    face: str
    role: str
    action: Annotated[str, JsonName("operation")]
    organization_id: str | None
    subject: str | None
    before: Values | None
    after: Values | None
    hash: str
    """Over this line, and over the hash of the one before it."""


@dataclass(frozen=True, slots=True)
class LinesPage:
    """Lines of the audit trail, the newest first, and where the next pages begin."""

    lines: tuple[AuditLine, ...]
    newer: str | None
    older: str | None
    looked_to: Moment | None
    """The search came this far; None: there are no others."""


@dataclass(frozen=True, slots=True)
class LinesPart(LinesPage):
    """A part of an export."""

    export: str
    """The number of its line in the trail."""


@dataclass(frozen=True, slots=True)
class ChainPart:
    """A part of the trail as an auditor checks it: the oldest lines first, each with its hash."""

    columns: tuple[str, ...]
    """The names of a line's values."""
    lines: tuple[str, ...]
    """Each a JSON list, as its hash covers it, with that hash at its end."""
    heads: tuple[str, ...]
    """The signed heads that went out, each one line of JSON; only in the last part."""
    after: int | None
    """The place where the next part begins; None: this is the last."""
    export: str
    """The number of the export's own line in the trail."""


@dataclass(frozen=True, slots=True)
class ChainState:
    """How far the trail was checked and signed."""

    line: int | None
    """The number of the line that the last signed head is of; None: no head went out yet."""
    at: str | None
    """When that was; every line up to it fitted then."""


STATE: Final = Ask("audit.state", ChainState)
CHAIN: Final = Ask("audit.chain", ChainPart)
LIST: Final = Ask("audit.list", LinesPage)
EXPORT: Final = Ask("audit.export", LinesPart)


# The proof that balances, ledger and messages agree, and that the audit trail is as it was.


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
