"""Looking at the service: the books, the carriers, the numbers."""

from __future__ import annotations

from typing import Final

import trio

from risala.engine.errors import Conflict
from risala.engine.gateway import Gateway
from risala.engine.journal import audit
from risala.engine.lane import Gate
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.scheduler import SetGate


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


def _gate(gate: Gate) -> Operation:
    async def set_gate(gateway: Gateway, arguments: Arguments) -> Json:
        if gateway.parts.scheduler is None:
            raise Conflict("The service is not running, so that no carrier is connected.")
        carrier = arguments.text("carrier")
        await gateway.parts.scheduler.ask(SetGate(carrier, gate))
        return {"carriers": [c for c in gateway.parts.carriers() if c["name"] == carrier]}

    return set_gate


async def _statistics(gateway: Gateway, _: Arguments) -> Json:
    return gateway.parts.statistics()


OPERATIONS: Final[dict[str, Operation]] = {
    "audit": _audit,
    "carriers": _carriers,
    "carriers.pause": _gate(Gate.PAUSED),
    "carriers.resume": _gate(Gate.OPEN),
    "carriers.drain": _gate(Gate.DRAINING),
    "statistics": _statistics,
}
