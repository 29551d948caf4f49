"""What one plugin brings: its hooks are called, and everything that they register is checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pluggy

from risala.plugins import hookspecs
from risala.plugins.kinds import KINDS, AnyFactory, Factory, PluginKind

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # as in [[carriers]]


class UnfitPluginError(Exception):
    """Our own check found a fault in a plugin; ``str()`` is the reason."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """All that one plugin registered."""

    by_kind: Mapping[str, tuple[AnyFactory, ...]] = field(default_factory=dict)
    """By the kind's key, each in the order in which it was registered."""

    def of(self, kind: PluginKind[Factory]) -> tuple[Factory, ...]:
        """What it brings of a kind."""
        factories = self.by_kind.get(kind.key, ())
        return tuple(one for one in factories if isinstance(one, kind.factory))

    def named(self) -> Iterator[tuple[str, str]]:
        """The kind's key and the name of each thing: no two plugins may bring the same pair."""
        for key, factories in self.by_kind.items():
            for factory in factories:
                yield key, factory.name


def contributions_of(plugin: object) -> Contributions:
    """Call one plugin's hooks, and check all that it registers.

    Each plugin has a pluggy manager of its own: in a common one a hook that raises ends the call
    for the plugins after it, and a misspelt hook cannot be traced to its plugin.

    Raises:
        UnfitPluginError: a hook failed or is misspelt, or what it registered cannot be used.
    """
    hooks = pluggy.PluginManager("risala")
    hooks.add_hookspecs(hookspecs)
    try:
        hooks.register(plugin)
        hooks.check_pending()
    except pluggy.PluginValidationError as error:
        reason = " ".join(str(error).partition(" in plugin ")[0].split())
        raise UnfitPluginError(f"{reason}; see docs/reference/plugin-hooks.md") from error
    if not hooks.get_hookcallers(plugin):
        raise UnfitPluginError("it has no function marked with @hookimpl")
    brought: dict[str, tuple[AnyFactory, ...]] = {}
    for kind in KINDS:
        registered: list[object] = []
        for hook in filter(None, (kind.hook, kind.old_hook)):
            getattr(hooks.hook, hook)(register=registered.append)
        brought[kind.key] = tuple(_checked(kind, registered))
    return Contributions(brought)


def _checked(kind: PluginKind[Any], registered: list[object]) -> Iterator[AnyFactory]:
    """What was registered of a kind, if it can be used.

    Raises:
        UnfitPluginError: it is something else, or its name cannot be used.
    """
    named: set[str] = set()
    for one in registered:
        if not isinstance(one, kind.factory):
            other = type(one).__name__
            raise UnfitPluginError(f"it registered a {other} instead of a {kind.factory.__name__}")
        name = one.name
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in kind.reserved:
            raise UnfitPluginError(f'"{name}" cannot be the name of a {kind.name}')
        if name in named:
            raise UnfitPluginError(f'it registers the {kind.name} "{name}" twice')
        named.add(name)
        yield one
