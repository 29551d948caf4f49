"""Options of every command: ``--data``, ``--config``, ``--json``; and numbers as people type
them."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

import click

from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.performer import GatewaySession
from risala.cli.reach.refused import CommandRefused, refusals
from risala.sms.currencies import DEFAULT_CURRENCY, count_in, counting_in
from risala.sms.numbering.plan import NumberingPlan, plan_of

if TYPE_CHECKING:
    from risala.config.model import Settings
    from risala.engine.model.records.asks import Ask, Reply


P = ParamSpec("P")
R = TypeVar("R")

CONFIG_NAME: Final = "risala.toml"
"""Read from the current directory when no other file is named."""


@dataclass(frozen=True, slots=True)
class Options:
    data: Path | None
    config: Path | None
    json: bool

    @property
    def file(self) -> Path | None:
        """The settings' file, if it exists or was named."""
        if self.config is None and Path(CONFIG_NAME).is_file():
            return Path(CONFIG_NAME)
        return self.config

    def settings(self, **overrides: Any) -> Settings:  # noqa: ANN401 -- any setting's value
        """The settings that this command runs under; ``http__port=1`` overrides ``http.port``.

        Raises:
            CommandRefused: they are wrong; it names every fault.
        """
        from risala.config.faults import ConfigError

        try:
            loaded = self.loader(**overrides)()
        except ConfigError as error:
            raise CommandRefused(str(error)) from error
        count_in(loaded.service.currency)
        return loaded

    def plan(self) -> NumberingPlan:
        """The countries that are served: by the service that runs, which may have been told them
        when it started; else by the settings, of which no other is read where these say so alone.

        Raises:
            CommandRefused: they are wrong.
        """
        from risala.cli.reach import quick

        directory = quick.data_dir(self.data, self.file)
        codes = quick.served(directory) if directory is not None else None
        codes = quick.countries(self.file) if codes is None else codes
        if codes is not None:
            with suppress(ValueError):  # the settings say what is wrong with them
                return plan_of(codes)
        return self.settings().plan

    def number(self, value: Any) -> Any:  # noqa: ANN401 -- the value of any parameter
        """The value of a parameter; a number in its one form."""
        if not isinstance(value, TypedNumber):
            return value
        try:
            return self.plan().read(value.text)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint=value.hint) from error

    def loader(self, **overrides: Any) -> Callable[[], Settings]:  # noqa: ANN401
        """Reads the settings at each call; raises ``ConfigError``."""
        from risala.config.load import load_settings

        keys = {name.replace("__", "."): value for name, value in overrides.items()}
        if self.data is not None:
            keys["storage.data_dir"] = str(self.data)
        return functools.partial(load_settings, self.file, overrides=keys)

    def data_settings(self, *, creates: bool = False) -> Settings:
        """The settings of a command that works on the data, which must be there.

        Raises:
            CommandRefused: the data directory is missing, and the command does not make it.
        """
        settings = self.settings()
        data_dir = settings.storage.data_dir
        if not creates and not data_dir.is_dir():
            raise CommandRefused(
                f"There is no data in {data_dir}. Start with `risala org create`, or give the "
                f"right directory with --data."
            )
        log_to_stderr(settings.plan)
        return settings

    def run(
        self,
        work: Callable[[GatewaySession], Awaitable[R]],
        *,
        creates: bool = False,
        waits: bool = False,
    ) -> R:
        """Run a command's work against the data directory, which ``creates`` may make.

        ``waits``: the work waits for more than the answers of its operations, and so needs Trio.

        Raises:
            CommandRefused: by the engine, or because the engine cannot be reached.
        """
        from risala.cli.reach import quick

        directory = None if waits else quick.data_dir(self.data, self.file)
        if directory is not None:
            with quick.connected(directory) as gateway:
                if gateway is not None:
                    return quick.run(work(GatewaySession(gateway, running=True)))
        settings = self.data_settings(creates=creates)
        # Imported here: Trio, the engine and the HTTP client are nine tenths of a command's start.
        from risala.cli.reach import session

        return session.run(settings, work, quiet=self.json)

    def ask(self, ask: Ask[R], /, **arguments: object) -> Reply[R]:
        """:meth:`run` for one operation; arguments that are None count as missing."""
        return self.run(lambda session: session.ask(ask, **arguments))

    def ask_service(self, work: Callable[[GatewaySession], Awaitable[R]]) -> R | None:
        """The answer of the running service; None: no service runs, or its place is unknown.

        The work waits only for its operations' answers.

        Raises:
            CommandRefused: by the engine.
        """
        from risala.cli.reach import quick

        directory = quick.data_dir(self.data, self.file)
        if directory is None:
            return None
        with quick.connected(directory) as gateway:
            if gateway is None:
                return None
            return quick.run(work(GatewaySession(gateway, running=True)))


def common(command: Callable[Concatenate[Options, P], R]) -> Callable[..., R]:
    """Give a command the common options, as its first argument."""

    @click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="RISALA_DATA",
        metavar="DIR",
        help="The data directory (RISALA_DATA; default: the settings', ./risala-data).",
    )
    @click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        envvar="RISALA_CONFIG",
        metavar="FILE",
        help=f"The settings (RISALA_CONFIG; default: ./{CONFIG_NAME} where there is one).",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> R:  # noqa: ANN401 -- click calls it by name
        options = Options(kwargs.pop("data"), kwargs.pop("config"), kwargs.pop("as_json"))
        with refusals(options.json), counting_in(DEFAULT_CURRENCY):
            read = {name: options.number(each) for name, each in kwargs.items()}
            return command(options, *args, **read)

    return wrapper


class TypedNumber(NamedTuple):
    """A number that was typed; which numbers are served is known once the settings' file is."""

    text: str
    hint: str
    """The name of the parameter, for an error."""


def number_option(
    _: click.Context, parameter: click.Parameter, text: str | None
) -> TypedNumber | None:
    """A click callback: a number, which the command gets in its one form."""
    if text is None:
        return None
    named = isinstance(parameter, click.Option)
    return TypedNumber(text, parameter.opts[0] if named else parameter.human_readable_name)
