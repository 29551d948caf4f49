"""What operators do with carriers' addresses."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Final

from risala.engine.features.answering.calls import CarrierCalls
from risala.engine.features.answering.feature import (
    ALPHABET,
    FORMER_MS,
    ROTATE,
    SECRET_CHARACTERS,
    CarrierAddress,
)
from risala.engine.features.answering.stored import AddressRepository
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.operations.carriers import OfCarrier
from risala.engine.rules.roles import OPERATORS

OPERATIONS: Final = Operations()


@OPERATIONS(ROTATE, roles=OPERATORS, changes=CarrierAddress, fresh=True)
async def _rotate(call: Call[OfCarrier]) -> CarrierAddress:
    name, calls = call.arguments.carrier, call.part(CarrierCalls)
    callee = calls.of_carrier(name)
    if callee is None:
        raise NotFound(f"There is no running carrier {name!r} that is called.")
    if not callee.has_secret:
        raise Conflict(f"{name} has no secret in its address: its driver proves who calls.")
    secret = "".join(secrets.choice(ALPHABET) for _ in range(SECRET_CHARACTERS))
    by = call.audit(subject=name, always=True)
    stored = call.stored(AddressRepository)
    kept = await stored.replace(by, name, sha256(secret.encode()).digest(), call.now_ms, FORMER_MS)
    calls.learn(kept)
    return CarrierAddress(name, f"{calls.url_of(callee)}/{secret}", kept.former_until)
