"""What guards the service: keys of its secrets, the lock of the console, and who seems to try."""

from __future__ import annotations

from ipaddress import IPv6Network, ip_network
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.journal.store.sealing_key import parsed
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    NoArguments,
    Text,
    fault,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Conflict, Invalid, StorageFailed, StorageUnusable
from risala.engine.model.records.upkeep import sealed, security
from risala.engine.model.records.upkeep.sealed import (
    ExportedKey,
    Resealed,
    SealedState,
)
from risala.engine.model.records.upkeep.security import ConsoleLock, RotatedServerKey, Security
from risala.engine.rules.roles import OPERATORS
from risala.engine.rules.sealing import SealingRing, written
from risala.engine.services import Services

CLIENT_PREFIX_V6: Final = 64
"""Bits of an IPv6 address that are a client's: it changes the others by itself."""


def _network(value: object) -> str:
    """An address or a network; of one IPv6 address its /64."""
    try:
        network = ip_network(text(value), strict=False)
    except ValueError:
        raise fault("invalid_ip_address", "`{name}` is an address like 203.0.113.7.") from None
    if isinstance(network, IPv6Network) and network.prefixlen > CLIENT_PREFIX_V6:
        network = network.supernet(new_prefix=CLIENT_PREFIX_V6)
    return str(network)


class LockConsole(Arguments):
    """Have the console answer one address alone."""

    address: Annotated[str, PlainValidator(_network), ArgumentKind("address or network")]


OPERATIONS: Final = Operations()


@OPERATIONS(security.SHOW, roles=OPERATORS, shows_texts=True)
async def _show(call: Call[NoArguments]) -> Security:
    await call.note(call.audit(always=True))
    return await call.services.repositories.sign_in.look_for_intruders(call.now_ms)


@OPERATIONS(security.LOCK, roles=OPERATORS, fresh=True, changes=ConsoleLock)
async def _lock(call: Call[LockConsole]) -> ConsoleLock:
    address = call.arguments.address
    by = call.audit(details={"address": address})
    stored = call.services.repositories.sign_in
    return await stored.lock_console(by, address, call.caller.who, call.now_ms)


@OPERATIONS(security.UNLOCK, roles=OPERATORS, changes=ConsoleLock)
async def _unlock(call: Call[NoArguments]) -> ConsoleLock:
    return await call.services.repositories.sign_in.unlock_console(call.audit())


# -- the server key


SERVER_KEY: Final = "server key"


class RotateServerKey(Arguments):
    """Use a new server key from now on."""

    at_once: MaybeFlag = None
    """Earlier keys stop working at once: open codes end."""


@OPERATIONS(security.ROTATE_SERVER_KEY, roles=OPERATORS, changes=RotatedServerKey, fresh=True)
async def _rotate_server_key(call: Call[RotateServerKey]) -> RotatedServerKey:
    keys, at_once = call.services.server_keys, bool(call.arguments.at_once)
    keys.refuse_rotation()
    await call.note(call.audit(subject=SERVER_KEY, details={"atOnce": at_once}, always=True))
    try:
        # Not in a thread: it is one small file, and no key may be used between file and memory.
        ring = keys.rotate(call.services.recorder.clock, at_once=at_once)
    except StorageUnusable as error:
        raise StorageFailed(f"{error} The old key stays in use.") from error
    newest, *old = ring.keys
    return RotatedServerKey(newest.since, old[0].until if old else None)


# -- the key of the sealed secrets


SEALING_KEY: Final = "sealing key"


class ImportSealingKey(Arguments):
    """Open what another sealing key has sealed."""

    text: Text
    """The exported key: hexadecimal lines."""


class RotateSealingKey(Arguments):
    """Seal all secrets with a new key."""

    forget_old: MaybeFlag = None
    """Delete the former keys afterwards: older backups then lose their secrets."""


@OPERATIONS(sealed.SHOW, roles=OPERATORS)
async def _show_secrets(call: Call[NoArguments]) -> SealedState:
    stored, ring = call.services.repositories.sealed, call.services.sealing.ring()
    return SealedState(
        tuple(each.id for each in ring.keys),
        stored.exported_at(),
        await stored.counted(),
        await stored.lost(),
    )


@OPERATIONS(sealed.EXPORT, roles=OPERATORS, changes=ExportedKey)
async def _export(call: Call[NoArguments]) -> ExportedKey:
    ring = call.services.sealing.ring()
    details = {"key": ring.newest.id}
    await call.note(call.audit(subject=SEALING_KEY, details=details, always=True))
    await call.services.repositories.sealed.note_exported(call.now_ms)
    return ExportedKey(ring.newest.id, written(ring))


@OPERATIONS(sealed.IMPORT, roles=OPERATORS, changes=Resealed)
async def _import(call: Call[ImportSealingKey]) -> Resealed:
    keys = call.services.sealing
    keys.refuse_change()
    try:
        ring = parsed(call.arguments.text, "The text")
    except StorageUnusable as error:
        raise Invalid("text", "invalid_key", str(error)) from error
    details = {"keys": " ".join(each.id for each in ring.keys)}
    with keys.changing():
        await call.note(call.audit(subject=SEALING_KEY, details=details, always=True))
        try:
            keys.add(ring)
        except StorageUnusable as error:
            raise StorageFailed(str(error)) from error
        return await _reseal(call.services)


@OPERATIONS(sealed.ROTATE, roles=OPERATORS, changes=Resealed)
async def _rotate_sealing_key(call: Call[RotateSealingKey]) -> Resealed:
    with call.services.sealing.changing():
        return await _rotate_alone(call)


async def _rotate_alone(call: Call[RotateSealingKey]) -> Resealed:
    keys, forgets = call.services.sealing, bool(call.arguments.forget_old)
    if forgets and await call.services.repositories.sealed.lost():
        raise Conflict(
            "Some secrets cannot be opened now. Bring their key back or make them anew, before"
            " former keys are deleted. `risala secrets show` lists them."
        )
    await call.note(call.audit(subject=SEALING_KEY, details={"forgetOld": forgets}, always=True))
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
