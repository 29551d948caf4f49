"""Another server key, while the service runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.errors import StorageFailed, StorageUnusable
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations.arguments import Arguments, Json, MaybeFlag
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS

SUBJECT: Final = "server key"


class RotateServerKey(Arguments):
    """Take a new server key for all that is made from now on."""

    at_once: MaybeFlag = None
    """The keys before it hold no longer: codes that are under way end."""


@dataclass(frozen=True, slots=True)
class RotatedServerKey:
    since: int
    """From when on things are made by it, UTC epoch milliseconds."""
    old_until: int | None
    """Until when the one before holds; None: no longer."""


def _wire(rotated: RotatedServerKey) -> Json:
    return {"since": iso(rotated.since), "oldUntil": maybe_iso(rotated.old_until)}


async def _rotate(call: Call[RotateServerKey]) -> RotatedServerKey:
    keys, at_once = call.services.server_keys, bool(call.given.at_once)
    keys.refuse_rotation()
    await call.note(call.audit(subject=SUBJECT, said={"atOnce": at_once}, always=True))
    try:
        # On the loop: it is one small file, and nothing may be derived between file and memory.
        ring = keys.rotate(call.services.recorder.clock, at_once=at_once)
    except StorageUnusable as error:
        raise StorageFailed(f"{error} The key of before holds.") from error
    newest, *old = ring.keys
    return RotatedServerKey(newest.since, old[0].until if old else None)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="server_key.rotate",
        arguments=RotateServerKey,
        result=RotatedServerKey,
        wire=_wire,
        handler=_rotate,
        roles=OPERATORS,
        changes=True,
    ),
)
