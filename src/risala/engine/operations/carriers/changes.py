"""Carriers added, changed and removed while the service runs: by the settings, read anew."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.records.carriers import rereading
from risala.engine.model.records.carriers.rereading import SettingsPreview
from risala.engine.operations.arguments import Arguments, Json, NoArguments, Text
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS


class ApplySettings(Arguments):
    """Obey the settings that were looked at."""

    hash: Text
    """As ``carriers.preview`` told it."""


async def _preview(call: Call[NoArguments]) -> SettingsPreview:
    return call.services.delivery.rereading.preview()


async def _apply(call: Call[ApplySettings]) -> SettingsPreview:
    settings = call.services.delivery.rereading
    found = settings.prepare(call.given.hash)
    preview = found.preview
    if preview.carriers or preview.settings:
        # Written before it is done: it is not the database that changes.
        await call.note(call.audit(said=_said(preview), always=True))
    await settings.apply(found)
    return preview


def _said(preview: SettingsPreview) -> Json:
    """What the audit trail is told: which settings are others; no values, since they stand in the
    file, whose owner may have written secrets where none belong."""
    return {
        "carriers": {
            each.carrier: {"kind": each.kind, "fields": [one.field for one in each.fields]}
            for each in preview.carriers
        },
        "settings": [each.key for each in preview.settings],
    }


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(rereading.PREVIEW, NoArguments, _preview, roles=OPERATORS),
    operation(rereading.APPLY, ApplySettings, _apply, roles=OPERATORS, changes=SettingsPreview),
)
