"""Delivering over SMPP: a queue that is drained, and one that is filled meanwhile."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.stand import ONE, Data, Stand, new_data, start_smsc
from benchmarks.trees import Tree

_FLOOD = 100_000
"""Of one organization, in front of the other's codes."""
_FLOOD_RATE_PER_S = 50
_CODES = 60
"""At most 100 codes an hour are an organization's by default."""
_CODE_PREFIX = "2224"
"""The flood goes to other numbers."""


def _size_bytes(data: Data) -> int:
    """What the database holds, without free pages; whoever wrote it has ended."""
    path = Path(data.path) / "risala.db"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        size, count, free = (
            database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "page_count", "freelist_count")
        )
    return int(size * (count - free))


def _drain(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            data = new_data(stack, tree)
            empty = _size_bytes(data)
            messages = max(1000, stand.messages // 1000 * 1000)
            port = processes.free_port()
            data.configure(port)  # nobody listens there yet: what comes is queued for this carrier
            running = data.serve(stack)
            data.fill(messages)
            before_s = processes.cpu_s(running.pid)
            counts = start_smsc(stack, port=port).wait_receipts(messages)
            cpu_s = processes.cpu_s(running.pid) - before_s
            processes.stop(running)
            return {
                "drain": messages / (counts.last_receipt - counts.first),
                "drain, CPU a message": 1e6 * cpu_s / messages,
                "bytes a delivered message": (_size_bytes(data) - empty) / messages,
            }

    return measure


def _while_accepting(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            data = new_data(stack, tree)
            smsc = start_smsc(stack)
            data.configure(smsc.port)
            data.serve(stack)
            started = time.monotonic()
            seconds = 2 * stand.seconds
            found = data.post("/api/sms", [ONE], connections=16, seconds=seconds)
            accepted = round(found["per_s"] * found["elapsed_s"])
            counts = smsc.wait_receipts(accepted)
            delivered_per_s = accepted / (counts.last_receipt - started)
            return {
                "accepted while delivering": found["per_s"],
                "delivered while accepting": delivered_per_s,
            }

    return measure


def _code_beside_a_flood(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            data = new_data(stack, tree)
            other = data.risala("org", "create", "Other")
            data.risala("topup", other["id"], "9999")
            key = data.risala("key", "create", "--org", other["id"])["value"]
            smsc = start_smsc(stack, _CODE_PREFIX)
            data.configure(smsc.port, _FLOOD_RATE_PER_S)
            data.serve(stack)
            data.fill(_FLOOD)
            asked = {}
            for number in range(_CODES):
                to = f"+{_CODE_PREFIX}{6000000 + number}"
                asked[to[1:]] = time.monotonic()
                processes.post_once(data.port, "/api/verify/send", {"x-api-key": key}, {"to": to})
                time.sleep(0.1)
            until = time.monotonic() + 60
            while len(smsc.counts().watched) < _CODES and time.monotonic() < until:
                time.sleep(0.1)
            seen = smsc.counts().watched
            waited = sorted(1000 * (seen.get(to, until) - at) for to, at in asked.items())
            return {
                "code beside a flood": waited[len(waited) // 2],
                "code beside a flood p99": waited[int(len(waited) * 0.99)],
            }

    return measure


def _simulator(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            port = processes.free_port()
            arguments = ("-m", "risala", "simulate", "smsc", "--port", str(port), "--json")
            options = ("--receipt-delay-s", "0")
            stack.enter_context(processes.process(*arguments, *options, port=port, tree=tree))
            job = json.dumps({"port": port, "seconds": stand.seconds})
            found = processes.module("benchmarks.sender", job)
            return {"risala simulate smsc": found["receipts_per_s"]}

    return measure


_SERVER = """
[smpp_server]
enabled = true
bind = ["127.0.0.1:{port}"]
deliver_window_max = 100
"""


def _smpp_server(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    """The same client at the server for customers: each submit is on the disk, and is delivered."""

    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            data = new_data(stack, tree)
            made = data.risala("credential", "create", "smpp")
            smsc, port = start_smsc(stack), processes.free_port()
            data.configure(smsc.port, more=_SERVER.format(port=port))
            data.serve(stack)
            processes.wait_port(port)
            who = {"system_id": made["credential"]["username"], "password": made["password"]}
            job = json.dumps({"port": port, "seconds": stand.seconds, **who})
            return {"SMPP server": processes.module("benchmarks.sender", job)["receipts_per_s"]}

    return measure


_TICK_MS = 1000 / _FLOOD_RATE_PER_S

SCENARIOS = (
    Scenario(
        "drain",
        (
            Line("drain", "messages/s", (Goal(2, "Kannel drain"),), against="bare 64"),
            Line("drain, CPU a message", "µs"),
            Line("bytes a delivered message", "bytes", (Goal(450, most=True),)),
        ),
        _drain,
    ),
    Scenario(
        "delivered",
        (
            Line("accepted while delivering", "/s", (Goal(4, "bare 64"),)),
            Line(
                "delivered while accepting",
                "messages/s",
                (Goal(0.95, "accepted while delivering"),),
            ),
        ),
        _while_accepting,
    ),
    Scenario(
        "flood",
        (
            Line("code beside a flood", "ms", (Goal(2 * _TICK_MS, most=True),)),
            Line("code beside a flood p99", "ms", (Goal(250, most=True),)),
        ),
        _code_beside_a_flood,
    ),
    Scenario(
        "simulator",
        (Line("risala simulate smsc", "messages/s", (Goal(8, "bare 64"),)),),
        _simulator,
    ),
    Scenario(
        "SMPP server",
        (Line("SMPP server", "messages/s", (Goal(0.6, "risala simulate smsc"),)),),
        _smpp_server,
    ),
)
