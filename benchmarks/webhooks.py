"""Deliveries of webhooks: to ten endpoints that take 5 ms each, beside the same client in a bare
loop; and to a hundred, one of which never answers and one takes ten seconds: what the rest lose.

The engine runs in this process, the endpoints in another.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import structlog
import trio

from benchmarks import processes
from risala.config.model import Settings, StorageSection, WebhooksSection
from risala.engine.journal.webhooks import outbox
from risala.engine.model.records.senders import Sender
from risala.engine.rules.webhooks.types import WebhookCall
from risala.engine.rules.webhooks.url import AddressRules
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.http.outbound.client import OutboundClient, open_outbound

ORGANIZATIONS = 5
ENDPOINTS_EACH = 20
EVENTS_EACH = 30
"""Of each organization in one measurement: 30 x 98 deliveries that count."""
USUAL_EACH = 2
"""Endpoints of each organization that take 5 ms."""
USUAL_EVENTS_EACH = 100
TYPE = "sender.approved"
_BAD = {(0, 0): "never", (1, 0): "slow"}
_HEADERS = {"content-type": "application/json", "webhook-signature": "v1," + "x" * 44}
_BODY = json.dumps({"type": TYPE, "data": {"name": "x" * 300}}).encode()
_LEFT = """
SELECT EXISTS (SELECT 1 FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
WHERE d.state = 'pending' AND w.description = 'sound')
"""
"""Not their count: that would take a part of what is measured."""


@dataclass
class Bench:
    engine: Engine
    client: OutboundClient
    organizations: list[str]
    sound: int = 0
    """Endpoints that answer."""
    bad: list[str] = field(default_factory=list)

    async def perform(self, operation: str, /, **arguments: object) -> dict:
        return await self.engine.gateway.perform(operation, arguments)

    async def measure(self, *, with_bad: bool = False, events_each: int = EVENTS_EACH) -> float:
        """Deliveries a second to the endpoints that are sound."""
        operation = "webhook.enable" if with_bad else "webhook.disable"
        for endpoint in self.bad:
            await self.perform(operation, endpoint_id=endpoint)
        started = time.perf_counter()
        for _ in range(events_each):
            await self._happen()
        reader = self.engine.gateway.services.repositories._store.reader
        while reader.execute(_LEFT).fetchone()[0]:  # noqa: ASYNC110 -- a table is watched
            await trio.sleep(0.02)
        return events_each * self.sound / (time.perf_counter() - started)

    async def measure_client(self, port: int, width: int) -> float:
        """Calls a second by the same client without an engine, as many at once as it makes."""
        calls = self.sound * USUAL_EVENTS_EACH
        left = iter(range(calls))

        async def call() -> None:
            for number in left:
                url = f"http://127.0.0.1:{port}/usual/{number % self.sound}"
                await self.client.post(WebhookCall(url, _HEADERS, _BODY))

        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            for _ in range(width * self.sound):
                nursery.start_soon(call)
        return calls / (time.perf_counter() - started)

    async def _happen(self) -> None:
        """One event of each organization."""
        parts = self.engine.gateway.services
        stamp = parts.recorder.stamp()
        senders = [
            Sender(parts.ids.new("snd"), each, "Acme", "approved", True, None, "", None, 0, 0)
            for each in self.organizations
        ]

        def unit(conn) -> None:  # noqa: ANN001 -- a connection
            for sender in senders:
                outbox.sender_event(conn, sender, stamp)

        await parts.recorder.journal.commit(unit)


async def _open(stack: AsyncExitStack, port: int, each: int, bad: dict, usual: str) -> Bench:
    """
    Args:
        each: endpoints of each organization.
        bad: the paths of those that are not sound, by organization and place.
        usual: the path of the others.
    """
    data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="risala-bench-")))
    settings = Settings(
        storage=StorageSection(data_dir=data), webhooks=WebhooksSection(allow_insecure=True)
    )
    rules, calls_max = AddressRules(allow_insecure=True), settings.webhooks.attempts_max
    client = await stack.enter_async_context(open_outbound(rules, calls_max))
    engine = await stack.enter_async_context(
        open_engine(settings, (), {}, outside=Connections(client))
    )
    bench = Bench(engine, client, [])
    for number in range(ORGANIZATIONS):
        made = await bench.perform("org.create", name=f"Bench {number}")
        bench.organizations.append(made["id"])
        for place in range(each):
            path = bad.get((number, place), usual)
            endpoint = await bench.perform(
                "webhook.create",
                organization_id=made["id"],
                url=f"http://127.0.0.1:{port}/{path}/{number}/{place}",
                types=[TYPE],
                description="bad" if path in bad.values() else "sound",
            )
            if path in bad.values():
                bench.bad.append(endpoint["endpoint"]["id"])
            else:
                bench.sound += 1
    return bench


async def _usual(stack: AsyncExitStack, port: int) -> dict[str, float]:
    bench = await _open(stack, port, USUAL_EACH, {}, "usual")
    await bench.measure()  # once, so that all is loaded and connected
    return {
        "webhooks to 10 of 5 ms": await bench.measure(events_each=USUAL_EVENTS_EACH),
        "the same client in a bare loop": await bench.measure_client(
            port, WebhooksSection().attempts_per_endpoint_max
        ),
    }


async def _hundred(stack: AsyncExitStack, port: int) -> dict[str, float]:
    bench = await _open(stack, port, ENDPOINTS_EACH, _BAD, "sound")
    await bench.measure(with_bad=True)  # both have shown by now what they are
    return {
        "webhooks to 98": await bench.measure(with_bad=False),
        "the same beside a dead and a slow one": await bench.measure(with_bad=True),
    }


PARTS = {"usual": _usual, "hundred": _hundred}


async def _run(part: str) -> dict[str, float]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    async with AsyncExitStack() as stack:
        port = processes.free_port()
        stack.enter_context(processes.process("-m", "benchmarks.receiver", str(port), port=port))
        return await PARTS[part](stack, port)


if __name__ == "__main__":
    print(json.dumps(trio.run(_run, sys.argv[1])))
