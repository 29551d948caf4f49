"""What is told part by part: the first part leaves the line in the audit trail, and tells its
number; the others hand that back, and leave none."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.audit import Values
from risala.engine.model.errors import Invalid
from risala.engine.operations.operation import Call

EXPORT_AGE_MAX_MS: Final = 24 * 3_600_000
"""Who is still reading an export after a day begins another."""


async def line_of(
    call: Call[Any], export: int | None, said: Values, organization_id: str | None
) -> int:
    """The line in the trail that says what is exported: written where ``export`` is None.

    Raises:
        Invalid: it is one of somebody else's, of other filters, or an old one.
    """
    if export is None:
        by = call.audit(organization_id=organization_id, said=said, always=True)
        return await call.services.repositories.audit.note(by)
    found = call.services.repositories.audit.line(export)
    is_ours = (
        found is not None
        and (found.action, found.who) == (call.action, call.caller.who)
        and found.organization_id == organization_id
        and (found.after or {}) == said
    )
    if found is None or not is_ours or call.now_ms - found.at > EXPORT_AGE_MAX_MS:
        raise Invalid("export", "unknown_export", "Begin the export anew, without `export`.")
    return export
