"""A queue of a million: what it takes of memory, and how soon a killed service accepts again."""

from __future__ import annotations

import http.client
import time
from contextlib import ExitStack

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.stand import ONE, Data, Stand, new_data
from benchmarks.trees import Tree

_AGAIN_S = 0.01
_IDLE_S = 3.0
"""After a load what it left behind is settled by then."""


def _first_accept_s(data: Data, started: float) -> float:
    """Until a message is accepted, from the start of the process on."""
    headers = {**data.headers, "content-type": "application/json"}
    while time.monotonic() - started < processes.START_S:
        connection = http.client.HTTPConnection("127.0.0.1", data.port, timeout=10)
        try:
            connection.request("POST", "/api/sms", ONE, headers)
            if connection.getresponse().status == 200:
                return time.monotonic() - started
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(_AGAIN_S)
    raise SystemExit("no message was accepted within a minute of the start")


def scenario(messages: int) -> Scenario:
    def start(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
        data = new_data(stand.stack, tree)
        with ExitStack() as stack:
            idle = data.serve(stack)
            time.sleep(_IDLE_S)
            idle_mib = processes.rss_mib(idle.pid)
        with ExitStack() as stack:
            running = data.serve(stack)
            data.fill(messages)
            running.kill()

        def measure() -> dict[str, float]:
            with ExitStack() as stack:
                started = time.monotonic()
                service = data.serve(stack)
                took_s = _first_accept_s(data, started)
                time.sleep(_IDLE_S)
                more_mib = processes.rss_mib(service.pid) - idle_mib
                service.kill()
            return {
                f"memory for {messages:,} queued": more_mib,
                "first accept after a kill": took_s,
            }

        return measure

    lines = (
        Line(f"memory for {messages:,} queued", "MiB", (Goal(20, most=True),)),
        Line("first accept after a kill", "s", (Goal(1.2, most=True),)),
    )
    return Scenario(f"{messages:,} queued", lines, start)
