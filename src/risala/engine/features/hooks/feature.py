"""Messages by what other software tells of itself, each by an address of its own."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, elsewhere, later

_SERVICE: Final = "features.hooks.service:"
_STORED: Final = "features.hooks.stored:"
FEATURE: Final = Feature(
    name="hooks",
    operations=(later("features.hooks.operations:OPERATIONS"),),
    findable=later("features.hooks.operations:FOUND"),
    images={AuditImage.HOOK: later(_STORED + "hook")},
    exported_settings={"hooks": later(_STORED + "of_organization")},
    ends=later(_STORED + "end_storms"),
    shifts=later(_STORED + "SHIFTS"),
    deleted=("hooks",),
    tasks=later(_SERVICE + "tasks"),
    rests_without=(),
    stopping=later(_SERVICE + "write_uses"),
    forgets=later(_SERVICE + "forget"),
    sealed=later(_STORED + "SEALED"),
    tables=("hooks", "hook_storms"),
    dashboard=(
        elsewhere("http.dashboard.connect.gallery:ROUTES"),
        elsewhere("http.dashboard.connect.one:ROUTES"),
    ),
    commands={"hook": elsewhere("cli.commands.accounts.hook:hook")},
    access=later("features.hooks.receiving:HookReceiver"),
    mounts=elsewhere("http.faces.hooks:mount"),
)
