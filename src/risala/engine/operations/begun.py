"""Answers in parts: the first part writes the audit entry, and returns its number; calls for the
other parts hand that number back, and write no entry."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.audit import Values
from risala.engine.model.errors import Invalid
from risala.engine.operations.operation import Call

EXPORT_AGE_MAX_MS: Final = 24 * 3_600_000
"""An export that is still read after a day must begin again."""


async def line_of(
    call: Call[Any], export: int | None, said: Values, organization_id: str | None
) -> int:
    """The number of the audit entry of an export; written if ``export`` is None.

    Raises:
        Invalid: the entry is somebody else's, has other filters, or is too old.
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
        raise Invalid("export", "unknown_export", "Begin the export again, without `export`.")
    return export
