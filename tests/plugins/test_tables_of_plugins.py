"""Sinks and policies are built from their tables, pages without one; or every fault is told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, SecretStr
from structlog.testing import capture_logs

from risala.config.hooks import PolicyTable, SinkTable
from risala.plugins.hookspecs import hookimpl
from risala.plugins.manager import PluginManager
from risala.plugins.page import ConsolePageFactory
from risala.plugins.policy import MessagePolicyFactory
from risala.plugins.sink import EventSinkFactory
from risala.plugins.tables import PluginConfigError


class TableSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    url: str
    password: SecretStr = SecretStr("")


class Taker:
    def __init__(self, name: str, settings: TableSettings) -> None:
        if settings.url == "refused":
            raise ValueError("the address is refused")
        self.name, self.settings = name, settings

    async def take(self, events: Any) -> None: ...
    async def judge(self, messages: Any) -> Any: ...


class Drawer:
    async def show(self, service: Any) -> Any: ...


class Plugin:
    """Brings one of each, and some that are no good."""

    @hookimpl
    def risala_register_event_sinks(self, register: Any) -> None:
        register(EventSinkFactory("queue", TableSettings, Taker, "a queue"))
        register(EventSinkFactory("junk", TableSettings, lambda *_: 3, "nothing"))  # type: ignore[arg-type, return-value]

    @hookimpl
    def risala_register_message_policies(self, register: Any) -> None:
        register(MessagePolicyFactory("rules", TableSettings, Taker, "rules"))

    @hookimpl
    def risala_register_console_pages(self, register: Any) -> None:
        register(ConsolePageFactory("good", {"en": "Good"}, Drawer, "good"))
        register(ConsolePageFactory("mute", {"fr": "Muet"}, Drawer, "has no English"))
        register(ConsolePageFactory("broken", {"en": "B"}, lambda: [][0], "breaks"))  # type: ignore[arg-type, return-value]
        register(ConsolePageFactory("three", {"en": "3"}, lambda: 3, "is 3"))  # type: ignore[arg-type, return-value]


class Entry:
    """An entry point that needs no package."""

    dist = None
    name = "mine"

    def load(self) -> object:
        return Plugin()


@pytest.fixture
def manager() -> PluginManager:
    found = PluginManager()
    with capture_logs():
        found.load((), installed=[Entry()])  # type: ignore[list-item]
    assert found.faults == ()
    return found


def secrets(table: Any, *, where: str) -> dict[str, Any]:
    return {name.removesuffix("_env"): value for name, value in table.items()}


def build(manager: PluginManager, kind: str, word: str, **table: Any) -> Any:
    given = {kind: word, word: table}
    if kind == "sink":
        return manager.build_sink("mine", SinkTable.model_validate(given), secrets)
    return manager.build_policy("mine", PolicyTable.model_validate(given), secrets)


@pytest.mark.parametrize(("kind", "word"), [("sink", "queue"), ("policy", "rules")])
def test_one_is_built_with_its_name_settings_and_secrets(manager, kind, word):
    found = build(manager, kind, word, url="x", password_env="hidden")
    assert (found.name, found.settings.url) == ("mine", "x")
    assert found.settings.password.get_secret_value() == "hidden"


@pytest.mark.parametrize(
    ("kind", "word", "table", "told"),
    [
        ("sink", "none", {}, 'sinks.mine.sink: there is no event sink "none"; known: junk, queue'),
        ("sink", "queue", {"x": 1}, "sinks.mine.queue.url: field required"),
        ("sink", "queue", {"url": "refused"}, "sinks.mine: the event sink queue cannot be built"),
        ("sink", "junk", {"url": "x"}, "sinks.mine: the plugin mine built something that is no"),
        ("policy", "none", {}, 'policies.mine.policy: there is no message policy "none"; known: r'),
        ("policy", "rules", {}, "policies.mine.rules.url: field required"),
    ],
)
def test_every_fault_has_its_place(manager, kind, word, table, told):
    with pytest.raises(PluginConfigError) as caught:
        build(manager, kind, word, **table)
    first = caught.value.faults[0]
    assert f"{first.key}: {first.text}".startswith(told)


def test_a_page_that_cannot_be_built_is_a_fault_and_the_others_are_there(manager):
    with capture_logs() as logs:
        pages = manager.build_pages()
    assert list(pages) == ["good"]
    assert [each.reason for each in manager.faults] == [
        "its console page mute has no English title",
        "its console page broken cannot be built: IndexError: list index out of range",
        "its console page three is no page",
    ]
    assert {each["plugin"] for each in logs} == {"mine"}
