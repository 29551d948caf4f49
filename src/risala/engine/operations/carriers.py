"""Carriers: their status, an operator's orders to them, and where messages go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from risala.engine.kernel.arguments import (
    Arguments,
    Json,
    MaybeRate,
    MaybeText,
    MaybeTexts,
    MaybeWhole,
    NoArguments,
    Number,
    Text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import Freshness
from risala.engine.model.errors import Conflict, Invalid, NotFound, NotFresh, SenderNotApproved
from risala.engine.model.records.carriers import rereading, routes, state, stored
from risala.engine.model.records.carriers.rereading import SettingsPreview
from risala.engine.model.records.carriers.routes import (
    RouteAnswer,
    RouteOrganization,
    RouteSender,
    Traffic,
    UnservedNumbers,
)
from risala.engine.model.records.carriers.state import (
    Carrier,
    CarrierCondition,
    CarrierDetails,
    CarrierReceipts,
    Carriers,
    CommandAnswer,
    LatestReceipt,
    OfferedCommand,
)
from risala.engine.model.records.carriers.stored import CarrierGate, Override, UnmatchedReceipts
from risala.engine.model.records.record import shallow, to_json
from risala.engine.model.records.upkeep.service import KEPT_FAILURE_HOURS
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


def _carriers_wire(listed: Carriers) -> Json:
    return {"carriers": [_wire(each) for each in listed.carriers]}


def _wire(carrier: Carrier) -> Json:
    values = to_json(carrier)
    if carrier.in_flight is not None:
        return values
    return {name: values[name] for name in _IDLE if name in values}


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
    carrier = next((each for each in call.services.delivery.carriers() if each.name == name), None)
    if carrier is None:
        raise NotFound(f"There is no carrier {name!r}.")
    return carrier


@OPERATIONS(state.SHOW, roles=OPERATORS, operators=READERS, wire=_wire)
async def _carrier(call: Call[OfCarrier]) -> CarrierDetails:
    name, stored = call.arguments.carrier, call.services.repositories
    listed = _one(call, name)
    # Raw receipts may have numbers of phones.
    count = LATEST_MAX if call.caller.operator_role in SUPPORT else 0
    latest = stored.carriers.unmatched(count, carrier=name, before=None)
    return CarrierDetails(
        **shallow(listed),
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


@OPERATIONS(state.ASK, roles=OPERATORS, operators=SUPPORT, changes=CommandAnswer)
async def _ask(call: Call[AskCarrier]) -> CommandAnswer:
    question, delivery = call.arguments, call.services.delivery
    arguments = question.arguments or ()
    delivery.refuse_ask(question.carrier, question.command, arguments)
    offered = {each.name: each for each in delivery.offered(question.carrier)}
    if offered[question.command].needs_fresh_sign_in and call.caller.freshness is Freshness.STALE:
        raise NotFresh
    # The entry leaves out the command's arguments: one may be a voucher's number or a PIN. It is
    # written before the driver is asked, because the carrier's action cannot be undone.
    await call.note(
        call.audit(subject=question.carrier, details={"command": question.command}, always=True)
    )
    answer = await delivery.ask(question.carrier, question.command, arguments)
    return CommandAnswer(question.carrier, question.command, answer)


async def _set_gate(call: Call[OfCarrier], gate: Gate) -> Carriers:
    delivery, name = call.services.delivery, call.arguments.carrier
    if _one(call, name).gate == Gate.LEAVING:
        raise Conflict(f"{name} is being removed: it finishes its current messages, then stops.")
    by = call.audit(subject=name, details={"gate": gate.value}, always=True)
    stored = call.services.repositories.carriers
    # First on the disk, then in effect: a restart in between keeps what the page says.
    if gate is Gate.OPEN:
        await stored.open_gate(by, name)
    else:
        carrier_gate = CarrierGate(name, gate.value, call.now_ms, call.caller.who)
        await stored.set_gate(by, carrier_gate)
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
    delivery, name = call.services.delivery, call.arguments.carrier
    _one(call, name)
    if not delivery.running:
        raise Conflict("The service is not running, so no carrier is connected.")
    # Written first, as with a driver's commands: it cannot be undone.
    await call.note(call.audit(subject=name, always=True))
    await delivery.reconnect(name)
    return Carriers((_one(call, name),))


@OPERATIONS(state.OVERRIDE, **_CHANGE)
async def _override(call: Call[OverrideCarrier]) -> Carriers:
    arguments, name = call.arguments, call.arguments.carrier
    _one(call, name)
    if arguments.rate_per_s is None and arguments.weight is None:
        raise Invalid("rate_per_s", "missing", "Give `rate_per_s`, `weight`, or both.")
    if arguments.weight is not None and not 1 <= arguments.weight <= WEIGHT_MAX:
        raise Invalid("weight", "invalid_weight", f"`weight` must be from 1 to {WEIGHT_MAX}.")
    override = Override(name, arguments.rate_per_s, arguments.weight, call.now_ms, call.caller.who)
    by = call.audit(AuditImage.OVERRIDE, subject=name)
    await call.services.repositories.carriers.put_override(by, override)
    return _obey(call, name)


@OPERATIONS(state.END_OVERRIDE, **_CHANGE)
async def _end_override(call: Call[EndOverride]) -> Carriers:
    arguments, name = call.arguments, call.arguments.carrier
    if arguments.field not in (None, "rate_per_s", "weight"):
        text = "`field` must be rate_per_s or weight."
        raise Invalid("field", "invalid_field", text)
    stored = call.services.repositories.carriers
    if stored.override(name) is None:
        _one(call, name)
    by = call.audit(AuditImage.OVERRIDE, subject=name)
    await stored.end_override(by, name, arguments.field)
    return _obey(call, name)


def _obey(call: Call[Any], name: str) -> Carriers:
    services, delivery = call.services, call.services.delivery
    # Read from the disk: of two changes at the same moment, either may arrive here first.
    delivery.override(name, services.repositories.carriers.override(name))
    return Carriers(tuple(each for each in delivery.carriers() if each.name == name))


# -- added, changed and removed while the service runs: it reads its settings again


class ApplySettings(Arguments):
    """Apply the settings of the preview."""

    hash: Text
    """The hash that ``carriers.preview`` answered."""


@OPERATIONS(rereading.PREVIEW, roles=OPERATORS)
async def _preview(call: Call[NoArguments]) -> SettingsPreview:
    return call.services.delivery.rereading.preview()


@OPERATIONS(rereading.APPLY, roles=OPERATORS, changes=SettingsPreview)
async def _apply(call: Call[ApplySettings]) -> SettingsPreview:
    settings = call.services.delivery.rereading
    prepared = settings.prepare(call.arguments.hash)
    preview = prepared.preview
    if preview.carriers or preview.settings:
        # The audit entry comes first, because the change is not in the database.
        await call.note(call.audit(details=_said(preview), always=True))
    await settings.apply(prepared)
    return preview


def _said(preview: SettingsPreview) -> Json:
    """The details for the audit trail: the names of changed settings. It gets no values, because
    the file's owner may have written secrets where they do not belong."""
    return {
        "carriers": {
            each.carrier: {"kind": each.kind, "fields": [one.field for one in each.fields]}
            for each in preview.carriers
        },
        "settings": [each.key for each in preview.settings],
    }


# -- routes, traffic, and receipts without a message


RECEIPTS_MAX: Final = 500
"""The most receipts on one page."""
RECEIPTS_USUAL: Final = 50
TRAFFIC_MAX: Final = 1000
"""The most lines of traffic in one answer."""
TRAFFIC_USUAL: Final = 200


class TestRoute(Arguments):
    """Ask where a message to a number would go now."""

    to: Number
    segments: MaybeWhole = None
    """Parts of the message; 1 by default."""
    organization_id: MaybeText = None
    sender: MaybeText = None
    """The organization's ``from``."""


class LookAtTraffic(Arguments):
    """A carrier's traffic of the last minutes."""

    carrier: Text
    after: MaybeWhole = None
    """The number of a line: only later ones are listed."""
    limit: MaybeWhole = None


class ListReceipts(Arguments):
    """A page of receipts that matched no message."""

    carrier: MaybeText = None
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of a receipt: only older ones are listed."""


@OPERATIONS(routes.TEST, roles=OPERATORS, operators=READERS)
async def _test_route(call: Call[TestRoute]) -> RouteAnswer:
    arguments, services = call.arguments, call.services
    segments = arguments.segments or 1
    if not 1 <= segments <= SEGMENTS_MAX:
        raise Invalid("segments", "invalid_number", f"`segments` is from 1 to {SEGMENTS_MAX}.")
    organization, sender = _customer(call)
    key = None
    if organization is not None:
        key = services.intake.drafts.route_of(organization.id, arguments.to)
    tested = services.delivery.route(arguments.to, segments, key)
    return replace(tested, organization=organization, sender=sender)


SEGMENTS_MAX: Final = 255
"""The most parts that a message can have (3GPP TS 23.040 §9.2.3.24.1)."""


def _customer(call: Call[TestRoute]) -> tuple[RouteOrganization | None, RouteSender | None]:
    """The effect of the organization and of its requested sender."""
    arguments, services = call.arguments, call.services
    drafts, details = services.intake.drafts, {"asked": arguments.sender}
    numeric = drafts.numeric_of(arguments.to)
    instead = (
        None if numeric is None else RouteSender(numeric, CarrierCondition("numeric", details))
    )
    if arguments.organization_id is None:
        if arguments.sender is not None:
            raise Invalid("organization_id", "missing", "Give the sender's organization too.")
        return None, instead
    organization = services.accounts.organization(arguments.organization_id)
    code = "sends" if organization.status == "active" else str(organization.status)
    if code == "sends" and not drafts.reaches(organization, arguments.to):
        code = "country_not_open"
    account = RouteOrganization(organization.id, organization.name, CarrierCondition(code, {}))
    try:
        name, notice = drafts.sender_of(organization.id, arguments.sender)
    except SenderNotApproved:
        return account, RouteSender(None, CarrierCondition("not_approved", details))
    code = "approved" if notice is None else "awaits_approval"
    return account, instead or RouteSender(name, CarrierCondition(code, details))


@OPERATIONS(routes.UNSERVED, roles=OPERATORS, operators=READERS)
async def _unserved(call: Call[NoArguments]) -> UnservedNumbers:
    return call.services.delivery.unserved(call.services.settings.plan)


@OPERATIONS(routes.TRAFFIC, roles=OPERATORS, operators=SUPPORT)
async def _traffic(call: Call[LookAtTraffic]) -> Traffic:
    arguments = call.arguments
    count = max(1, min(arguments.limit or TRAFFIC_USUAL, TRAFFIC_MAX))
    lines = call.services.delivery.traffic(arguments.carrier, arguments.after or 0, count)
    return Traffic(tuple(lines))


@OPERATIONS(stored.UNMATCHED, roles=OPERATORS, operators=SUPPORT)
async def _receipts(call: Call[ListReceipts]) -> UnmatchedReceipts:
    arguments = call.arguments
    limit = max(1, min(arguments.limit or RECEIPTS_USUAL, RECEIPTS_MAX))
    receipts = call.services.repositories.carriers.unmatched(
        limit + 1, carrier=arguments.carrier, before=arguments.before
    )
    shown = tuple(receipts[:limit])
    return UnmatchedReceipts(shown, shown[-1].seq if len(receipts) > limit else None)
