"""Looking at the service: the books, the carriers, the numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

import trio

from risala.engine.delivery.lane_parts import Gate
from risala.engine.journal.messages import held
from risala.engine.journal.upkeep import audit
from risala.engine.model.clock import iso
from risala.engine.model.errors import NotFound
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.services import Services


async def _audit(services: Services, _: Arguments) -> Json:
    # A thread of its own for a scan of everything: the loop must not stand still meanwhile.
    report = await trio.to_thread.run_sync(audit.audit_file, services.recorder.journal.path)
    return {
        "organizations": report.organizations,
        "messages": report.messages,
        "entries": report.entries,
        "clean": report.clean,
        "faults": list(report.faults),
    }


async def _carriers(services: Services, _: Arguments) -> Json:
    return {"carriers": services.delivery.carriers()}


async def _carrier(services: Services, arguments: Arguments) -> Json:
    """One carrier, with what its driver can be asked."""
    name = arguments.text("carrier")
    found = next((each for each in services.delivery.carriers() if each["name"] == name), None)
    if found is None:
        raise NotFound(f"There is no carrier {name!r}.")
    return {
        **found,
        "commands": [asdict(each) for each in services.delivery.offered(name)],
        "unmatched": _unmatched(services, name),
    }


def _unmatched(services: Services, carrier: str) -> Json:
    """Receipts of a carrier that match no message: how many there were, and the latest."""
    reader = services.reader
    return {
        "total": held.unmatched_total(reader, carrier),
        "waiting": held.waiting(reader, carrier),
        "latest": [
            {
                "at": iso(each.received_at),
                "id": each.carrier_id,
                "says": each.raw,
                "recipient": each.recipient,
                "why": each.why,
            }
            for each in held.unmatched(reader, carrier)
        ],
    }


async def _ask(services: Services, arguments: Arguments) -> Json:
    carrier, command = arguments.text("carrier"), arguments.text("command")
    told = await services.delivery.ask(carrier, command, arguments.texts("arguments"))
    return {"carrier": carrier, "command": command, "answer": told}


def _gate(gate: Gate) -> Operation:
    async def set_gate(services: Services, arguments: Arguments) -> Json:
        carrier = arguments.text("carrier")
        await services.delivery.set_gate(carrier, gate)
        return {"carriers": [c for c in services.delivery.carriers() if c["name"] == carrier]}

    return set_gate


async def _statistics(services: Services, _: Arguments) -> Json:
    return services.delivery.statistics()


OPERATIONS: Final[dict[str, Operation]] = {
    "audit": _audit,
    "carriers": _carriers,
    "carriers.show": _carrier,
    "carriers.ask": _ask,
    "carriers.pause": _gate(Gate.PAUSED),
    "carriers.resume": _gate(Gate.OPEN),
    "carriers.drain": _gate(Gate.DRAINING),
    "statistics": _statistics,
}
