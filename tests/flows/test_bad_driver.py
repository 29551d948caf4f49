"""Drivers with bugs, as plugins in a folder: what becomes of the service, and what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PLUGIN = '''
import pathlib
import time

import trio
from pydantic import BaseModel

from risala.plugins.contract import (
    Accepted, Capabilities, DriverFactory, Health, HealthState
)
from risala.plugins.hookspecs import hookimpl


class Settings(BaseModel):
    release: str


class Stubborn:
    """Holds the loop up for as long as a file is not there."""

    capabilities = Capabilities(
        alphanumeric_sender=True, receipts=False, inbound=False, query=False, validity=False,
        window_max=1,
    )

    def __init__(self, carrier, settings):
        self.release = pathlib.Path(settings.release)

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        context.health(Health(HealthState.UP, "Up."))
        await trio.sleep_forever()

    async def submit(self, segment):
        while not self.release.exists():
            time.sleep(0.05)
        return Accepted("1")

    async def query(self, carrier_id, *, sender):
        return None


@hookimpl
def risala_register_drivers(register):
    register(DriverFactory("stubborn", Settings, Stubborn, "Holds the loop up."))
'''


def test_a_driver_that_blocks_the_loop_is_named_with_its_stack(premises, until, tmp_path):
    folder, release = tmp_path / "plugins", tmp_path / "release"
    folder.mkdir()
    (folder / "stubborn.py").write_text(PLUGIN)
    config = tmp_path / "risala-stubborn.toml"
    config.write_text(
        f'[plugins]\nfolder = "{folder}"\n[[carriers]]\nname = "mule"\ndriver = "stubborn"\n'
        f'[carriers.stubborn]\nrelease = "{release}"\n'
    )
    service = premises.service("--config", str(config))
    service.start()
    service.wait_ready()
    account = service.organization()
    service.send(account, body="hello")

    def told(event: str) -> list[dict]:
        lines = [json.loads(line) for line in service.process.errors if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    until(lambda: told("loop.blocked"), "the log names it while it happens", 30)
    (first, *_) = told("loop.blocked")
    assert first["carriers"] == ["mule"]
    assert "Stubborn.submit" in first["stack"]
    Path(release).touch()
    until(lambda: told("loop.free"), "it is over", 30)
    checks = json.loads(service.command("doctor", "--json").stdout)["checks"]
    (loop,) = [check for check in checks if check["name"] == "loop"]
    assert loop["state"] == "warn"
    assert "driver of mule" in loop["text"]
    assert "stubborn.py" in loop["text"]
    assert service.stop() == 0


TALKER = '''
import gc
import sys

import trio
from pydantic import BaseModel

from risala.plugins.contract import Capabilities, DriverFactory, Health, HealthState, Uncertain
from risala.plugins.hookspecs import hookimpl


class Settings(BaseModel):
    pass


class Forgotten:
    def __init__(self, text):
        self.text = text

    def __del__(self):
        raise ValueError("left behind " + self.text)


class Talker:
    """Whatever it does fails, and says what the message says."""

    capabilities = Capabilities(
        alphanumeric_sender=True, receipts=False, inbound=False, query=False, validity=False,
        window_max=1,
    )

    def __init__(self, carrier, settings):
        self.texts = []
        self.came = trio.Event()

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        context.health(Health(HealthState.UP, "Up."))
        await self.came.wait()
        self.came = trio.Event()
        raise ExceptionGroup("all of " + self.texts[-1], [OSError(5, self.texts[-1])])

    async def submit(self, segment):
        self.texts.append(segment.text)
        Forgotten(segment.text)
        gc.collect()
        self.came.set()
        raise KeyError(segment, segment.text)

    async def query(self, carrier_id, *, sender):
        return None


@hookimpl
def risala_register_drivers(register):
    register(DriverFactory("talker", Settings, Talker, "Says too much."))
'''


@pytest.mark.parametrize("format_", ["json", "console"])
def test_what_a_drivers_bug_says_of_a_message_is_in_no_log(premises, until, tmp_path, format_):
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "talker.py").write_text(TALKER)
    config = tmp_path / "risala-talker.toml"
    config.write_text(
        f'[plugins]\nfolder = "{folder}"\n[log]\nlevel = "debug"\nformat = "{format_}"\n'
        '[[carriers]]\nname = "parrot"\ndriver = "talker"\n'
    )
    service = premises.service("--config", str(config))
    service.start()
    service.wait_ready()
    service.send(service.organization(), body="geheim 271828")
    errors = service.process.errors
    for word in ("driver.submit_failed", "crashed", "KeyError", "ValueError", "Input/output error"):
        until(lambda word=word: any(word in line for line in errors), f"{word} is logged", 30)
    assert service.stop() == 0
    everything = "\n".join([*service.process.errors, *service.process.lines])
    assert "talker.py" in everything
    assert "geheim" not in everything
    assert "271828" not in everything
