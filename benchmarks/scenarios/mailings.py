"""Mailings: how fast they send, and what reading a file of the most rows costs others."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks import control, processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.stand import ONE, Data, Stand, new_data, start_smsc
from benchmarks.trees import Tree

_ROWS_MAX = 100_000
"""Of one mailing."""
_ROWS_PER_MESSAGE = 10
"""So many rows for each message that is queued elsewhere: 100,000 unless told otherwise."""
_ROWS_BESIDE = 5000
"""Of a file that is read while messages are accepted: it makes room for them."""
_STEP = 6_180_339
"""From one number to the next among the ten million of a network; it has no divisor in common with
them, so that none occurs twice."""
_BATCH = 100
"""As the line *batch of 100* sends them, and as a mailing does."""
_TEXT = "Dear {{name}}, bring your card on Monday please. Room {{room}}."
_LOOK_S = 0.01
"""Between two looks at the memory of processes."""


def _rows(stand: Stand) -> int:
    return min(_ROWS_MAX, _ROWS_PER_MESSAGE * stand.messages)


def _people(count: int) -> list[tuple[str, str, str]]:
    """As lists are: their numbers are in no order."""
    return [
        (f"Person {n:06d}", f"+2223{n * _STEP % 10**7:07d}", f"{n % 90 + 10}") for n in range(count)
    ]


def _file(count: int) -> bytes:
    rows = ("name;phone;room", *(";".join(each) for each in _people(count)))
    return "\r\n".join(rows).encode()


def _batches(count: int) -> list[str]:
    """The same messages as a mailing makes of that file."""
    messages = [
        {"to": to, "body": _TEXT.replace("{{name}}", name).replace("{{room}}", room)}
        for name, to, room in _people(count)
    ]
    pieces = (messages[at : at + _BATCH] for at in range(0, count, _BATCH))
    return [json.dumps({"messages": piece}) for piece in pieces]


def _organization(data: Data) -> str:
    organization: str = data.risala("org", "list")["organizations"][0]["id"]
    return organization


def _sending(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        messages = max(_BATCH, stand.messages // _BATCH * _BATCH)
        with ExitStack() as stack:
            data = new_data(stack, tree)
            organization = _organization(data)
            smsc = start_smsc(stack)
            data.configure(smsc.port)
            data.serve(stack)
            bodies = _batches(messages)
            began_s = time.monotonic()
            data.post("/api/sms/batch", bodies, connections=4, requests=len(bodies))
            batch_s = smsc.wait_receipts(messages).last_receipt - began_s
            mailing = control.draft(data.path, organization, _file(messages), _TEXT)
            hours = {"from_hour": 0, "to_hour": 24}
            control.perform(data.path, "mailing.set", mailing_id=mailing, **hours)
            began_s = time.monotonic()
            control.perform(data.path, "mailing.start", mailing_id=mailing)
            mailing_s = smsc.wait_receipts(2 * messages).last_receipt - began_s
            return {_BY_BATCHES: messages / batch_s, _BY_MAILING: messages / mailing_s}

    return measure


def _beside(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)
    organization = _organization(data)
    content = _file(min(_ROWS_BESIDE, _rows(stand)))

    def measure() -> dict[str, float]:
        done = threading.Event()
        read = threading.Thread(target=_read_one, args=(data, organization, content, done))
        read.start()
        accepted = elapsed_s = 0.0
        while not done.is_set():
            found = data.post("/api/sms", [ONE], connections=64, seconds=stand.seconds)
            accepted += found["per_s"] * found["elapsed_s"]
            elapsed_s += found["elapsed_s"]
        read.join()
        return {_BESIDE: accepted / elapsed_s}

    return measure


def _read_one(data: Data, organization: str, content: bytes, done: threading.Event) -> None:
    """Have a file read and checked, and the mailing of it deleted."""
    try:
        mailing = control.draft(data.path, organization, content, _TEXT)
        control.perform(data.path, "mailing.delete", mailing_id=mailing)
    finally:
        done.set()


def _reading(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    content = _file(_rows(stand))

    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            data = new_data(stack, tree)
            organization = _organization(data)
            pid = data.serve(stack).pid
            control.draft(data.path, organization, _file(10), _TEXT)  # all is loaded by now
            before = processes.rss_mib(pid)
            with _watched(pid) as most:
                began_s = time.monotonic()
                control.draft(data.path, organization, content, _TEXT)
                took_s = time.monotonic() - began_s
            grown, child = most["service"] - before, most["child"]
            return {_READ: took_s, _GROWN: grown, _CHILD: child, _MEMORY: grown + child}

    return measure


@contextmanager
def _watched(pid: int) -> Iterator[dict[str, float]]:
    """The most memory of a process and of each child of its, in MiB, until the block ends."""
    most = {"service": 0.0, "child": 0.0}
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_S):
            most["service"] = max(most["service"], processes.rss_mib(pid))
            for child in _children(pid):
                most["child"] = max(most["child"], _peak_mib(child))

    looker = threading.Thread(target=look)
    looker.start()
    try:
        yield most
    finally:
        over.set()
        looker.join()


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += map(int, (task / "children").read_text("ascii").split())
        except OSError:  # the thread has ended
            continue
    return found


def _peak_mib(pid: int) -> float:
    try:
        return processes.peak_mib(pid)
    except OSError:  # it has ended
        return 0.0


_BY_BATCHES = "batches of 100, delivered"
_BY_MAILING = "mailing, delivered"
_BESIDE = "accept 64, a mailing's file is read"
_READ = "mailing of 100,000, read and checked"
_GROWN = "mailing of 100,000, memory of the service"
_CHILD = "mailing of 100,000, memory of the reader"
_MEMORY = "mailing of 100,000, memory in all"

SCENARIOS = (
    Scenario(
        "mailing",
        (
            Line(_BY_BATCHES, "messages/s"),
            Line(_BY_MAILING, "messages/s", (Goal(0.8, _BY_BATCHES),)),
        ),
        _sending,
    ),
    Scenario("mailing beside", (Line(_BESIDE, "/s", (Goal(0.95, "accept 64"),)),), _beside),
    Scenario(
        "mailing read",
        (
            Line(_READ, "s", (Goal(20, most=True),)),
            Line(_GROWN, "MiB"),
            Line(_CHILD, "MiB"),
            Line(_MEMORY, "MiB", (Goal(60, most=True),)),
        ),
        _reading,
    ),
)
