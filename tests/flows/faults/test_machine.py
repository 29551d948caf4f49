"""The machine around the service: its clock, its threads, its memory and its descriptors."""

from __future__ import annotations

import errno
import os
import resource
import socket
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from bad_machine import Call
from patience import HANG_S, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

HOUR_S = 3600


@pytest.fixture
def wrong_clock(stand):
    yield stand.machine.set_clock
    stand.machine.set_clock(0)


def test_the_clock_is_an_hour_ahead_and_back_again(stand, wrong_clock):
    """Both ways, since one is the way back of the other."""
    with stand.trial("clock_set_ahead") as trial:
        trial.send_quietly()
        wrong_clock(HOUR_S)
        for _ in range(3):
            trial.send()
        trial.saw_alert()
        trial.wait_whole()
    with stand.trial("clock_set_back") as trial:
        wrong_clock(0)
        for _ in range(3):
            trial.send()
        trial.saw_log("clock.set_back", "by_s")
        trial.saw_doctor("clock")
        trial.saw_alert()
        trial.wait_whole()


def tasks(service) -> int:
    return len(os.listdir(f"/proc/{service.process.popen.pid}/task"))


def test_there_are_no_more_threads(stand):
    with stand.trial("no_threads") as trial:
        trial.send_quietly()
        # Those that are idle are kept for ten seconds, and would do.
        fewest = 3  # the loop's, the journal's, the one that watches the loop
        until(lambda: tasks(stand.service) <= fewest, "idle threads have ended")
        with stand.machine.failing(Call.THREAD, errno.EAGAIN):
            for _ in range(3):
                trial.send()
            trial.saw_command("audit")
            trial.saw_log("machine.lacks", "what")
            trial.saw_log("requests.not_logged", "reason")
            trial.saw_doctor("request log")
        trial.wait_whole()


def test_memory_runs_out_while_a_batch_is_written(stand):
    with stand.trial("no_memory") as trial:
        trial.send_quietly()
        # At one step or another: what comes of it differs.
        for after in (0, 1, 2, 3, 5, 10, 30):
            with stand.machine.failing(Call.MEMORY, errno.ENOMEM, after=after):
                trial.send()
                trial.send()
        with stand.machine.failing(Call.MEMORY, errno.ENOMEM):
            trial.send()
            trial.saw_not_ready()
        trial.wait_whole()
        trial.saw_log("storage.recovered", "was")


@contextmanager
def open_files_max(pid: int, count: int):
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (count, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def test_there_are_no_more_descriptors(stand):
    service = stand.service
    with stand.trial("no_descriptors") as trial, ExitStack() as stack:
        trial.send_quietly()
        pid = service.process.popen.pid
        used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        with open_files_max(pid, used):
            for _ in range(3):
                trial.send()
            for _ in range(5):  # each takes the place of one that is idle
                sock = socket.create_connection(stand.address, HANG_S)
                stack.enter_context(closing(sock))
                sock.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
                assert sock.recv(100).startswith(b"HTTP/1.1 200 ")
            for _ in range(3):
                trial.send()
            trial.saw_log("connections.no_descriptors", "reason")
        trial.wait_whole()
