"""Settings of plugins within the engine: a table for each, with the plugin's own table in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from risala.config.kinds import Name, Section


class PluginTable(Section):
    """A table for a plugin's work. The plugin's own table is in it, kept raw."""

    model_config = ConfigDict(extra="allow")

    @property
    def word(self) -> str:
        """The name of the plugin's thing, which is also that of its own table."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        """The raw table of the plugin's own."""
        return dict((self.__pydantic_extra__ or {}).get(self.word, {}))

    @model_validator(mode="after")
    def _its_own_table_alone(self) -> PluginTable:
        for key, value in (self.__pydantic_extra__ or {}).items():
            if key != self.word:
                raise ValueError(f"{key} is not read: no setting, nor the table of {self.word}")
            if not isinstance(value, dict):
                raise ValueError(f"{key} must be a table")
        return self


class SinkTable(PluginTable):
    """An event sink: a plugin that gets every event, at least once and in order. Its own settings
    are in a table of its name within this one."""

    sink: Name
    """The plugin that serves it: ``jsonl`` or an installed one."""
    begin: Literal["now", "start"] = "now"
    """The event with which the sink begins the first time: ``now``, the next event; ``start``, the
    oldest event that is kept. Later it goes on where it stopped."""
    batch_max: Annotated[int, Field(ge=1, le=1000)] = 200
    """The most events that it gets at once."""
    deadline_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """How long it may take for them; after that they come again later."""

    @property
    def word(self) -> str:
        return self.sink


class PolicyTable(PluginTable):
    """A message policy: a plugin that may refuse or change a message before it is accepted. All
    policies are asked, in the order of this file. Its own settings are in a table of its name
    within this one."""

    policy: Name
    """The plugin that serves it: ``words`` or an installed one."""
    codes: bool = False
    """The policy is asked about one-time codes too. It can refuse them, and does not see their
    texts."""
    deadline_s: Annotated[float, Field(gt=0, le=60)] = 1.0
    """How long it may take for a request; beyond it the request is answered 503."""

    @property
    def word(self) -> str:
        return self.policy


class NamedTables(Section):
    """Tables by names that the operator chooses."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _are_tables(cls, values: object) -> object:
        if isinstance(values, Mapping):
            for name, value in values.items():
                if not isinstance(value, Mapping | PluginTable):
                    raise ValueError(f"{name} must be a table")
        return values


class SinksSection(NamedTables):
    """Event sinks, a table each."""

    # Pydantic wants the type of the tables here, without None, though its own base allows it.
    __pydantic_extra__: dict[Name, SinkTable]  # type: ignore[mutable-override]

    @property
    def by_name(self) -> dict[str, SinkTable]:
        """The table of each sink."""
        return dict(self.__pydantic_extra__ or {})


class PoliciesSection(NamedTables):
    """Message policies, a table each."""

    # As above.
    __pydantic_extra__: dict[Name, PolicyTable]  # type: ignore[mutable-override]

    @property
    def by_name(self) -> dict[str, PolicyTable]:
        """The table of each policy, in the order of the file."""
        return dict(self.__pydantic_extra__ or {})
