"""Adding, changing and removing carriers while the service runs: it reads its settings again."""

from __future__ import annotations

from typing import Final

from risala.engine.kernel.arguments import Arguments, Json, NoArguments, Text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.carriers import rereading
from risala.engine.model.records.carriers.rereading import SettingsPreview
from risala.engine.rules.roles import OPERATORS


class ApplySettings(Arguments):
    """Apply the settings of the preview."""

    hash: Text
    """As ``carriers.preview`` answered it."""


OPERATIONS: Final = Operations()


@OPERATIONS(rereading.PREVIEW, roles=OPERATORS)
async def _preview(call: Call[NoArguments]) -> SettingsPreview:
    return call.services.delivery.rereading.preview()


@OPERATIONS(rereading.APPLY, roles=OPERATORS, changes=SettingsPreview)
async def _apply(call: Call[ApplySettings]) -> SettingsPreview:
    settings = call.services.delivery.rereading
    found = settings.prepare(call.given.hash)
    preview = found.preview
    if preview.carriers or preview.settings:
        # The audit entry comes first, because the change is not in the database.
        await call.note(call.audit(said=_said(preview), always=True))
    await settings.apply(found)
    return preview


def _said(preview: SettingsPreview) -> Json:
    """For the audit trail: the names of changed settings. It gets no values, because the file's
    owner may have written secrets where they do not belong."""
    return {
        "carriers": {
            each.carrier: {"kind": each.kind, "fields": [one.field for one in each.fields]}
            for each in preview.carriers
        },
        "settings": [each.key for each in preview.settings],
    }
