"""Looking at the service: plugins, the audit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused, refusals
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.record import to_json
from risala.engine.model.records.upkeep.plugins import LIST, PluginsReport
from risala.engine.model.records.upkeep.trail import AUDIT


@click.command()
@click.option(
    "--heads",
    "file",
    metavar="FILE",
    type=click.File(encoding="utf-8", errors="replace"),
    help="Compare the signed heads of the audit trail in FILE, such as mails or a log, with it.",
)
@common
def audit(options: Options, /, file: TextIO | None) -> None:
    """Check that balances, ledger and messages agree, and that the audit trail is as it was
    written. Exit code 1 if they do not.

    \b
    Example: risala audit
    """
    reply = options.ask(AUDIT) if file is None else options.ask(AUDIT, heads=_heads(file))
    report = reply.value
    if not output.show(options.json, reply.json):
        for fault in report.faults:
            click.echo(output.clean(fault))
        for remark in report.remarks:
            output.warned(remark)
        if report.clean:
            output.said(
                f"Clean: {output.counted(report.organizations, 'organization')}, "
                f"{output.counted(report.messages, 'message')}, "
                f"{output.counted(report.entries, 'ledger entry', 'ledger entries')}."
            )
            if file is not None:
                output.said(
                    f"The audit trail: {output.counted(report.lines, 'line')}, compared with "
                    f"{output.counted(report.heads, 'head')}."
                )
    if not report.clean:
        count = output.counted(len(report.faults), "fault")
        raise CommandRefused(f"The audit found {count}.")


def _heads(file: TextIO) -> list[str]:
    """The lines of a file that have heads in them.

    Raises:
        CommandRefused: it has none.
    """
    from risala.engine.rules.trail.heads import NoHead, heads_of

    try:
        heads = [each.text for each in heads_of(file)]
    except NoHead as error:
        raise CommandRefused(f"{file.name}: {error}") from error
    if not heads:
        raise CommandRefused(f"{file.name} has no head of the audit trail.")
    return heads


@click.group(invoke_without_command=True)
@click.pass_context
@common
def plugins(options: Options, context: click.Context) -> None:
    """List the plugins, what they provide, and their problems.

    \b
    Examples:
      risala plugins
      risala plugins new acme
    """
    if context.invoked_subcommand is None:
        _plugins(options)


@plugins.command("new")
@click.argument("name")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["driver", "payment", "mailer", "sink", "channel"]),
    default="driver",
    show_default=True,
    help="What the plugin provides.",
)
@click.option(
    "--http",
    is_flag=True,
    help="A driver for a carrier over HTTP, with a stand-in for the carrier, as in the tutorial.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON what was written.")
def plugins_new(name: str, folder: Path | None, kind: str, http: bool, as_json: bool) -> None:
    """Create a package for a plugin, which runs and has passing tests.

    It goes to DIR (default: risala-NAME). Existing files are not overwritten.

    \b
    Examples:
      risala plugins new acme
      risala plugins new acme --http
      risala plugins new wave --kind payment
    """
    from risala.plugins.skeleton import SkeletonRefusedError, write_skeleton

    with refusals(as_json):
        try:
            place, files = write_skeleton(name, kind, folder, http=http)
        except SkeletonRefusedError as refused:
            raise CommandRefused(str(refused)) from refused
        written = {"folder": str(place), "files": [str(file) for file in files]}
        if output.show(as_json, written):
            return
        for file in files:
            click.echo(output.clean(str(file)))
        output.said(f'Now, in {place}: pip install --editable ".[test]", and python -m pytest.')


def _plugins(options: Options) -> None:
    reply = options.ask_service(lambda session: session.ask(LIST)) or _loaded_here(options)
    if output.show(options.json, reply.json):
        return
    report = reply.value
    output.table(
        ("Plugin", "From", "Version", "Contract", "Brings", "State"),
        (
            (
                *(each.name, each.source, each.version, each.contract, ", ".join(each.names)),
                each.state if each.fault is None else f"{each.state}: {each.fault}",
            )
            for each in report.plugins
        ),
        empty="No plugins were found.",
    )
    for line in _remarks(report):
        click.echo(output.clean(line))
    click.echo()
    output.table(
        ("Driver", "What it is"),
        ((driver.name, driver.summary) for driver in report.drivers),
        empty="No driver.",
    )


def _loaded_here(options: Options) -> Reply[PluginsReport]:
    """The plugins as a service would find them."""
    from risala.engine.upkeep.plugin_report import plugins_report
    from risala.plugins.manager import PluginManager

    log_to_stderr()
    settings = options.settings().plugins
    manager = PluginManager()
    manager.load(folder=settings.folder, disabled=settings.disabled, load_s=settings.load_s)
    report = plugins_report(manager.plugins(), manager.faults, None)
    return Reply(report, to_json(report))


def _remarks(report: PluginsReport) -> Iterator[str]:
    """The remarks, one a line."""
    for each in report.plugins:
        for warning in each.warnings:
            yield f"{each.name}: {warning}"
        for thing in each.health or ():
            if not thing.is_well:
                yield f"{each.name}, {thing.name}: {thing.state}. {thing.text}".rstrip()
    named = {each.name for each in report.plugins}
    for fault in report.faults:
        if fault.name not in named:
            yield f"{fault.name}: {fault.reason}"
