"""A hundred endpoints, one of which never answers and one takes ten seconds: what the rest lose.

The engine runs in this process, the endpoints in another; measured in turn with and without the
bad two.
"""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import structlog
import trio

from benchmarks import processes
from risala.config.model import Settings, StorageSection, WebhooksSection
from risala.engine.journal.webhooks import outbox
from risala.engine.model.commands import Sender
from risala.engine.rules.webhooks.url import AddressRules
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.http.outbound.client import open_outbound

ORGANIZATIONS = 5
ENDPOINTS_EACH = 20
EVENTS_EACH = 30
"""Of each organization in one measurement: 30 x 98 deliveries that count."""
TYPE = "sender.approved"
_LEFT = """
SELECT count(*) FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
WHERE d.state = 'pending' AND w.description = 'sound'
"""


@dataclass
class Bench:
    engine: Engine
    organizations: list[str]
    bad: list[str]

    async def perform(self, operation: str, /, **arguments: object) -> dict:
        return await self.engine.gateway.perform(operation, arguments)

    async def measure(self, *, with_bad: bool) -> float:
        """Deliveries a second to the endpoints that are sound."""
        operation = "webhook.enable" if with_bad else "webhook.disable"
        for endpoint in self.bad:
            await self.perform(operation, endpoint_id=endpoint)
        started = time.perf_counter()
        for _ in range(EVENTS_EACH):
            await self._happen()
        reader = self.engine.gateway.services.repositories._store.reader
        while reader.execute(_LEFT).fetchone()[0]:  # noqa: ASYNC110 -- a table is watched
            await trio.sleep(0.02)
        sound = ORGANIZATIONS * ENDPOINTS_EACH - len(self.bad)
        return EVENTS_EACH * sound / (time.perf_counter() - started)

    async def _happen(self) -> None:
        """One event of each organization."""
        parts = self.engine.gateway.services
        stamp = parts.recorder.stamp()
        senders = [
            Sender(parts.ids.new("snd"), each, "Acme", "approved", True, "", None, 0, 0)
            for each in self.organizations
        ]

        def unit(conn) -> None:  # noqa: ANN001 -- a connection
            for sender in senders:
                outbox.sender_event(conn, sender, stamp)

        await parts.recorder.journal.commit(unit)


async def _open(stack: AsyncExitStack, port: int) -> Bench:
    data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="risala-bench-")))
    settings = Settings(
        storage=StorageSection(data_dir=data), webhooks=WebhooksSection(allow_insecure=True)
    )
    rules, calls_max = AddressRules(allow_insecure=True), settings.webhooks.attempts_max
    client = await stack.enter_async_context(open_outbound(rules, calls_max))
    engine = await stack.enter_async_context(
        open_engine(settings, (), {}, outside=Connections(client))
    )
    bench = Bench(engine, [], [])
    for number in range(ORGANIZATIONS):
        made = await bench.perform("org.create", name=f"Bench {number}")
        bench.organizations.append(made["id"])
        for place in range(ENDPOINTS_EACH):
            path = {(0, 0): "never", (1, 0): "slow"}.get((number, place), "sound")
            endpoint = await bench.perform(
                "webhook.create",
                organization_id=made["id"],
                url=f"http://127.0.0.1:{port}/{path}/{number}/{place}",
                types=[TYPE],
                description=path,
            )
            if path != "sound":
                bench.bad.append(endpoint["endpoint"]["id"])
    return bench


async def _run() -> dict[str, float]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    async with AsyncExitStack() as stack:
        port = processes.free_port()
        stack.enter_context(processes.process("-m", "benchmarks.receiver", str(port), port=port))
        bench = await _open(stack, port)
        await bench.measure(with_bad=True)  # both have shown by now what they are
        return {
            "webhooks to 98": await bench.measure(with_bad=False),
            "the same beside a dead and a slow one": await bench.measure(with_bad=True),
        }


if __name__ == "__main__":
    print(json.dumps(trio.run(_run)))
