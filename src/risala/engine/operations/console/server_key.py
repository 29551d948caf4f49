"""Changes the server key while the service runs."""

from __future__ import annotations

from typing import Final

from risala.engine.kernel.arguments import Arguments, MaybeFlag
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import StorageFailed, StorageUnusable
from risala.engine.model.records.upkeep.server_key import ROTATE, RotatedServerKey
from risala.engine.rules.roles import OPERATORS

SUBJECT: Final = "server key"


class RotateServerKey(Arguments):
    """Use a new server key from now on."""

    at_once: MaybeFlag = None
    """Earlier keys stop working at once: open codes end."""


OPERATIONS: Final = Operations()


@OPERATIONS(ROTATE, roles=OPERATORS, changes=RotatedServerKey, fresh=True)
async def _rotate(call: Call[RotateServerKey]) -> RotatedServerKey:
    keys, at_once = call.services.server_keys, bool(call.given.at_once)
    keys.refuse_rotation()
    await call.note(call.audit(subject=SUBJECT, said={"atOnce": at_once}, always=True))
    try:
        # Not in a thread: it is one small file, and no key may be used between file and memory.
        ring = keys.rotate(call.services.recorder.clock, at_once=at_once)
    except StorageUnusable as error:
        raise StorageFailed(f"{error} The old key stays in use.") from error
    newest, *old = ring.keys
    return RotatedServerKey(newest.since, old[0].until if old else None)
