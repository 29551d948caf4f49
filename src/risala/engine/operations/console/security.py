"""What an administrator looks at when somebody seems to try, and the lock of the console."""

from __future__ import annotations

from ipaddress import IPv6Network, ip_network
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    NoArguments,
    fault,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.upkeep import security
from risala.engine.model.records.upkeep.security import ConsoleLock, Security
from risala.engine.rules.roles import OPERATORS

CLIENT_PREFIX_V6: Final = 64
"""Bits of an IPv6 address that are a client's: it changes the others by itself."""


def _network(value: object) -> str:
    """An address or a network; of one IPv6 address its /64."""
    try:
        found = ip_network(text(value), strict=False)
    except ValueError:
        raise fault("invalid_ip_address", "`{name}` is an address like 203.0.113.7.") from None
    if isinstance(found, IPv6Network) and found.prefixlen > CLIENT_PREFIX_V6:
        found = found.supernet(new_prefix=CLIENT_PREFIX_V6)
    return str(found)


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
    address = call.given.address
    by = call.audit(said={"address": address})
    stored = call.services.repositories.sign_in
    return await stored.lock_console(by, address, call.caller.who, call.now_ms)


@OPERATIONS(security.UNLOCK, roles=OPERATORS, changes=ConsoleLock)
async def _unlock(call: Call[NoArguments]) -> ConsoleLock:
    return await call.services.repositories.sign_in.unlock_console(call.audit())
