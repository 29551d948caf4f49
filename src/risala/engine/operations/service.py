"""Looking at the service: the books, the carriers, the numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

import trio

from risala.engine.delivery.lane_parts import Gate
from risala.engine.delivery.scheduler import SetGate
from risala.engine.gateway import Gateway
from risala.engine.journal.upkeep import audit
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.operations.arguments import Arguments, Json, Operation

_NOT_RUNNING: Final = "The service is not running, so that no carrier is connected."


async def _audit(gateway: Gateway, _: Arguments) -> Json:
    # A thread of its own for a scan of everything: the loop must not stand still meanwhile.
    report = await trio.to_thread.run_sync(audit.audit_file, gateway.parts.recorder.journal.path)
    return {
        "organizations": report.organizations,
        "messages": report.messages,
        "entries": report.entries,
        "clean": report.clean,
        "faults": list(report.faults),
    }


async def _carriers(gateway: Gateway, _: Arguments) -> Json:
    return {"carriers": gateway.parts.carriers()}


async def _carrier(gateway: Gateway, arguments: Arguments) -> Json:
    """One carrier, with what its driver can be asked."""
    name = arguments.text("carrier")
    found = next((each for each in gateway.parts.carriers() if each["name"] == name), None)
    if found is None:
        raise NotFound(f"There is no carrier {name!r}.")
    commands = gateway.parts.commands
    offered = [] if commands is None else commands.offered(name)
    return {**found, "commands": [asdict(each) for each in offered]}


async def _ask(gateway: Gateway, arguments: Arguments) -> Json:
    if gateway.parts.commands is None:
        raise Conflict(_NOT_RUNNING)
    carrier, command = arguments.text("carrier"), arguments.text("command")
    told = await gateway.parts.commands.ask(carrier, command, arguments.texts("arguments"))
    return {"carrier": carrier, "command": command, "answer": told}


def _gate(gate: Gate) -> Operation:
    async def set_gate(gateway: Gateway, arguments: Arguments) -> Json:
        if gateway.parts.scheduler is None:
            raise Conflict(_NOT_RUNNING)
        carrier = arguments.text("carrier")
        await gateway.parts.scheduler.ask(SetGate(carrier, gate))
        return {"carriers": [c for c in gateway.parts.carriers() if c["name"] == carrier]}

    return set_gate


async def _statistics(gateway: Gateway, _: Arguments) -> Json:
    return gateway.parts.statistics()


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
