"""What an ask of an actor costs that has nothing else to do: ``python -m benchmarks.actors``."""

from __future__ import annotations

import json
import time

import trio

from risala.engine.actors.actor import Decider
from risala.engine.actors.supervisor import Supervisor

_ASKS = 20_000


class _Echo(Decider[int]):
    def decide(self, message: int) -> int:
        return message


async def _run() -> dict[str, float]:
    async with trio.open_nursery() as nursery:
        supervisor = Supervisor()
        await nursery.start(supervisor.run)
        ref = await supervisor.start("echo", _Echo, mailbox_max=8)
        await ref.ask(0)
        started = time.perf_counter()
        for number in range(_ASKS):
            await ref.ask(number)
        elapsed = time.perf_counter() - started
        nursery.cancel_scope.cancel()
    return {"ask of an idle actor": 1e6 * elapsed / _ASKS}


if __name__ == "__main__":
    print(json.dumps(trio.run(_run)))
