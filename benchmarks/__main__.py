"""``make bench``: one interleaved run, printed as ratios with the goals beside them.

Numbers of one run only compare with each other: machines are noisy, so each thing is measured
several times in turn with the yardstick, and medians are taken.
"""

from __future__ import annotations

import argparse
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import processes, smpp, webhooks

CONFIG = """
[service]
default_sender = "BENCH"
[storage]
data_dir = "{data}"
[http]
port = {port}
[log]
level = "warning"
"""
CARRIER = """
[[carriers]]
name = "sim"
driver = "smpp"
rate_per_s = 100000
window_max = 100
[carriers.smpp]
host = "127.0.0.1"
port = {smsc}
system_id = "bench"
password = "bench"
window_max = 100
"""


@dataclass
class Measured:
    """One line of the report."""

    name: str
    goal: str
    per_s: list[float] = field(default_factory=list)
    p99_ms: list[float] = field(default_factory=list)


@dataclass
class Service:
    """A running Risala with a funded organization."""

    data: Path
    port: int
    key: str
    pid: int


def start_service(stack: ExitStack, smsc: int | None = None) -> Service:
    data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="risala-bench-")))
    port = processes.free_port()
    config = data / "risala.toml"
    text = CONFIG.format(data=data, port=port)
    config.write_text(text + (CARRIER.format(smsc=smsc) if smsc else ""), encoding="utf-8")
    organization = processes.risala(data, "org", "create", "Bench")["id"]
    processes.risala(data, "topup", organization, "99999999")
    key = processes.risala(data, "key", "create", "--org", organization)["value"]
    running = stack.enter_context(
        processes.process("-m", "risala", "serve", "--config", str(config), port=port)
    )
    return Service(data, port, key, running.pid)


def idle(pid: int) -> tuple[float, float]:
    """(resident MiB, share of a core) of a service that nobody asks anything."""
    time.sleep(2)
    before = processes.cpu_s(pid)
    time.sleep(5)
    return processes.rss_mib(pid), (processes.cpu_s(pid) - before) / 5


def jobs(bare: int, plain: Service, seconds: float) -> list[tuple[Measured, Callable[[], dict]]]:
    """What is measured in turn, the yardstick first and again in the middle."""

    def load(port: int, connections: int, batch: int = 0) -> Callable[[], dict]:
        path = "/api/sms/batch" if batch else "/api/sms"
        return lambda: processes.load(
            port=port,
            path=path,
            key=plain.key,
            connections=connections,
            batch=batch,
            seconds=seconds,
        )

    return [
        (Measured("bare endpoint, 64 connections", "1 (the yardstick)"), load(bare, 64)),
        (Measured("bare endpoint, 1 connection", "-"), load(bare, 1)),
        (Measured("durable accept, 64 connections", ">= 2 x bare at 64"), load(plain.port, 64)),
        (Measured("durable accept, 16 connections", "-"), load(plain.port, 16)),
        (Measured("durable accept, 1 connection", ">= 0.6 x bare at 1"), load(plain.port, 1)),
        (Measured("batch of 100, messages", ">= 40 x bare at 64"), load(plain.port, 4, 100)),
    ]


def delivered(seconds: float) -> tuple[dict, float, int]:
    """Accept under load while a carrier takes everything: accepted, delivered, left behind."""
    with ExitStack() as stack:
        smsc = processes.free_port()
        arguments = ("-m", "risala", "simulate", "smsc", "--port", str(smsc), "--json")
        simulator = (*arguments, "--receipt-delay-s", "0.1")
        stack.enter_context(processes.process(*simulator, port=smsc))
        service = start_service(stack, smsc)
        started = time.perf_counter()
        result = processes.load(
            port=service.port, path="/api/sms", key=service.key, connections=16, seconds=seconds
        )
        database = sqlite3.connect(f"file:{service.data}/risala.db?mode=ro", uri=True)
        count = "SELECT count(*) FROM messages WHERE status {}"
        (backlog,) = database.execute(count.format("IN ('pending', 'processing')")).fetchone()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            (left,) = database.execute(count.format("<> 'delivered'")).fetchone()
            if not left:
                break
            time.sleep(0.05)
        elapsed = time.perf_counter() - started
        (total,) = database.execute("SELECT count(*) FROM messages").fetchone()
        database.close()
        return result, total / elapsed, backlog


def report(console: Console, measured: list[Measured]) -> None:
    bare = statistics.median(measured[0].per_s)
    bare_one = statistics.median(measured[1].per_s)
    table = Table(title="In one interleaved run, medians")
    for column in ("what", "per second", "x bare", "p99 ms", "goal"):
        table.add_column(column, justify="left" if column in ("what", "goal") else "right")
    for each in measured:
        rate = statistics.median(each.per_s)
        base = bare_one if each.name.endswith("1 connection") else bare
        p99 = statistics.median(each.p99_ms)
        table.add_row(each.name, f"{rate:,.0f}", f"{rate / base:.2f}", f"{p99:.1f}", each.goal)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    console = Console()
    console.print(
        f"{platform.machine()}, {platform.platform()}, Python {platform.python_version()},"
        f" SQLite {sqlite3.sqlite_version}"
    )
    with ExitStack() as stack, Progress(console=console, transient=True) as progress:
        bare = processes.free_port()
        stack.enter_context(processes.process("-m", "benchmarks.bare", str(bare), port=bare))
        plain = start_service(stack)
        idle_mib, idle_cpu = idle(plain.pid)
        todo = jobs(bare, plain, options.seconds)
        task = progress.add_task("measuring", total=options.rounds * len(todo))
        for _ in range(options.rounds):
            for line, run in todo:
                result = run()
                if result["refused"]:
                    raise SystemExit(f"{line.name}: {result['refused']} requests were refused")
                line.per_s.append(result["per_s"])
                line.p99_ms.append(result["p99_ms"])
                progress.advance(task)
    report(console, [line for line, _ in todo])
    accepted, delivered_per_s, backlog = delivered(options.seconds * 3)
    console.print(
        f"delivered over SMPP while accepting: {delivered_per_s / accepted['per_s']:.2f} of the"
        f" accepted rate ({accepted['per_s']:,.0f}/s), {backlog} under way when the load ended"
        " (goal: 1, no backlog)"
    )
    console.print(f"idle: {idle_mib:.0f} MiB (goal <= 70), {idle_cpu:.1%} of a core (goal: 0)")
    webhooks.report(console, options.rounds)
    smpp.report(console)


if __name__ == "__main__":
    main()
