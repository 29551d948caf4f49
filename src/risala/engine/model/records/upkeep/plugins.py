"""Plugins: what they bring, and how that does in the running service."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, SnakeCase


@dataclass(frozen=True, slots=True)
class PluginHealth:
    """How something that a plugin brought does in the running service."""

    kind: str
    """The key of its kind: ``event_sinks``."""
    word: str
    """The plugin's name for it: ``jsonl``."""
    name: str
    """What it is called here: ``archive``."""
    state: str
    text: str
    """What is wrong, or was the last time; empty: nothing."""

    @property
    def is_well(self) -> bool:
        return not self.text and self.state in ("up", "running")


Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginView(SnakeCase):
    """A plugin that was found, with the names of what it brings."""

    name: str
    source: str
    """``built in``, ``package NAME VERSION`` or the file's path."""
    version: str | None
    contract: str | None
    """For which contract it is made; None: it does not say."""
    state: str
    drivers: Names = ()
    channels: Names = ()
    mailers: Names = ()
    payment_methods: Names = ()
    event_sinks: Names = ()
    message_policies: Names = ()
    faces: Names = ()
    commands: Names = ()
    console_pages: Names = ()
    disabled: bool
    fault: str | None
    """Why it is set aside; None: it is not."""
    warnings: tuple[str, ...]
    """What in it will not work for ever."""
    health: tuple[PluginHealth, ...] | None
    """None: no service runs."""

    @property
    def names(self) -> Names:
        """The names of all that it brings."""
        return (
            *(
                *self.drivers,
                *self.channels,
                *self.mailers,
                *self.payment_methods,
                *self.event_sinks,
            ),
            *(*self.message_policies, *self.faces, *self.commands, *self.console_pages),
        )


@dataclass(frozen=True, slots=True)
class Contribution:
    name: str
    summary: str


Contributions = tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class UnusablePlugin:
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginsReport(SnakeCase):
    """The plugins, and all that they bring by its kind."""

    contract: str
    running: bool
    """Whether a service runs."""
    plugins: tuple[PluginView, ...]
    drivers: Contributions = ()
    channels: Contributions = ()
    mailers: Contributions = ()
    payment_methods: Contributions = ()
    event_sinks: Contributions = ()
    message_policies: Contributions = ()
    faces: Contributions = ()
    commands: Contributions = ()
    console_pages: Contributions = ()
    faults: tuple[UnusablePlugin, ...]


@dataclass(frozen=True, slots=True)
class PageFormNoted:
    page: Annotated[str, UNAUDITED]
    action: Annotated[str, UNAUDITED]


LIST: Final = Ask("plugins.list", PluginsReport)
ACT: Final = Ask("plugins.act", PageFormNoted)
