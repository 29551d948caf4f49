"""Kannel 1.4.5, the gateway in C that carriers and aggregators know best.

It runs here as its manual has it, with the file store, a window of 100 and receipts that are
fetched by HTTP. Its yes (202) means that bearerbox has the message in memory and has written it to
the store without a sync: a power cut loses what the kernel had not written yet.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from benchmarks.measure import Line, Round, Scenario
from benchmarks.processes import Absent
from benchmarks.stand import Smsc, Stand, start_smsc
from benchmarks.trees import Tree

PROMISE = "in memory and in a file that is not synced"
_BOXES = ("bearerbox", "smsbox")
_PATH = (
    "/cgi-bin/sendsms?username=bench&password=bench&to=%2B22236123456&from=BENCH"
    "&text=A+message+of+an+ordinary+length%2C+60+chars.&dlr-mask=1"
    "&dlr-url=http%3A%2F%2F127.0.0.1%3A{sink}%2Fdlr"
)
_CONFIG = """
group = core
admin-port = {admin}
smsbox-port = {box}
admin-password = bench
log-file = "{directory}/bearerbox.log"
log-level = 2
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
store-type = file
store-location = "{directory}/kannel.store"
dlr-storage = internal
sms-resend-freq = 1

group = smsc
smsc = smpp
smsc-id = sim
host = 127.0.0.1
port = {smsc}
transceiver-mode = true
smsc-username = "bench"
smsc-password = "bench"
system-type = "VMA"
max-pending-submits = 100
throughput = 0
reconnect-delay = 1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = {http}
log-file = "{directory}/smsbox.log"
log-level = 2
http-request-retry = 0

group = sendsms-user
username = bench
password = bench
max-messages = 3

group = sms-service
keyword = nop
text = "n"
"""


@dataclass(frozen=True, slots=True)
class Kannel:
    http: int
    smsc_port: int
    path: str

    def load(self, **job: object) -> dict:
        return processes.load(
            flow="same", method="GET", path=self.path, headers={}, port=self.http, **job
        )


def _binary(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        raise Absent("Kannel: sudo apt-get install kannel")
    return found


def start(stack: ExitStack, smsc_port: int) -> Kannel:
    """Both boxes, and somebody who takes the receipts.

    Raises:
        Absent: Kannel is not installed.
    """
    bearerbox, smsbox = map(_binary, _BOXES)
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kannel-bench-")))
    admin, box, http, sink = (processes.free_port() for _ in range(4))
    config = directory / "kannel.conf"
    text = _CONFIG.format(admin=admin, box=box, http=http, smsc=smsc_port, directory=directory)
    config.write_text(text, encoding="utf-8")
    stack.enter_context(processes.process("-m", "benchmarks.receiver", str(sink), port=sink))
    stack.enter_context(processes.program(bearerbox, "-v", "4", str(config), port=box))
    stack.enter_context(processes.program(smsbox, "-v", "4", str(config), port=http))
    time.sleep(1)  # smsbox has said hello to bearerbox by then; before that it answers 503
    return Kannel(http, smsc_port, _PATH.format(sink=sink))


def _accept(stand: Stand, _tree: Tree, _stack: ExitStack) -> Round:
    _binary("bearerbox")

    def measure() -> dict[str, float]:
        # Anew each round, with a carrier that takes the messages: its queue is in memory and
        # bounded, so that a queue that nobody drains is refused after a while.
        with ExitStack() as stack:
            smsc = start_smsc(stack)
            found = start(stack, smsc.port).load(connections=64, seconds=stand.seconds)
            return {"Kannel accept 64": found["per_s"], "Kannel accept 64 p99": found["p99_ms"]}

    return measure


def _drain(stand: Stand, _tree: Tree, _stack: ExitStack) -> Round:
    _binary("bearerbox")

    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            port = processes.free_port()
            kannel = start(stack, port)
            kannel.load(connections=4, requests=stand.messages)
            smsc: Smsc = start_smsc(stack, port=port)
            counts = smsc.wait_receipts(stand.messages)
            return {"Kannel drain": stand.messages / (counts.last_receipt - counts.first)}

    return measure


SCENARIOS = (
    Scenario(
        "Kannel",
        (Line("Kannel accept 64", "/s", against="bare 64"), Line("Kannel accept 64 p99", "ms")),
        _accept,
        of_tree=False,
    ),
    Scenario(
        "Kannel drain",
        (Line("Kannel drain", "messages/s", against="bare 64"),),
        _drain,
        of_tree=False,
    ),
)
