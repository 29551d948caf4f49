"""A thousand strangers at the addresses of carriers, while customers send and another phone
works."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.processes import Absent
from benchmarks.stand import ONE, Data, Stand, new_data
from benchmarks.strangers import totals
from benchmarks.trees import Tree

CONNECTIONS: Final = 1000
EVERY_S: Final = 1.0
"""Between two calls of one of them."""
FLOODS: Final = 10
"""Of them, who call again at once."""
TOKEN: Final = "private0token0of0the0bench"
MESSAGE: Final = "sms_1.1.1.000000000000"
STORES: Final = ("inbound", "held_receipts", "unmatched_receipts", "audit_log")
"""Tables that a call of a carrier may write to."""
REFUSED: Final = frozenset({"401", "404", "503", "closed"})
"""What strangers may be answered."""

_SENDING: Final = "accept 16, phones and no strangers"
_BESIDE: Final = "accept 16, strangers at carriers"
_CALLING: Final = "a phone's call"
_CALLING_BESIDE: Final = "a phone's call, strangers at carriers"
_ANSWERED: Final = "strangers' calls answered"
_STORED: Final = "rows that strangers stored"
_LOGGED: Final = "log lines of strangers a minute"

SETTINGS: Final = """
[[carriers]]
name = "one"
driver = "phone"
prefixes = ["+22246"]
[carriers.phone]
token_env = "BENCH_PHONE_TOKEN"
[[carriers]]
name = "other"
driver = "phone"
prefixes = ["+22247"]
[carriers.phone]
token_env = "BENCH_PHONE_TOKEN"
[[carriers]]
name = "third"
driver = "phone"
receives_only = true
[carriers.phone]
token_env = "BENCH_PHONE_TOKEN"
[[carriers]]
name = "aggregator"
driver = "http"
receives_only = true
[carriers.http]
url = "http://127.0.0.1:9"
[carriers.http.send]
path = "/"
fields = { to = "{to}", text = "{text}" }
[carriers.http.answer]
id = "/id"
[carriers.http.receipt]
id = "id"
word = "status"
words = { Success = "DELIVERED" }
[carriers.http.inbound]
sender = "/from"
to = "/to"
text = "/text"
id = "/id"
"""


@dataclass
class Crowd:
    """Strangers in a process of their own, with what they were answered once they have gone."""

    running: subprocess.Popen[str]
    answers: dict[str, int] = field(default_factory=dict)
    """By kind and status."""

    def leave(self) -> None:
        """
        Raises:
            SystemExit: one of them was answered as nobody may be who is not proved.
        """
        told, _ = self.running.communicate()
        self.answers = json.loads(told)
        if odd := totals(self.answers).keys() - REFUSED:
            raise SystemExit(f"strangers were answered {sorted(odd)}: {told.strip()}")


@contextmanager
def strangers(job: dict[str, object], tree: Tree) -> Iterator[Crowd]:
    """Strangers, all of whom are there and have called, as long as the block lasts."""
    command = [tree.python, "-m", "benchmarks.strangers"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    running = subprocess.Popen(command, text=True, env=tree.environment(), **pipes)
    try:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps(job) + "\n")
        running.stdin.flush()
        if not running.stdout.readline():
            raise SystemExit("the strangers did not come")
        crowd = Crowd(running)
        yield crowd
        crowd.leave()
    finally:
        processes.stop(running)


def registered(port: int, carrier: str) -> str:
    """What a phone calls with that registers at a carrier."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    path = f"/carriers/{carrier}/mobile/v1/device"
    told = processes.post_once(port, path, headers, {"name": "bench"}, status=201)
    return str(told["token"])


def _rows(data: Data) -> int:
    with closing(sqlite3.connect(f"file:{data.path / 'risala.db'}?mode=ro", uri=True)) as database:
        counts = (database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in STORES)
        return int(sum(counts))


def _lines(log: Path) -> int:
    """Lines but for the alert of numbers that no carrier serves, which the sending raises."""
    return sum(b"numbers_unserved" not in line for line in log.read_bytes().splitlines())


@dataclass
class _House:
    """A service with two phones and an aggregator, its customers and one of its phones."""

    data: Data
    log: Path
    token: str
    seconds: float

    def work(self) -> tuple[float, float]:
        """Messages accepted a second, and milliseconds of a call of the phone, at work together."""
        with ThreadPoolExecutor() as threads:
            phone = threads.submit(
                processes.load,
                flow="same",
                method="GET",
                path="/carriers/other/mobile/v1/message",
                headers={"authorization": f"Bearer {self.token}"},
                port=self.data.port,
                connections=1,
                seconds=self.seconds,
            )
            found = self.data.post("/api/sms", [ONE], connections=16, seconds=self.seconds)
            return found["per_s"], phone.result()["p50_ms"]


def _opened(stand: Stand, tree: Tree, stack: ExitStack) -> _House:
    if not (tree.src / "risala/drivers/phone").is_dir():
        raise Absent(f"{tree.label} has no driver for phones")
    data = new_data(stack, tree)
    data.configure(more=SETTINGS)
    log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "log"
    output = stack.enter_context(log.open("w"))
    data.serve(stack, output=output, BENCH_PHONE_TOKEN=TOKEN)
    return _House(data, log, registered(data.port, "other"), stand.seconds)


def _measured(stand: Stand, tree: Tree, stack: ExitStack) -> Round:
    house = _opened(stand, tree, stack)
    carriers = {"phone": "one", "aggregator": "aggregator"}
    job: dict[str, object] = {
        "port": house.data.port,
        "connections": CONNECTIONS,
        "every_s": EVERY_S,
        "floods": FLOODS,
        "carriers": {**carriers, "token": house.token, "message": MESSAGE},
    }

    def measure() -> dict[str, float]:
        sending, calling = house.work()
        rows, lines, began_s = _rows(house.data), _lines(house.log), time.monotonic()
        with strangers(job, tree) as crowd:
            beside, calling_beside = house.work()
        took_s = time.monotonic() - began_s
        more_lines = _lines(house.log) - lines
        return {
            _SENDING: sending,
            _BESIDE: beside,
            _CALLING: calling,
            _CALLING_BESIDE: calling_beside,
            _ANSWERED: sum(crowd.answers.values()) / took_s,
            _STORED: _rows(house.data) - rows,
            # A line a minute is one line of a measurement that is shorter.
            _LOGGED: more_lines / max(1.0, took_s / 60),
        }

    return measure


SCENARIOS = (
    Scenario(
        "strangers",
        (
            Line(_SENDING, "/s"),
            Line(_BESIDE, "/s", (Goal(0.5, _SENDING),)),
            Line(_CALLING, "ms"),
            Line(_CALLING_BESIDE, "ms", (Goal(3, _CALLING, most=True),)),
            Line(_ANSWERED, "/s"),
            Line(_STORED, "rows", (Goal(0, most=True),)),
            Line(_LOGGED, "lines", (Goal(1, most=True),)),
        ),
        _measured,
    ),
)
