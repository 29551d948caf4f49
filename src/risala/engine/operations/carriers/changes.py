"""Carriers added, changed and removed while the service runs: by the settings, read anew."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.delivery.rereading import SettingsPreview
from risala.engine.operations.arguments import Arguments, Json, NoArguments, Text
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.changes.carriers import CarrierChange
from risala.engine.rules.roles import OPERATORS


class ApplySettings(Arguments):
    """Obey the settings that were looked at."""

    hash: Text
    """As ``carriers.preview`` told it."""


def _preview_wire(found: SettingsPreview) -> Json:
    return {
        "hash": found.hash,
        "faults": [
            {"key": each.key, "text": str(each), "source": each.source} for each in found.faults
        ],
        "carriers": [_carrier_wire(each) for each in found.carriers],
        "settings": [
            {"key": each.key, "before": each.before, "after": each.after}
            for each in found.settings.at_once
        ],
        "need_restart": list(found.settings.waiting),
    }


def _carrier_wire(change: CarrierChange) -> Json:
    return {
        "carrier": change.carrier,
        "kind": change.kind,
        "effect": change.effect.value,
        "fields": [
            {
                "field": each.field,
                "before": each.before,
                "after": each.after,
                "is_secret": each.is_secret,
            }
            for each in change.fields
        ],
    }


async def _preview(call: Call[NoArguments]) -> SettingsPreview:
    return call.services.delivery.rereading.preview()


async def _apply(call: Call[ApplySettings]) -> SettingsPreview:
    rereading = call.services.delivery.rereading
    found = rereading.prepare(call.given.hash)
    preview = found.preview
    if preview.carriers or preview.settings.at_once:
        # Written before it is done: it is not the database that changes.
        await call.note(call.audit(said=_said(preview), always=True))
    await rereading.apply(found)
    return preview


def _said(preview: SettingsPreview) -> Json:
    """What the audit trail is told: which settings are others; no values, since they stand in the
    file, whose owner may have written secrets where none belong."""
    return {
        "carriers": {
            each.carrier: {"kind": each.kind, "fields": [one.field for one in each.fields]}
            for each in preview.carriers
        },
        "settings": [each.key for each in preview.settings.at_once],
    }


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="carriers.preview",
        arguments=NoArguments,
        result=SettingsPreview,
        wire=_preview_wire,
        handler=_preview,
        roles=OPERATORS,
    ),
    Operation(
        name="carriers.apply",
        arguments=ApplySettings,
        result=SettingsPreview,
        wire=_preview_wire,
        handler=_apply,
        roles=OPERATORS,
        changes=True,
    ),
)
