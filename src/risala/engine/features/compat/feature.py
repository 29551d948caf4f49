"""Ways in for other software: credentials for other faces, and mails that become messages."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later

_CREDENTIALS: Final = "features.compat.credentials:"
_STORED: Final = "features.compat.stored:"
FEATURE: Final = Feature(
    name="compat",
    findable=later("features.compat.operations:FOUND"),
    operations=(later("features.compat.operations:OPERATIONS"),),
    images={AuditImage.CREDENTIAL: later(_STORED + "seen")},
    exported_settings={"credentials": later(_STORED + "of_organization")},
    emptied=later(_STORED + "erase"),
    shifts=later(_STORED + "SHIFTS"),
    sealed=later(_STORED + "SEALED"),
    tasks=later("features.compat.callbacks:tasks"),
    rests_without=("faces",),
    stopping=later(_CREDENTIALS + "write_uses"),
    forgets=later(_CREDENTIALS + "forget"),
    retuned=later("features.compat.operations:retune"),
    deleted=("face_credentials",),
    tables=("face_credentials", "face_callback", "face_call"),
    dashboard=(elsewhere("http.dashboard.keys.credentials:ROUTES"),),
    commands={"credential": elsewhere("cli.commands.accounts.credential:credential")},
    shown={
        "keys": elsewhere("http.dashboard.keys.credentials:shown_with_keys"),
        "message": elsewhere("http.web.messages.credential:of_message"),
    },
    access=later("features.compat.access:CompatAccess"),
    mounts=elsewhere("http.faces.mount:mount"),
    duties={
        Duty.SMPP: elsewhere("app.smpp:serve_smpp"),
        Duty.MAIL: elsewhere("cli.commands.messaging.from_mail:send_mail"),
    },
)
