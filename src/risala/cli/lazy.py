"""Commands that are imported on demand, so that a command imports its own module only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyCommands(MutableMapping[str, click.Command]):
    """A group's commands by name; each is found in its module at its first use.

    ``places`` has ``module:attribute`` for each name. ``others`` is called for a name that is not
    there, and for all names. Iterating over all of them, as ``--help`` does, imports all.
    """

    def __init__(
        self, places: Mapping[str, str], others: Callable[[], Mapping[str, str]] = dict
    ) -> None:
        self._places = dict(places)
        self._others = others
        self._is_whole = False
        self._found: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._found:
            if name not in self:
                raise KeyError(name)
            module, _, attribute = self._places[name].partition(":")
            command: click.Command = getattr(import_module(module), attribute)
            self._found[name] = command
        return self._found[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places[name] = ""
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._found.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._all()  # without importing the command

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> Mapping[str, str]:
        if not self._is_whole:
            self._places |= self._others()
            self._is_whole = True
        return self._places


class LazyGroup(click.Group):
    """A group whose commands' names are completed without importing the commands."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name) for name in sorted(self.commands) if name.startswith(incomplete)
        ]


def of_features(group: str) -> Mapping[str, str]:
    """The places of the commands that features bring to a group; empty: to the root. It imports the
    declarations of all features."""
    from risala.engine.model.features import features

    return {
        name: f"{each.module}:{each.name}"
        for feature in features()
        for words, each in feature.commands.items()
        for before, _, name in (words.rpartition(" "),)
        if before == group
    }
