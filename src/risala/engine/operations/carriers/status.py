"""Carriers: their status, and an operator's orders to them."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.kernel.arguments import (
    Arguments,
    Json,
    MaybeRate,
    MaybeText,
    MaybeTexts,
    MaybeWhole,
    NoArguments,
    Text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.records.carriers import state
from risala.engine.model.records.carriers.state import (
    Carrier,
    CarrierAnswer,
    CarrierDetails,
    CarrierReceipts,
    Carriers,
    LatestReceipt,
    OfferedCommand,
)
from risala.engine.model.records.carriers.stored import CarrierGate, Override
from risala.engine.model.records.record import shallow, to_json
from risala.engine.model.records.upkeep.minutes import KEPT_FAILURE_HOURS
from risala.engine.model.states import Gate
from risala.engine.rules.roles import OPERATORS, READERS, SUPPORT
from risala.sms.cause import Cause

WEIGHT_MAX: Final = 1000
"""The settings' limit."""
LATEST_MAX: Final = 5
"""The number of receipts without a message that are shown with a carrier."""


class OfCarrier(Arguments):
    """Names one carrier."""

    carrier: Text


class AskCarrier(OfCarrier):
    """Ask a carrier's driver for one of its own commands."""

    command: Text
    arguments: MaybeTexts = None


class OverrideCarrier(OfCarrier):
    """Override the settings' pace or weight; a value that is not given stays as it is."""

    rate_per_s: MaybeRate = None
    weight: MaybeWhole = None


class EndOverride(OfCarrier):
    """Use the settings again: for one of the two, or for both."""

    field: MaybeText = None
    """``rate_per_s`` or ``weight``; null: both."""


_HOUR_MS: Final = 3_600_000
_IDLE: Final = (
    *("name", "carrier", "driver", "state", "text", "condition", "rate_max_per_s", "numbers"),
    *("priority", "weight", "file", "override", "gate", "queue", "queue_is_longer", "oldest"),
    *("commands", "unmatched", "refunded_uncertain"),
)
"""The fields of a carrier while no service runs."""


def _carriers_wire(found: Carriers) -> Json:
    return {"carriers": [_wire(each) for each in found.carriers]}


def _wire(found: Carrier) -> Json:
    told = to_json(found)
    if found.in_flight is not None:
        return told
    return {name: told[name] for name in _IDLE if name in told}


OPERATIONS: Final = Operations()
_CHANGE: Final[dict[str, Any]] = {
    "roles": OPERATORS,
    "changes": Carriers,
    "wire": _carriers_wire,
}


@OPERATIONS(state.LIST, roles=OPERATORS, operators=READERS, wire=_carriers_wire)
async def _carriers(call: Call[NoArguments]) -> Carriers:
    return Carriers(tuple(call.services.delivery.carriers()))


def _one(call: Call[Any], name: str) -> Carrier:
    found = next((each for each in call.services.delivery.carriers() if each.name == name), None)
    if found is None:
        raise NotFound(f"There is no carrier {name!r}.")
    return found


@OPERATIONS(state.SHOW, roles=OPERATORS, operators=READERS, wire=_wire)
async def _carrier(call: Call[OfCarrier]) -> CarrierDetails:
    name, stored = call.given.carrier, call.services.repositories
    found = _one(call, name)
    # Raw receipts may have numbers of phones.
    count = LATEST_MAX if call.caller.operator_role in SUPPORT else 0
    latest = stored.carriers.unmatched(count, carrier=name, before=None)
    return CarrierDetails(
        **shallow(found),
        commands=tuple(
            OfferedCommand(each.name, each.summary, each.arguments)
            for each in call.services.delivery.offered(name)
        ),
        unmatched=CarrierReceipts(
            stored.receipts.unmatched_total(name),
            stored.receipts.waiting(name),
            tuple(
                LatestReceipt(each.received_at, each.carrier_id, each.raw, each.recipient, each.why)
                for each in latest
            ),
        ),
        refunded_uncertain=call.services.recorder.minutes.failed_by(
            Cause.UNCERTAIN, name, call.now_ms // _HOUR_MS - KEPT_FAILURE_HOURS
        ),
    )


@OPERATIONS(state.ASK, roles=OPERATORS, operators=SUPPORT, changes=CarrierAnswer)
async def _ask(call: Call[AskCarrier]) -> CarrierAnswer:
    given, delivery = call.given, call.services.delivery
    arguments = given.arguments or ()
    delivery.refuse_ask(given.carrier, given.command, arguments)
    # The entry leaves out the command's arguments: one may be a voucher's number or a PIN. It is
    # written before the driver is asked, because the carrier's action cannot be undone.
    await call.note(call.audit(subject=given.carrier, said={"command": given.command}, always=True))
    told = await delivery.ask(given.carrier, given.command, arguments)
    return CarrierAnswer(given.carrier, given.command, told)


async def _set_gate(call: Call[OfCarrier], gate: Gate) -> Carriers:
    delivery, name = call.services.delivery, call.given.carrier
    if _one(call, name).gate == Gate.LEAVING:
        raise Conflict(f"{name} is being removed: it finishes its current messages, then stops.")
    by = call.audit(subject=name, said={"gate": gate.value}, always=True)
    stored = call.services.repositories.carriers
    # First on the disk, then in effect: a restart in between keeps what the page says.
    if gate is Gate.OPEN:
        await stored.open_gate(by, name)
    else:
        said = CarrierGate(name, gate.value, call.now_ms, call.caller.who)
        await stored.set_gate(by, said)
    # Read from the disk: of two changes at the same moment, either may arrive here first.
    now = stored.gates().get(name)
    await delivery.set_gate(name, Gate.OPEN if now is None else Gate(now.gate))
    return Carriers(tuple(each for each in delivery.carriers() if each.name == name))


@OPERATIONS(state.PAUSE, operators=SUPPORT, **_CHANGE)
async def _pause(call: Call[OfCarrier]) -> Carriers:
    return await _set_gate(call, Gate.PAUSED)


@OPERATIONS(state.RESUME, operators=SUPPORT, **_CHANGE)
async def _resume(call: Call[OfCarrier]) -> Carriers:
    return await _set_gate(call, Gate.OPEN)


@OPERATIONS(state.DRAIN, operators=SUPPORT, **_CHANGE)
async def _drain(call: Call[OfCarrier]) -> Carriers:
    return await _set_gate(call, Gate.DRAINING)


@OPERATIONS(state.RECONNECT, operators=SUPPORT, **_CHANGE)
async def _reconnect(call: Call[OfCarrier]) -> Carriers:
    delivery, name = call.services.delivery, call.given.carrier
    _one(call, name)
    if not delivery.running:
        raise Conflict("The service is not running, so no carrier is connected.")
    # Written first, as with a driver's commands: it cannot be undone.
    await call.note(call.audit(subject=name, always=True))
    await delivery.reconnect(name)
    return Carriers((_one(call, name),))


@OPERATIONS(state.OVERRIDE, **_CHANGE)
async def _override(call: Call[OverrideCarrier]) -> Carriers:
    given, name = call.given, call.given.carrier
    _one(call, name)
    if given.rate_per_s is None and given.weight is None:
        raise Invalid("rate_per_s", "missing", "Give `rate_per_s`, `weight`, or both.")
    if given.weight is not None and not 1 <= given.weight <= WEIGHT_MAX:
        raise Invalid("weight", "invalid_weight", f"`weight` must be from 1 to {WEIGHT_MAX}.")
    wanted = Override(name, given.rate_per_s, given.weight, call.now_ms, call.caller.who)
    by = call.audit(AuditImage.OVERRIDE, subject=name)
    await call.services.repositories.carriers.put_override(by, wanted)
    return _obey(call, name)


@OPERATIONS(state.END_OVERRIDE, **_CHANGE)
async def _end_override(call: Call[EndOverride]) -> Carriers:
    given, name = call.given, call.given.carrier
    if given.field not in (None, "rate_per_s", "weight"):
        text = "`field` must be rate_per_s or weight."
        raise Invalid("field", "invalid_field", text)
    stored = call.services.repositories.carriers
    if stored.override(name) is None:
        _one(call, name)
    by = call.audit(AuditImage.OVERRIDE, subject=name)
    await stored.end_override(by, name, given.field)
    return _obey(call, name)


def _obey(call: Call[Any], name: str) -> Carriers:
    services, delivery = call.services, call.services.delivery
    # Read from the disk: of two changes at the same moment, either may arrive here first.
    delivery.override(name, services.repositories.carriers.override(name))
    return Carriers(tuple(each for each in delivery.carriers() if each.name == name))
