"""``risala simulate modem``: a GSM modem on a pseudo-terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.reach.refused import CommandRefused

if TYPE_CHECKING:
    from risala.cli.lab.modem_console import ModemTally, ModemView
    from risala.lab.modem.simulator import ModemEvent, ModemSimulator

_SCENARIO_SAYS: Final = ("profile", "quirk", "report_delay_s", "report", "answer_delay_s", "seed")
"""Options that are refused together with a scenario, which sets these values itself."""


@click.command("modem")
@click.option(
    "--profile",
    type=click.Choice(["plain", "huawei", "sim800", "quectel", "sick"]),
    default="plain",
    show_default=True,
    help="Which modem; sick: a plain one with all quirks.",
)
@click.option(
    "--scenario",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A scenario of failures, as a TOML file; see examples/modem-scenarios.",
)
@click.option(
    "--quirk",
    multiple=True,
    metavar="NAME[=PERCENT]",
    help="A single fault; --profile sick has all of them.",
)
@click.option(
    "--link",
    type=click.Path(path_type=Path),
    help="Create a symbolic link to the port. It disappears whenever the port does.",
)
@click.option("--listen", metavar="HOST:PORT", help="Use a TCP port instead of a pseudo-terminal.")
@click.option("--pin", help="The SIM asks for this PIN after every start.")
@click.option("--number", help="The SIM's own number.")
@click.option(
    "--report-delay-s",
    type=click.FloatRange(0, 86400),
    default=0.5,
    show_default=True,
    help="From a message to its status report.",
)
@click.option(
    "--report",
    type=click.Choice(["delivered", "failed", "expired", "trying", "trying_first", "none"]),
    default="delivered",
    show_default=True,
    help="What status reports say.",
)
@click.option(
    "--answer-delay-s",
    type=click.FloatRange(0, 3600),
    default=0.0,
    show_default=True,
    help="From a message to its +CMGS:.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="The seed of all randomness.")
@click.option("--lines", is_flag=True, help="One line per event, also in a terminal.")
@click.option("--commands", is_flag=True, help="Also show every AT command.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.pass_context
def modem(
    context: click.Context,
    /,
    scenario: Path | None,
    link: Path | None,
    listen: str | None,
    lines: bool,
    commands: bool,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - what click read
) -> None:
    """A GSM modem that shows each message it sends. Ends with Ctrl-C.

    Lines that are typed are done to it: "sms NUMBER Hello", "signal 5", "vanish 10"; "help"
    tells all of them.

    \b
    Example: risala simulate modem --profile huawei --link /tmp/modem
    """
    import trio

    from risala.cli.lab.modem_console import ModemTally, run_modem

    if scenario is not None:
        refuse_beside_a_scenario(context, _SCENARIO_SAYS)
    tally = ModemTally()

    def on_event(event: ModemEvent) -> None:
        tally.hear(event)
        view.hear(event)

    place = _address(listen)
    title, simulator = _simulator(scenario, options, on_event, link=link, listen=place)
    view = _view(tally, simulator, title, lines=lines, as_json=as_json, commands=commands)
    try:
        trio.run(run_modem, simulator, view)
    except BaseExceptionGroup as group:
        raise _refused(group) from group
    finally:
        view.end()


def _refused(group: BaseExceptionGroup[BaseException]) -> BaseException:
    from risala.lab.modem.simulator import PortLinkError

    faults, rest = group.split((OSError, PortLinkError))
    if faults is None or rest is not None:
        return group
    fault: BaseException = faults
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    if isinstance(fault, PortLinkError):
        return CommandRefused(str(fault))
    assert isinstance(fault, OSError)
    return CommandRefused(f"The port cannot be opened: {fault.strerror}.")


def refuse_beside_a_scenario(context: click.Context, names: Sequence[str]) -> None:
    """Refuse options, by name, that a scenario sets itself."""
    typed = click.core.ParameterSource.COMMANDLINE
    for name in names:
        if context.get_parameter_source(name) is typed:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(
                f"{option} cannot be used with a scenario. Write it into the scenario."
            )


def _address(listen: str | None) -> tuple[str, int] | None:
    if listen is None:
        return None
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise click.UsageError("--listen needs HOST:PORT.")
    return host.strip("[]"), int(port)


def _simulator(
    path: Path | None,
    options: dict[str, Any],
    on_event: Callable[[ModemEvent], None],
    *,
    link: Path | None,
    listen: tuple[str, int] | None,
) -> tuple[str, ModemSimulator]:
    from risala.lab.modem.quirks import quirk_named
    from risala.lab.modem.script.scenario import load_scenario
    from risala.lab.modem.simulator import PROFILES, ModemConfig, ModemSimulator, ReportStatus
    from risala.lab.scenario_file import ScenarioError

    changes = {key: options[key] for key in ("pin", "number") if options[key] is not None}
    if path is not None:
        try:
            loaded = load_scenario(path)
        except ScenarioError as fault:
            raise CommandRefused(str(fault)) from fault
        config = loaded.config(**changes)
        simulator = ModemSimulator(
            config, link=link, listen=listen, on_event=on_event, **loaded.rules
        )
        return loaded.title, simulator
    try:
        quirks = [quirk_named(each) for each in options["quirk"]]
    except ValueError as fault:
        raise click.UsageError(str(fault)) from fault
    config = ModemConfig(
        profile=PROFILES[options["profile"]],
        report_after_s=options["report_delay_s"],
        report_status=ReportStatus(options["report"]),
        answer_after_s=options["answer_delay_s"],
        **changes,
    )
    simulator = ModemSimulator(
        config,
        link=link,
        listen=listen,
        seed=options["seed"],
        quirks=quirks or None,
        on_event=on_event,
    )
    return config.profile.title, simulator


def _view(
    tally: ModemTally,
    simulator: ModemSimulator,
    title: str,
    *,
    lines: bool,
    as_json: bool,
    commands: bool,
) -> ModemView:
    from risala.cli.lab.modem_console import ModemJsonView, ModemLineView, ModemLiveView

    if as_json:
        return ModemJsonView(commands=commands)
    if lines or not sys.stdout.isatty():
        return ModemLineView(tally, commands=commands)
    return ModemLiveView(tally, simulator, title)
