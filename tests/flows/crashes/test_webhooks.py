"""``kill -9`` while webhooks are on their way: each event arrives, and the log tells how often."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import trio
from standardwebhooks import Webhook

from patience import until_true

pytestmark = [pytest.mark.slow, pytest.mark.long]

KILLS = 12
TYPES = ["sms.sent", "sms.delivered", "sms.failed"]


class Receiver(ThreadingHTTPServer):
    """A customer's server: notes each event that it could verify, then takes its time to answer."""

    daemon_threads = True

    def __init__(self, rng: random.Random) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.arrived: Counter[str] = Counter()
        self.bodies: dict[str, set[bytes]] = {}
        self.secret = ""
        self._rng = rng
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def note(self, event_id: str, body: bytes) -> float:
        """Count an arrival; how long its answer takes, in seconds."""
        with self._lock:
            self.arrived[event_id] += 1
            self.bodies.setdefault(event_id, set()).add(body)
            return self._rng.uniform(0, 0.02)

    def handle_error(self, request, client_address) -> None:
        """Nothing: the caller was killed while we answered."""


class Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        event = Webhook(self.server.secret).verify(body, headers)  # raises: no answer, not counted
        assert event["id"] == headers["webhook-id"]
        time.sleep(self.server.note(event["id"], body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving(rng: random.Random) -> Iterator[Receiver]:
    with Receiver(rng) as receiver:
        thread = threading.Thread(target=receiver.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            receiver.shutdown()
            thread.join()


async def test_each_event_arrives_and_the_log_tells_how_often(premises, start_load, until):
    rng = random.Random(7)
    simulator = premises.simulator("--receipt-delay-s", "0.02")
    service = premises.running(
        simulator,
        more="[webhooks]\nallow_insecure = true\n",
        carrier='on_uncertain_message = { action = "fail", after_s = 1 }',
    )
    account = service.organization("100000")
    with receiving(rng) as receiver:
        made = make_endpoint(service, account, receiver.url)
        receiver.secret, endpoint = made["secret"], made["endpoint"]["id"]
        gone = make_endpoint(service, account, "http://127.0.0.1:9/nobody")["endpoint"]["id"]
        for number in range(KILLS):
            load = start_load(service, account, f"round {number}")
            before = receiver.arrived.total()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(load.run)
                await load.wait_answers(rng.randint(1, 30))
                enough = before + rng.randint(1, 40)
                await until_true(lambda: receiver.arrived.total() >= enough)  # noqa: B023
                await trio.sleep(rng.uniform(0, 0.03))
                service.process.signal(signal.SIGKILL)
            service.process.wait_exit()
            service.restart()
        service.wait_settled()
        owed = "SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = ? AND state = 'pending'"
        until(lambda: service.rows(owed, endpoint) == [(0,)], "everything is delivered")
    check(service, receiver, endpoint)
    waits = service.rows(
        "SELECT DISTINCT state FROM webhook_deliveries WHERE endpoint_id = ?", gone
    )
    assert waits == [("pending",)]
    service.assert_books_agree()
    service.assert_no_bug_logged()


def make_endpoint(service, account, url: str) -> dict:
    return service.perform(
        "webhook.create", organization_id=account.organization_id, url=url, types=TYPES
    )


def check(service, receiver: Receiver, endpoint: str) -> None:
    events = {event.id: event.body for event in service.events()}
    told = Counter(json.loads(body)["type"] for body in events.values())
    ends = Counter(dict(service.rows("SELECT status, count(*) FROM messages GROUP BY status")))
    assert told["sms.sent"] == told["sms.delivered"] == ends["delivered"]
    assert told["sms.failed"] == ends["failed"]
    rows = service.rows(
        "SELECT d.event_id, d.state, d.attempts, count(a.n), count(a.ended_at)"
        " FROM webhook_deliveries d LEFT JOIN webhook_attempts a ON a.delivery = d.seq"
        " WHERE d.endpoint_id = ? GROUP BY d.seq",
        endpoint,
    )
    assert {row[0] for row in rows} == set(events) == set(receiver.arrived)
    cut_short = 0
    for event_id, state, attempts, logged, ended in rows:
        assert state == "delivered"
        assert receiver.bodies[event_id] == {events[event_id].encode()}
        assert 1 <= receiver.arrived[event_id] <= attempts == logged
        # An attempt without an end was cut short by a kill, and nothing else cut any.
        assert logged - ended <= KILLS
        cut_short += logged - ended
    assert cut_short > 0
    again = sum(count - 1 for count in receiver.arrived.values())
    assert again <= cut_short
    print(f"{len(rows)} events, {KILLS} kills, {cut_short} attempts cut short, {again} came again")
