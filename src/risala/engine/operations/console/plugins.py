"""The plugins of the running service, and the state of what they brought."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from risala.engine.kernel.arguments import Arguments, Json, NoArguments, Text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import NotFound
from risala.engine.model.records.upkeep import plugins
from risala.engine.model.records.upkeep.plugins import (
    PageFormNoted,
    PluginHealth,
    PluginsReport,
)
from risala.engine.rules.roles import OPERATORS, READERS
from risala.engine.services import Services
from risala.engine.upkeep.plugin_report import plugins_report
from risala.plugins.kinds import DRIVERS, EVENT_SINKS, MESSAGE_POLICIES

ACTION_CHARACTERS_MAX: Final = 100
"""The most characters of a form's word in the trail."""


def health_of(services: Services) -> Iterator[PluginHealth]:
    """The state of carriers, event sinks and message policies."""
    for each in services.delivery.carriers():
        text = "" if each.state == "up" else each.text
        yield PluginHealth(DRIVERS.key, each.driver, each.name, each.state, text)
    numbers = services.delivery.statistics()
    for each in numbers.get("sinks", ()):
        yield PluginHealth(
            EVENT_SINKS.key, each["sink"], each["name"], each["state"], _of_sink(each)
        )
    for each in numbers.get("policies", ()):
        text = each["last_error"] or ""
        yield PluginHealth(MESSAGE_POLICIES.key, each["policy"], each["name"], each["state"], text)


def _of_sink(sink: Json) -> str:
    parts = [sink["text"]]
    if sink["behind"]:
        parts.append(f"{sink['behind']} events behind, the oldest by {sink['behindS']} s.")
    if sink["missed"]:
        parts.append(f"{sink['missed']} events were deleted before it had them.")
    if not sink["text"] and sink["lastError"]:
        parts.append(f"The last error, at {sink['lastErrorAt']}: {sink['lastError']}")
    return " ".join(filter(None, parts))


class SendPageForm(Arguments):
    """Record that an operator sends a form of a plugin's page, before the plugin gets it."""

    page: Text
    action: Text


OPERATIONS: Final = Operations()


@OPERATIONS(plugins.LIST, roles=OPERATORS, operators=READERS)
async def _list(call: Call[NoArguments]) -> PluginsReport:
    birth = call.services.birth
    return plugins_report(birth.plugins, birth.plugin_faults, tuple(health_of(call.services)))


@OPERATIONS(plugins.ACT, roles=OPERATORS, changes=PageFormNoted)
async def _act(call: Call[SendPageForm]) -> PageFormNoted:
    given = call.given
    if given.page not in call.services.pages:
        raise NotFound(f"There is no page {given.page!r}.")
    # The entry leaves out the typed values: they may be secrets.
    said = {"action": given.action[:ACTION_CHARACTERS_MAX]}
    await call.note(call.audit(subject=given.page, said=said, always=True))
    return PageFormNoted(given.page, given.action)
