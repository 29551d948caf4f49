"""A long queue: how soon a killed service is there again, and sends, beside one without any."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Final

from benchmarks import processes
from benchmarks.scale import clone
from benchmarks.stand import BATCH_MAX, Data, new_data, start_smsc
from benchmarks.trees import HERE

TEMPLATES: Final = 2000
"""That the service itself queued; the others are their copies (``benchmarks/scale/clone.py``)."""
_NOBODY: Final = 1
"""A port at which nobody listens: TCP's multiplexer, which no system runs any more."""
_LOOK_S: Final = 0.02
_SENT: Final = 500
"""So many receipts say that sending is under way, and not only begun."""


@dataclass(frozen=True)
class Restart:
    ready_s: float
    """From the start of the process until ``/readyz`` is 200."""
    first_s: float
    """Until the carrier has the first segment."""
    memory_mib: float
    """When five hundred have been delivered."""


def restarted(messages: int, tell: Callable[[str], None]) -> tuple[Restart, Restart]:
    """Without a queue but for what must be sent to be seen, and with so many messages in it."""
    tell(f"{TEMPLATES:,} messages are queued, and the service killed …")
    with ExitStack() as stack:
        short = _measured(_queued(stack, TEMPLATES, tell))
    with ExitStack() as stack:
        long = _measured(_queued(stack, messages, tell))
    return short, long


def _queued(stack: ExitStack, messages: int, tell: Callable[[str], None]) -> Data:
    data = new_data(stack, HERE)
    database = data.path / "risala.db"
    before = clone.counts(database)
    # The same carrier as later, which is not there yet: who comes back to other carriers than
    # before sorts the queue anew first, which is no part of a restart.
    data.configure(_NOBODY)
    with ExitStack() as running:
        service = data.serve(running)
        data.fill(max(BATCH_MAX, min(messages, TEMPLATES)))
        service.kill()
        service.wait()
    if messages > TEMPLATES:

        def done(so_far: int) -> None:
            if so_far % 200_000 == 0:
                tell(f"{so_far:,} messages in the queue")

        clone.multiply(database, before, TEMPLATES, messages, done)
    return data


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with closing(connection):
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False


def _measured(data: Data) -> Restart:
    with ExitStack() as stack:
        smsc = start_smsc(stack)
        data.configure(smsc.port)
        began_s = time.monotonic()
        service = data.serve(stack)
        ready_s = first_s = 0.0
        while not (ready_s and first_s):
            ready_s = ready_s or (_is_ready(data.port) and time.monotonic() - began_s)
            first_s = first_s or (smsc.counts().submits and time.monotonic() - began_s)
            time.sleep(_LOOK_S)
        smsc.wait_receipts(_SENT)
        memory_mib = processes.rss_mib(service.pid)
        service.kill()
    return Restart(ready_s, first_s, memory_mib)
