"""Files of several sizes, measured in turn: what a message costs must not grow with the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.scale import clone
from benchmarks.stand import ONE, TEXT, TO, Data, Stand, batch_of, new_data, start_smsc
from benchmarks.trees import Tree

_TEMPLATES = 10_000
_GET = 200
_TOLERANCE = 1.15
"""Of a cost at one size over the cost at the smallest: what noise may make of nothing."""

_PAGE_BYTES = 4096
"""SQLite's usual; pages that it still has in its cache are not read."""

COSTS = ("accept", "batch", "get", "drain")


def name_of(cost: str, size: int) -> str:
    return f"{cost} at {size:,}"


def database_of(data: Data) -> Path:
    return data.path / "risala.db"


def old_file(stack: ExitStack, tree: Tree, messages: int, done: Callable[[int], None]) -> Data:
    """A file in which so many messages were delivered; nobody serves it yet."""
    data = new_data(stack, tree)
    before = clone.counts(database_of(data))
    templates = min(messages, _TEMPLATES)
    with ExitStack() as filling:
        smsc = start_smsc(filling)
        data.configure(smsc.port)
        data.serve(filling)
        data.fill(templates)
        smsc.wait_receipts(templates)
    clone.multiply(database_of(data), before, templates, messages, done)
    return data


def scenario(size: int, smallest: int, done: Callable[[int], None]) -> Scenario:
    """All costs at one size; the file is made when it is opened."""

    def line(cost: str) -> Line:
        base = name_of(cost, smallest)
        goals = () if size == smallest else (Goal(_TOLERANCE, base, most=True),)
        return Line(name_of(cost, size), "µs a message", goals)

    pages = Line(name_of("pages", size), "read a message")
    lines = (*map(line, COSTS), pages, Line(name_of("file", size), "bytes a message"))
    return Scenario(f"{size:,} old messages", lines, lambda s, t, k: _open(s, t, size, done))


def _open(stand: Stand, tree: Tree, size: int, done: Callable[[int], None]) -> Round:
    data = old_file(stand.stack, tree, size, done)
    smsc_port = processes.free_port()
    data.configure(smsc_port)
    bytes_each = database_of(data).stat().st_size / size

    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            service = data.serve(stack)
            found = _loads(data, stand.seconds)
            smsc = start_smsc(stack, port=smsc_port)
            counts = smsc.wait_receipts(int(found.pop("queued")))
            drained_s = counts.last_receipt - counts.first
            read = processes.read_bytes(service.pid) / counts.receipts
        found["drain"] = 1e6 * drained_s / counts.receipts
        found["pages"] = read / _PAGE_BYTES
        costs = {name_of(cost, size): value for cost, value in found.items()}
        return {**costs, name_of("file", size): bytes_each}

    return measure


def _loads(data: Data, seconds: float) -> dict[str, float]:
    """Microseconds a message, and how many are queued by it."""
    single = data.post("/api/sms", [ONE], connections=16, seconds=seconds)
    batch = data.post("/api/sms/batch", [batch_of(100)], connections=4, seconds=seconds)
    body = {"messages": [{"to": TO, "body": TEXT}] * _GET}
    made = processes.post_once(data.port, "/api/sms/batch", data.headers, body)["results"]
    asked = [json.dumps({"messageId": each["messageId"]}) for each in made]
    get = data.post("/api/sms/get", asked, connections=16, seconds=seconds)
    queued = single["per_s"] * single["elapsed_s"] + 100 * batch["per_s"] * batch["elapsed_s"]
    return {
        "accept": 1e6 / single["per_s"],
        "batch": 1e4 / batch["per_s"],
        "get": 1e6 / get["per_s"],
        "queued": round(queued) + _GET,
    }
