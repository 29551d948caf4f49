"""The key of the sealed secrets: exported, brought back, rotated; and what it cannot open."""

from __future__ import annotations

from typing import Final

from risala.engine.journal.store.sealing_key import parsed
from risala.engine.kernel.arguments import Arguments, MaybeFlag, NoArguments, Text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Conflict, Invalid, StorageFailed, StorageUnusable
from risala.engine.model.records.upkeep.sealed import (
    EXPORT,
    IMPORT,
    ROTATE,
    SHOW,
    ExportedKey,
    Resealed,
    SealedState,
)
from risala.engine.rules.roles import OPERATORS
from risala.engine.rules.secrets.sealing import SealingRing, written
from risala.engine.services import Services

SUBJECT: Final = "sealing key"


class ImportSealingKey(Arguments):
    """Open what another sealing key has sealed."""

    text: Text
    """The exported key: hexadecimal lines."""


class RotateSealingKey(Arguments):
    """Seal all secrets with a new key."""

    forget_old: MaybeFlag = None
    """Delete the former keys afterwards: older backups then lose their secrets."""


OPERATIONS: Final = Operations()


@OPERATIONS(SHOW, roles=OPERATORS)
async def _show(call: Call[NoArguments]) -> SealedState:
    sealed = call.services.repositories.sealed
    ring = call.services.sealing.ring()
    return SealedState(
        tuple(each.id for each in ring.keys),
        sealed.exported_at(),
        await sealed.counted(),
        await sealed.lost(),
    )


@OPERATIONS(EXPORT, roles=OPERATORS, changes=ExportedKey)
async def _export(call: Call[NoArguments]) -> ExportedKey:
    ring = call.services.sealing.ring()
    said = {"key": ring.newest.id}
    await call.note(call.audit(subject=SUBJECT, said=said, always=True))
    await call.services.repositories.sealed.note_exported(call.now_ms)
    return ExportedKey(ring.newest.id, written(ring))


@OPERATIONS(IMPORT, roles=OPERATORS, changes=Resealed)
async def _import(call: Call[ImportSealingKey]) -> Resealed:
    keys = call.services.sealing
    keys.refuse_change()
    try:
        ring = parsed(call.given.text, "The text")
    except StorageUnusable as error:
        raise Invalid("text", "invalid_key", str(error)) from error
    said = {"keys": " ".join(each.id for each in ring.keys)}
    with keys.changing():
        await call.note(call.audit(subject=SUBJECT, said=said, always=True))
        try:
            keys.add(ring)
        except StorageUnusable as error:
            raise StorageFailed(str(error)) from error
        return await _reseal(call.services)


@OPERATIONS(ROTATE, roles=OPERATORS, changes=Resealed)
async def _rotate(call: Call[RotateSealingKey]) -> Resealed:
    with call.services.sealing.changing():
        return await _rotate_alone(call)


async def _rotate_alone(call: Call[RotateSealingKey]) -> Resealed:
    keys, forgets = call.services.sealing, bool(call.given.forget_old)
    if forgets and await call.services.repositories.sealed.lost():
        raise Conflict(
            "Some secrets cannot be opened now. Bring their key back or make them anew, before"
            " former keys are deleted. `risala secrets show` lists them."
        )
    await call.note(call.audit(subject=SUBJECT, said={"forgetOld": forgets}, always=True))
    try:
        keys.rotate()
        done = await _reseal(call.services)
        if not forgets:
            return done
        return _resealed(keys.forget_old(), done.sealed)
    except StorageUnusable as error:
        raise StorageFailed(f"{error} The keys are as they were.") from error


async def _reseal(services: Services) -> Resealed:
    count = await services.repositories.sealed.reseal()
    return _resealed(services.sealing.ring(), count)


def _resealed(ring: SealingRing, count: int) -> Resealed:
    newest, *former = ring.keys
    return Resealed(newest.id, tuple(each.id for each in former), count)
