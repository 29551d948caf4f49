"""``risala serve`` where nobody reads what it prints any more: a closed window, a pipe's other end
that is gone."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from contextlib import suppress

import httpx2
import pytest

from forked_processes import server
from patience import HANG_S, until

pytestmark = pytest.mark.slow
RUNS = re.compile(rb"Risala is running at (\S+)")


class Demo:
    """A demo over descriptors of its own, which are its alone from then on."""

    def __init__(self, place, streams, begin=None):
        self.data = place / "data"
        command = ["serve", "--demo", "--port", "0", "--data", str(self.data)]
        environ = {**os.environ, "PYTHONUNBUFFERED": "1", "RISALA_LOG__LEVEL": "debug"}
        if begin is None:
            ends = dict.fromkeys(("stdin", "stdout", "stderr"))
            self.process = server().start_on(streams, command, place, environ, ends)
            return
        ends = dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))
        command = [sys.executable, "-m", "risala", *command]
        self.process = subprocess.Popen(command, cwd=place, env=environ, preexec_fn=begin, **ends)
        for each in {*streams}:
            os.close(each)

    def wait_running(self, reader):
        """Read on until the demo's file is there: a pipe that is full would hold it up."""
        told, file = b"", self.data / "demo.json"
        while not (RUNS.search(told) and file.exists()):
            told += os.read(reader, 65_536)
        self.demo = json.loads(file.read_text())

    def send(self):
        headers = {"x-api-key": self.demo["secret_key"]}
        body = {"to": "+22236123456", "body": "Bonjour"}
        url = f"{self.demo['base_url']}/api/sms"
        return httpx2.post(url, json=body, headers=headers, trust_env=False, timeout=HANG_S)

    def serves_on(self):
        """It takes messages, and stops in order."""
        for _ in range(3):
            assert self.send().status_code == 200
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(HANG_S) == 0

    def end(self):
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()


def test_a_closed_window_stops_it_in_order(tmp_path):
    master, slave = pty.openpty()

    def begin():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    demo = Demo(tmp_path, (slave, slave, slave), begin)
    try:
        demo.wait_running(master)
        until(lambda: demo.send().status_code == 200, "a message is accepted")
        os.close(master)  # the kernel tells it: SIGHUP
        assert demo.process.wait(HANG_S) == 0
        assert not (demo.data / "control.sock").exists(), "it has put everything away"
        assert not (demo.data / "risala.db-wal").exists()
    finally:
        demo.end()


def test_it_serves_on_where_nobody_reads_its_log(tmp_path):
    (reader, log), (screen_reader, screen) = os.pipe(), os.pipe()
    demo = Demo(tmp_path, (os.open(os.devnull, os.O_RDONLY), screen, log))
    try:
        demo.wait_running(screen_reader)
        os.close(reader)
        os.close(screen_reader)
        demo.serves_on()
    finally:
        demo.end()


def test_it_serves_on_where_its_logs_disk_is_full(tmp_path):
    null, full, again = (os.open(path, os.O_RDWR) for path in ("/dev/null", *["/dev/full"] * 2))
    demo = Demo(tmp_path, (null, full, again))
    try:
        file = demo.data / "demo.json"
        until(file.exists, "it runs")
        demo.demo = json.loads(file.read_text())
        demo.serves_on()
    finally:
        demo.end()
