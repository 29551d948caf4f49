"""The audit trail as operators see it: the answers of its operations, and the asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

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


LIST: Final = Ask("audit.list", LinesPage)
EXPORT: Final = Ask("audit.export", LinesPart)
