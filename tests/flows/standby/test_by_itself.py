"""A standby that takes over by itself, and the old primary that follows it; as real processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from tests.flows.conftest import Premises, Service

from processes import Process, run

pytestmark = [pytest.mark.slow, pytest.mark.long]

MORE = """
[http]
port = 0
[standby]
directory = "{place}/shipped"
every_s = 0.1
lease_directory = "{place}/lease"
lease_s = 12
"""
AT_ONCE_S = 10.0
"""Less than the lease, and more than a start takes on a busy machine."""


class Pair:
    def __init__(self, premises: Premises) -> None:
        self.premises = premises
        for name in ("shipped", "lease"):
            (premises.path / name).mkdir()
        self.simulator = premises.simulator()
        more = MORE.format(place=premises.path)
        self.config = premises.config(self.simulator.port, more)
        self.one, self.other = (self._machine(name) for name in ("one", "other"))

    def _machine(self, name: str) -> Service:
        return self.premises.service("--config", str(self.config), data=name)

    def watch(self, machine: Service) -> Process:
        where = ("--config", str(self.config), "--data", str(machine.data))
        command = (sys.executable, "-m", "risala", "standby", "watch", "--take-over")
        machine.process = self.premises.process(*command, *where)
        return machine.process

    def serving(self, machine: Service) -> None:
        """Wait until its process is the service."""
        said = "Risala is running at "
        line = machine.process.wait_line(lambda line: line.startswith(said))
        machine.url = line.removeprefix(said)
        machine.wait_ready()

    def rejoin(self, machine: Service, *options: str) -> subprocess.CompletedProcess[str]:
        where = ("--config", str(self.config), "--data", str(machine.data))
        command = (sys.executable, "-m", "risala", "standby", "rejoin", *where, *options)
        return run(command, self.premises.path)


def test_an_orderly_stop_is_followed_at_once_and_the_old_primary_comes_back(premises):
    pair = Pair(premises)
    pair.one.start()
    pair.one.wait_ready()
    account = pair.one.organization("100000")
    refused = pair.rejoin(pair.one)
    assert refused.returncode == 1
    assert "runs here" in refused.stderr
    watch = pair.watch(pair.other)
    watch.wait_line(lambda line: line.startswith("Following "))
    assert pair.one.command("carriers", "pause", "mattel").returncode == 0
    waits = pair.one.send(account, body="goes on").json()["messageId"]

    began_s = time.monotonic()
    assert pair.one.stop() == 0
    pair.serving(pair.other)
    assert time.monotonic() - began_s < AT_ONCE_S
    assert pair.other.show(account, waits)["status"] == "pending"
    refused = pair.rejoin(pair.other)
    assert refused.returncode == 1

    # What has been overtaken does not follow before its own rest is seen to.
    pair.watch(pair.one)
    assert pair.one.process.wait_exit() == 1
    assert any("risala standby rejoin" in line for line in pair.one.process.errors)
    done = pair.rejoin(pair.one, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["rest"]["messages"], told["epoch"]) == (0, 2)
    pair.watch(pair.one).wait_line(lambda line: line.startswith("Following "))
    assert pair.other.stop() == 0
    pair.serving(pair.one)
    assert pair.one.show(account, waits)["status"] == "pending"
    pair.one.assert_books_agree()
