"""What the scenarios stand on: services of a tree with a funded organization, and the carrier."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks import carrier, processes
from benchmarks.processes import Absent
from benchmarks.trees import ROOT, Tree

TO = "+22236123456"
TEXT = "A message of an ordinary length, 60 chars."
ONE = json.dumps({"to": TO, "body": TEXT})
BATCH_MAX = 1000
"""Messages that one request may hold."""

_CONFIG = """
[service]
default_sender = "BENCH"
[storage]
data_dir = "{data}"
[http]
port = {port}
[log]
level = "warning"
"""
_CARRIER = """
[[carriers]]
name = "sim"
driver = "smpp"
prefixes = ["+222"]
rate_per_s = {rate_per_s}
window_max = 100
[carriers.smpp]
host = "127.0.0.1"
port = {port}
system_id = "bench"
password = "bench"
window_max = 100
reconnect_max_s = 1.0
"""


def batch_of(count: int) -> str:
    return f'{{"messages": [{", ".join([ONE] * count)}]}}'


@dataclass(frozen=True, slots=True)
class Data:
    """A data directory with a funded organization, which no service need be running on."""

    tree: Tree
    path: Path
    port: int
    key: str
    test_key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"x-api-key": self.key}

    def configure(
        self, smsc: int | None = None, rate_per_s: float = 100_000, more: str = ""
    ) -> None:
        """Write the settings: with the carrier at the port ``smsc``, and with ``more``."""
        text = _CONFIG.format(data=self.path, port=self.port) + more
        if smsc is not None:
            text += _CARRIER.format(port=smsc, rate_per_s=rate_per_s)
        (self.path / "risala.toml").write_text(text, encoding="utf-8")

    def serve(
        self, stack: ExitStack, output: IO[str] | None = None, **environment: str
    ) -> subprocess.Popen[str]:
        """Run the service until the stack is left, or until it is stopped before.

        Args:
            output: gets its log.
        """
        arguments = ("-m", "risala", "serve", "--config", str(self.path / "risala.toml"))
        running = processes.process(
            *arguments, port=self.port, tree=self.tree, output=output, **environment
        )
        return stack.enter_context(running)

    def risala(self, *arguments: str) -> dict:
        return processes.risala(self.path, *arguments, tree=self.tree)

    def post(self, path: str, bodies: list[str], **job: object) -> dict:
        """A load of POST requests; ``connections`` and ``seconds`` or ``requests``."""
        job = {"headers": self.headers, **job}
        return processes.load(
            flow="same", method="POST", path=path, bodies=bodies, port=self.port, **job
        )

    def wait_accepts(self) -> None:
        """Until a send is accepted."""
        headers = {"content-type": "application/json", **self.headers}
        processes.wait_accepts(self.port, "/api/sms", ONE, headers)

    def fill(self, messages: int) -> dict:
        """Queue so many, by the largest batches, over four connections."""
        requests = max(1, messages // BATCH_MAX)
        return self.post(
            "/api/sms/batch",
            [batch_of(min(messages, BATCH_MAX))],
            connections=min(4, requests),
            requests=requests,
        )


def new_data(stack: ExitStack, tree: Tree) -> Data:
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="risala-bench-")))
    made = processes.risala(path, "org", "create", "Bench", tree=tree)
    processes.risala(path, "topup", made["id"], "99999999", tree=tree)
    key = processes.risala(path, "key", "create", "--org", made["id"], tree=tree)["value"]
    test = processes.risala(path, "key", "create", "--org", made["id"], "--test", tree=tree)
    data = Data(tree, path, processes.free_port(), key, test["value"])
    data.configure()
    return data


@dataclass(frozen=True, slots=True)
class Smsc:
    """The carrier, in a process of its own."""

    port: int
    stats_port: int

    def counts(self) -> carrier.Counts:
        return carrier.counts_of(self.stats_port)

    def wait_receipts(
        self, count: int, patience_s: float = 300.0, still_s: float = 30.0
    ) -> carrier.Counts:
        """Until so many receipts were acknowledged.

        Raises:
            SystemExit: that takes longer than ``patience_s``, or none came for ``still_s``.
        """
        began_s = moved_s = time.monotonic()
        last = -1
        while (counts := self.counts()).receipts < count:
            now_s = time.monotonic()
            if counts.receipts > last:
                last, moved_s = counts.receipts, now_s
            if now_s > began_s + patience_s or now_s > moved_s + still_s:
                waited = f"in {now_s - began_s:.0f} s, the last {now_s - moved_s:.0f} s ago"
                raise SystemExit(f"{counts.receipts} of {count} delivered {waited}")
            time.sleep(0.1)
        return counts


def start_smsc(stack: ExitStack, secret_prefix: str = "", port: int | None = None) -> Smsc:
    smsc = Smsc(port or processes.free_port(), processes.free_port())
    arguments = ("-m", "benchmarks.carrier", str(smsc.port), str(smsc.stats_port), secret_prefix)
    stack.enter_context(processes.process(*arguments, port=smsc.stats_port))
    return smsc


@dataclass(slots=True)
class Stand:
    """What lasts for the whole run, started when it is first asked for."""

    stack: ExitStack
    seconds: float
    messages: int
    """That are queued where a queue is drained."""
    _kept: dict[Hashable, object]

    @classmethod
    def new(cls, stack: ExitStack, seconds: float, messages: int) -> Stand:
        return cls(stack, seconds, messages, {})

    def once(self, name: Hashable, make: Callable[[], object]) -> object:
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def bare(self) -> int:
        """The port of the bare endpoint."""
        return self.bare_process()[0]

    def bare_process(self) -> tuple[int, int]:
        """The port of the bare endpoint, and the number of its process."""

        def make() -> tuple[int, int]:
            port = processes.free_port()
            bare = processes.process("-m", "benchmarks.bare", str(port), port=port)
            return port, self.stack.enter_context(bare).pid

        found = self.once("bare", make)
        assert isinstance(found, tuple)
        return found

    def service(self, tree: Tree, slower_ms: int = 0, more: str = "") -> Data:
        """A service without a carrier: what it accepts stays queued. ``more`` are settings."""

        def make() -> Data:
            data = new_data(self.stack, tree)
            data.configure(more=more)
            slow = {}
            if slower_ms:
                slow = {"LD_PRELOAD": str(self.slow_sync()), "SLOW_SYNC_MS": str(slower_ms)}
            data.serve(self.stack, **slow)
            return data

        data = self.once(("service", tree, slower_ms, more), make)
        assert isinstance(data, Data)
        return data

    def slow_sync(self) -> Path:
        """The library that makes syncs slower.

        Raises:
            Absent: there is no C compiler.
        """

        def make() -> Path:
            compiler = shutil.which("cc")
            if compiler is None:
                raise Absent("a slower disk needs a C compiler: sudo apt-get install gcc libc6-dev")
            made = Path(self.stack.enter_context(tempfile.TemporaryDirectory())) / "slow_sync.so"
            source = ROOT / "benchmarks" / "slow_sync.c"
            command = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(made), "-ldl"]
            subprocess.run(command, check=True)
            return made

        library = self.once("slow_sync", make)
        assert isinstance(library, Path)
        return library
