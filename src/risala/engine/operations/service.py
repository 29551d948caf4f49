"""Looking at the service: the books, the carriers, the numbers, the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import trio

from risala.engine.delivery.lane.parts import Gate
from risala.engine.journal.messages import held
from risala.engine.journal.upkeep import audit, audit_log
from risala.engine.journal.upkeep.audit_log import AuditLine
from risala.engine.model.clock import iso
from risala.engine.model.commands import AuditReport
from risala.engine.model.errors import NotFound
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeText,
    MaybeTexts,
    MaybeWhole,
    NoArguments,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS

LINES_MAX: Final = 500
"""Lines of one answer at most."""
LINES_USUAL: Final = 50


class OfCarrier(Arguments):
    """Names one carrier."""

    carrier: Text


class AskCarrier(OfCarrier):
    """Ask a carrier's driver for one of its own commands."""

    command: Text
    arguments: MaybeTexts = None


class ListLines(Arguments):
    """A page of the audit trail, by organization, operation or person."""

    organization_id: MaybeText = None
    operation: MaybeText = None
    who: MaybeText = None
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of a line: only older ones are listed."""


@dataclass(frozen=True, slots=True)
class Carriers:
    """All carriers with their health and numbers."""

    carriers: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Carrier:
    """One carrier with all that is known of it."""

    shown: Mapping[str, Any]
    commands: tuple[Mapping[str, Any], ...]
    """The commands that the carrier's driver can be asked."""
    unmatched: Mapping[str, Any]
    """Receipts that match no message: how many there were, and the latest."""


@dataclass(frozen=True, slots=True)
class CarrierAnswer:
    """What a carrier's driver answered."""

    carrier: str
    command: str
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Statistics:
    """All numbers that the service keeps in memory."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LinesPage:
    """Lines of the audit trail, the newest first."""

    lines: tuple[AuditLine, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""


def _report_wire(report: AuditReport) -> Json:
    return {
        "organizations": report.organizations,
        "messages": report.messages,
        "entries": report.entries,
        "clean": report.clean,
        "faults": list(report.faults),
    }


def _carriers_wire(found: Carriers) -> Json:
    return {"carriers": [dict(each) for each in found.carriers]}


def _carrier_wire(found: Carrier) -> Json:
    return {
        **found.shown,
        "commands": [dict(each) for each in found.commands],
        "unmatched": dict(found.unmatched),
    }


def _answer_wire(found: CarrierAnswer) -> Json:
    return {"carrier": found.carrier, "command": found.command, "answer": dict(found.answer)}


def _statistics_wire(found: Statistics) -> Json:
    return dict(found.values)


def _lines_wire(page: LinesPage) -> Json:
    return {
        "lines": [
            {
                "seq": line.seq,
                "at": iso(line.at),
                "who": line.who,
                "face": line.face,
                "role": line.role,
                "operation": line.action,
                "organizationId": line.organization_id,
                "subject": line.subject,
                "before": line.before,
                "after": line.after,
            }
            for line in page.lines
        ],
        "next": page.next,
    }


async def _audit(call: Call[NoArguments]) -> AuditReport:
    # In a thread, because it scans everything and the loop must not stand still meanwhile.
    path = call.services.recorder.journal.path
    return await trio.to_thread.run_sync(audit.audit_file, path)


async def _audit_list(call: Call[ListLines]) -> LinesPage:
    """The newest lines first."""
    given = call.given
    limit = max(1, min(given.limit or LINES_USUAL, LINES_MAX))
    found = audit_log.lines(
        call.services.reader,
        limit + 1,
        before=given.before,
        organization_id=given.organization_id,
        action=given.operation,
        who=given.who,
    )
    shown = tuple(found[:limit])
    return LinesPage(shown, shown[-1].seq if len(found) > limit else None)


async def _carriers(call: Call[NoArguments]) -> Carriers:
    return Carriers(tuple(call.services.delivery.carriers()))


def _one(call: Call[Any], name: str) -> Mapping[str, Any]:
    found = next((each for each in call.services.delivery.carriers() if each["name"] == name), None)
    if found is None:
        raise NotFound(f"There is no carrier {name!r}.")
    return found


async def _carrier(call: Call[OfCarrier]) -> Carrier:
    name, reader = call.given.carrier, call.services.reader
    found = _one(call, name)
    offered = call.services.delivery.offered(name)
    unmatched = {
        "total": held.unmatched_total(reader, name),
        "waiting": held.waiting(reader, name),
        "latest": [
            {
                "at": iso(each.received_at),
                "id": each.carrier_id,
                "says": each.raw,
                "recipient": each.recipient,
                "why": each.why,
            }
            for each in held.unmatched(reader, name)
        ],
    }
    return Carrier(found, tuple(asdict(each) for each in offered), unmatched)


async def _ask(call: Call[AskCarrier]) -> CarrierAnswer:
    given, delivery = call.given, call.services.delivery
    arguments = given.arguments or ()
    delivery.refuse_ask(given.carrier, given.command, arguments)
    # The line leaves out the command's arguments, of which one may be a voucher's number or a PIN.
    # It is written before the driver is asked, since nobody could take back what the carrier does.
    await call.note(call.sign(subject=given.carrier, said={"command": given.command}, always=True))
    told = await delivery.ask(given.carrier, given.command, arguments)
    return CarrierAnswer(given.carrier, given.command, told)


async def _set_gate(call: Call[OfCarrier], gate: Gate) -> Carriers:
    delivery, name = call.services.delivery, call.given.carrier
    if delivery.running:
        _one(call, name)
        by = call.sign(subject=name, said={"gate": gate.value}, always=True)
        await call.note(by)
    await delivery.set_gate(name, gate)
    return Carriers(tuple(each for each in delivery.carriers() if each["name"] == name))


async def _pause(call: Call[OfCarrier]) -> Carriers:
    return await _set_gate(call, Gate.PAUSED)


async def _resume(call: Call[OfCarrier]) -> Carriers:
    return await _set_gate(call, Gate.OPEN)


async def _drain(call: Call[OfCarrier]) -> Carriers:
    return await _set_gate(call, Gate.DRAINING)


async def _statistics(call: Call[NoArguments]) -> Statistics:
    return Statistics(call.services.delivery.statistics())


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="audit",
        arguments=NoArguments,
        result=AuditReport,
        wire=_report_wire,
        handler=_audit,
        roles=OPERATORS,
    ),
    Operation(
        name="audit.list",
        arguments=ListLines,
        result=LinesPage,
        wire=_lines_wire,
        handler=_audit_list,
        roles=OPERATORS,
        crosses=True,
    ),
    Operation(
        name="carriers",
        arguments=NoArguments,
        result=Carriers,
        wire=_carriers_wire,
        handler=_carriers,
        roles=OPERATORS,
    ),
    Operation(
        name="carriers.show",
        arguments=OfCarrier,
        result=Carrier,
        wire=_carrier_wire,
        handler=_carrier,
        roles=OPERATORS,
    ),
    Operation(
        name="carriers.ask",
        arguments=AskCarrier,
        result=CarrierAnswer,
        wire=_answer_wire,
        handler=_ask,
        roles=OPERATORS,
        changes=True,
    ),
    *(
        Operation(
            name=name,
            arguments=OfCarrier,
            result=Carriers,
            wire=_carriers_wire,
            handler=handler,
            roles=OPERATORS,
            changes=True,
        )
        for name, handler in (
            ("carriers.pause", _pause),
            ("carriers.resume", _resume),
            ("carriers.drain", _drain),
        )
    ),
    Operation(
        name="statistics",
        arguments=NoArguments,
        result=Statistics,
        wire=_statistics_wire,
        handler=_statistics,
        roles=OPERATORS,
    ),
)
