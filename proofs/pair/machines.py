"""The two machines with Risala, each kept running as systemd keeps ``risala-pair.service``."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.flows.conftest import Service

from bad_machine import BadMachine
from patience import HANG_S
from processes import Process, run
from proofs.pair.network import Network

ROOT: Final = Path(__file__).parents[2]
PORT: Final = 8000
AGAIN_S: Final = 0.3
"""Between two starts: systemd's two seconds are for people."""
SETTINGS: Final = """
[http]
host = "{address}"
port = {port}
[standby]
copy = "postgresql"
lease = "postgresql"
replicate = "{mode}"
every_s = 0.2
lease_s = 3
[standby.postgresql]
url_env = "PAIR_STANDBY_URL"
[[carriers]]
name = "mattel"
driver = "smpp"
prefixes = ["+2223"]
rate_per_s = 1000
window_max = 20
on_uncertain_message = {{ action = "fail", after_s = 1 }}
[carriers.smpp]
host = "{carrier}"
port = {carrier_port}
system_id = "{name}"
reconnect_first_s = 0.2
reconnect_max_s = 1
response_timeout_s = 5
user_message_reference = false
"""


class Machine:
    """One of the two; a thread keeps it running."""

    def __init__(
        self,
        network: Network,
        name: str,
        place: Path,
        library: Path,
        url: str,
        **settings: object,
    ) -> None:
        self.name, self._network = name, network
        self.folder = place / f"machine-{name}"
        self.folder.mkdir()
        self.data = self.folder / "data"
        self.config = self.folder / "risala.toml"
        self.address = network.address(name)
        given = {"address": self.address, "port": PORT, "name": name, **settings}
        self.config.write_text(SETTINGS.format(**given))
        self.bad = BadMachine(library, self.folder / "orders", self.data)
        self._environment = {
            **self.bad.environment,
            "PAIR_STANDBY_URL": url,
            "PYTHONPATH": str(ROOT / "src"),
            "COVERAGE_PROCESS_START": "",
        }
        self.process: Process | None = None
        self.taken: list[dict[str, Any]] = []
        """What it said of each takeover."""
        self.aside: list[dict[str, Any]] = []
        """What ``rejoin`` listed."""
        self._runs = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"machine-{name}", daemon=True)
        self._thread.start()

    # -- its life

    def go(self) -> None:
        """Keep it running from now on."""
        self._runs.set()

    def hold(self) -> None:
        """Do not start it again."""
        self._runs.clear()

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.signal(number)

    def take_away(self) -> None:
        """Its process is killed, and its disk is gone with all that was on it."""
        self.hold()
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait_exit()
        key = self.data / "server.key"
        kept = key.read_bytes() if key.exists() else None
        shutil.rmtree(self.data, ignore_errors=True)
        if kept is not None:
            self._put_key(kept)

    def _put_key(self, key: bytes) -> None:
        """Operators put it there: it is never shipped."""
        self.data.mkdir(mode=0o700, exist_ok=True)
        (self.data / "server.key").write_bytes(key)
        (self.data / "server.key").chmod(0o600)

    def share_key(self, other: Machine) -> None:
        other._put_key((self.data / "server.key").read_bytes())

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        where = ("--config", str(self.config), "--data", str(self.data))
        given = [sys.executable, "-m", "risala", *words, *where]
        return run(self._network.inside(self.name, given), self.folder, **self._environment)

    def _keep(self) -> None:
        while not self._over.is_set():
            if not self._runs.wait(0.1):
                continue
            self._rejoin()
            where = ("--config", str(self.config), "--data", str(self.data))
            given = [sys.executable, "-m", "risala", "standby", "watch", "--take-over", *where]
            self.process = Process(
                self._network.inside(self.name, given), self.folder, **self._environment
            )
            self.process.popen.wait()
            self._note()
            self._over.wait(AGAIN_S)

    def _rejoin(self) -> None:
        if not (self.data / "risala.db").exists():
            return
        done = self.command("standby", "rejoin", "--json")
        if done.returncode == 0:
            self.aside.append(json.loads(done.stdout))

    def _note(self) -> None:
        """Keep what its process has said, in a file for people."""
        process = self.process
        assert process is not None
        with open(self.folder / "log", "a") as file:
            for line in (*process.lines, *process.errors):
                file.write(f"{line}\n")
            file.write(f"-- ended: {process.popen.returncode}\n")

    # -- what it is

    @property
    def serves(self) -> bool:
        """Its process is the service, or was when it said its last word."""
        return self.is_running and self._said("Risala is running at ")

    @property
    def follows(self) -> bool:
        return self.is_running and not self.serves and self._said("Following PostgreSQL")

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.popen.poll() is None

    def _said(self, words: str) -> bool:
        return self.process is not None and any(e.startswith(words) for e in self.process.lines)

    def took_over(self, since: int) -> dict[str, Any] | None:
        """What its process said of a takeover, to a lease above ``since``."""
        lines = [] if self.process is None else [*self.process.errors]
        for line in lines:
            if "standby.took_over" in line:
                found: dict[str, Any] = json.loads(line)
                if found["epoch"] > since:
                    return found
        return None

    @property
    def position(self) -> tuple[str, int] | None:
        """How far its copy is."""
        with suppress(OSError, ValueError):
            told = json.loads((self.data / "standby/position.json").read_text())
            return told["generation"], told["number"]
        return None

    def service(self) -> Service:
        made = Service(self.data, ("--config", str(self.config)), [])
        made.url = f"http://{self.address}:{PORT}"
        return made

    def end(self) -> None:
        self._over.set()
        self._runs.clear()
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self._thread.join(HANG_S)
        self.bad.close()
