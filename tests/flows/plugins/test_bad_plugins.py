"""Bad plugins from files, in a service that runs: each is named, and the rest goes on."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow

PLUGINS = {
    "raises": "1 / 0",
    "hangs": "import threading\nthreading.Event().wait()",
    "other": 'risala_contract = "9.0"',
    "mine": '''
import pathlib
import time

from pydantic import BaseModel, ConfigDict

from risala.plugins.hookspecs import hookimpl
from risala.plugins.policy import MessagePolicyFactory, PolicyPass
from risala.plugins.sink import EventSinkFactory

risala_contract = "1.1"


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    release: pathlib.Path = pathlib.Path("never")


class Raising:
    def __init__(self, name, settings):
        pass

    async def take(self, events):
        raise LookupError(events[0].body)


class Blocking:
    """Holds the loop up for as long as a file is not there."""

    def __init__(self, name, settings):
        self.release = settings.release

    async def take(self, events):
        while not self.release.exists():
            time.sleep(0.05)


class Forgetful:
    def __init__(self, name, settings):
        pass

    async def judge(self, messages):
        return None if "forget" in messages[0].text else [PolicyPass()] * len(messages)


@hookimpl
def risala_register_event_sinks(register):
    register(EventSinkFactory("raising", Settings, Raising, "Raises."))
    register(EventSinkFactory("blocking", Settings, Blocking, "Holds the loop up."))


@hookimpl
def risala_register_message_policies(register):
    register(MessagePolicyFactory("forgetful", Settings, Forgetful, "Gives no verdict."))
''',
}
CONFIG = """
[plugins]
folder = "{folder}"
load_s = 2
[sinks.archive]
sink = "jsonl"
begin = "start"
[sinks.archive.jsonl]
folder = "{events}"
[sinks.bad]
sink = "raising"
[sinks.slow]
sink = "blocking"
[sinks.slow.blocking]
release = "{release}"
[policies.rules]
policy = "forgetful"
[[carriers]]
name = "loop"
driver = "loopback"
"""


@pytest.fixture
def service(premises, tmp_path):
    """Not started yet; its sink `slow` holds it up until the file `release` is there."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    for name, text in PLUGINS.items():
        (folder / f"{name}.py").write_text(text)
    config = tmp_path / "risala-plugins.toml"
    places = {name: tmp_path / name for name in ("events", "release")}
    config.write_text(CONFIG.format(folder=folder, **places))
    return premises.service("--config", str(config))


def test_each_is_named_and_the_rest_goes_on(service, until, tmp_path):
    service.start()
    service.wait_ready()
    account = service.organization()
    assert service.send(account, body="hello").status_code == 200

    def told(event: str) -> list[dict]:
        lines = [json.loads(line) for line in service.process.errors if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    until(lambda: told("loop.blocked"), "the log names the sink while it happens")
    assert told("loop.blocked")[0]["plugins"] == ["the event sink slow"]
    (tmp_path / "release").touch()
    until(lambda: told("loop.free"), "it is over")
    assert service.send(account, body="forget me").status_code == 503

    found = json.loads(service.command("plugins", "--json").stdout)
    assert found["running"]
    plugins = {each["name"]: each for each in found["plugins"]}
    assert {name: plugins[name]["state"] for name in PLUGINS} == {
        "raises": "set aside",
        "hangs": "set aside",
        "other": "set aside",
        "mine": "loaded",
    }
    assert plugins["raises"]["fault"] == "ZeroDivisionError: division by zero"
    assert "hangs.py:2" in plugins["hangs"]["fault"]
    assert plugins["other"]["fault"].startswith("it is made for the contract 9.0")
    health = {each["name"]: each for each in plugins["mine"]["health"]}
    assert health["bad"]["state"] == "failing"
    assert "LookupError" in health["bad"]["text"]
    assert "a verdict" in health["rules"]["text"]

    checks = json.loads(service.command("doctor", "--json").stdout)["checks"]
    texts = " ".join(check["text"] for check in checks)
    for words in ("the event sink slow", "The event sink bad accepts nothing", "The policy rules"):
        assert words in texts
    assert "hello" not in "".join(service.process.errors)
    assert service.stop() == 0


@pytest.mark.long
def test_each_event_reaches_a_sink_in_order_whatever_is_killed(service, until, tmp_path):
    (tmp_path / "release").touch()
    service.start()
    service.wait_ready()
    account = service.organization()
    path = tmp_path / "events" / "archive.jsonl"

    def written() -> list[str]:
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line)["id"] for line in lines if line.endswith("}")]

    for number in range(20):
        assert service.send(account, body=f"message {number}").status_code == 200
        if number in (5, 12):
            service.kill()
            service.restart()

    def is_level() -> bool:
        return len(written()) >= 20 and {*written()} == {each.id for each in service.events()}

    until(is_level, "all events are in the file")
    before = written()
    happened = [each.id for each in service.events()]
    assert list(dict.fromkeys(before)) == happened[: len(set(before))]
    assert service.stop() == 0
