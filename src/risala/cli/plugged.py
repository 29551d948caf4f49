"""Commands of plugins: found when no command of our own has the name, or all are listed.

Plugins are imported only for that. So ``risala org list`` costs nothing more, and ``--help`` only
if there are plugins other than the built-in ones.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.reach.options import CONFIG_NAME, Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.plugins.command import CommandFactory, CommandFailedError

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

BRINGING: Final = ("risala.drivers.sinks.plugin",)
"""The built-in plugins that have commands."""
KNOWN: Final = {"sinks": "State of the event sinks"}
"""The commands of those plugins, so that no plugin is imported to list them; a test compares."""


@dataclass(frozen=True, slots=True)
class Plugged:
    """The plugins' contributions to the command line."""

    factories: Mapping[str, CommandFactory]
    faults: Sequence[tuple[str, str]]
    """Plugins that are not used, and why."""


def plugged() -> Plugged:
    """All commands of plugins; imports the plugins. Raises nothing for a plugin's sake."""
    from risala.plugins.kinds import COMMANDS
    from risala.plugins.manager import NO_SUCH_PLUGIN, PluginManager

    folder, disabled = _settings()
    manager = PluginManager(logs=False)
    manager.load(BRINGING, folder=folder, disabled=disabled)
    # Of the built-in plugins only these are checked: that another is disabled is no fault.
    faults = [(each.name, each.reason) for each in manager.faults if each.reason != NO_SUCH_PLUGIN]
    return Plugged(manager.of(COMMANDS), faults)


def are_there() -> bool:
    """Whether plugins other than the built-in ones exist."""
    folder, _ = _settings()
    with suppress(OSError):
        if folder is not None and any(each.suffix == ".py" for each in folder.iterdir()):
            return True
    return bool(importlib.metadata.entry_points(group="risala"))


def _settings() -> tuple[Path | None, Sequence[str]]:
    """``plugins.folder`` and ``plugins.disabled``, read without the rest of the settings: a fault
    elsewhere in the file must not hide the commands by which it is found."""
    import tomllib

    plugins: dict[str, Any] = {}
    path = Path(os.environ.get("RISALA_CONFIG") or CONFIG_NAME)
    with suppress(OSError, ValueError):
        plugins = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("plugins", {})
    folder = os.environ.get("RISALA_PLUGINS__FOLDER") or plugins.get("folder")
    disabled = plugins.get("disabled", [])
    if names := os.environ.get("RISALA_PLUGINS__DISABLED"):
        disabled = [each.strip() for each in names.split(",")]
    return (
        Path(folder) if isinstance(folder, str) and folder else None,
        [each for each in disabled if isinstance(each, str)] if isinstance(disabled, list) else [],
    )


class TerminalAccess:
    """A :class:`risala.plugins.command.CommandDoor`."""

    def __init__(self, options: Options) -> None:
        self._options = options

    @property
    def json(self) -> bool:
        return self._options.json

    def perform(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        async def work(session: GatewaySession) -> dict[str, Any]:
            return await session.perform(operation, **arguments)

        return self._options.run(work)

    def show(self, payload: Mapping[str, Any]) -> bool:
        return output.show(self.json, payload)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
        output.table(columns, rows, empty=empty)


def command_of(factory: CommandFactory) -> click.Command:
    """A plugin's command as one of ours.

    One that cannot be built reports that when it is called: ``--help`` still lists it.
    """
    try:
        built: object = factory.build()
        if not isinstance(built, click.Command):
            raise TypeError(f"it is a {type(built).__name__} and no click command")
        return _adopted(built, factory.name, factory.summary)
    except Exception as error:  # noqa: BLE001 -- its fault, not ours
        return _broken(factory, error)


def _broken(factory: CommandFactory, error: Exception) -> click.Command:
    text = f"The command {factory.name} of a plugin cannot be built: {error}"

    def refuse(**_: object) -> None:
        raise CommandRefused(text)

    return click.Command(
        factory.name,
        callback=refuse,
        help=factory.summary,
        short_help=f"{factory.summary} (cannot be built)",
        context_settings={"ignore_unknown_options": True},
        params=[click.Argument(["rest"], nargs=-1)],
    )


def _adopted(command: click.Command, name: str, summary: str) -> click.Command:
    """A command with the options that all have, and with our door as its first argument."""
    if isinstance(command, click.Group):
        inner = {
            each: _adopted(one, f"{name} {each}", one.get_short_help_str())
            for each, one in command.commands.items()
        }
        return click.Group(
            name, commands=inner, help=command.help or summary, short_help=summary or None
        )
    outer = common(_guarded(command.callback, name))
    shared = list(reversed(getattr(outer, "__click_params__", ())))
    return click.Command(
        name,
        callback=outer,
        params=[*command.params, *shared],
        help=command.help or summary,
        short_help=command.short_help or summary or None,
        epilog=command.epilog,
    )


def _guarded(callback: Callable[..., Any] | None, name: str) -> Callable[..., Any]:
    """A plugin's function, whose faults end the command with a sentence."""

    def run(options: Options, /, *positional: object, **named: object) -> object:
        if callback is None:
            return None
        try:
            return callback(TerminalAccess(options), *positional, **named)
        except CommandFailedError as error:
            raise CommandRefused(str(error)) from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            text = f"The command {name} failed: {type(error).__name__}: {error}"
            raise CommandRefused(text) from error

    return run
