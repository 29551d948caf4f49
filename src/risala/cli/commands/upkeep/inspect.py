"""Looking at the service: plugins, the audit."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]


@click.command()
@common
def audit(options: Options) -> None:
    """Prove that balances, ledger and messages agree. Exit code 1 when they do not."""

    async def work(session: GatewaySession) -> Json:
        return await session.perform("audit")

    report = options.run(work)
    if not output.show(options.json, report):
        for fault in report["faults"]:
            click.echo(output.clean(fault))
        if report["clean"]:
            output.said(
                f"Clean: {report['organizations']} organizations, {report['messages']} messages, "
                f"{report['entries']} ledger entries."
            )
    if not report["clean"]:
        raise CommandRefused(f"The audit found {len(report['faults'])} fault(s).")


@click.command()
@common
def plugins(options: Options) -> None:
    """The plugins that were found, what they bring, and what is wrong with them."""
    from risala.plugins.manager import PluginManager

    log_to_stderr()
    settings = options.settings().plugins
    manager = PluginManager()
    manager.load(folder=settings.folder, disabled=settings.disabled)
    payload = {
        "plugins": [asdict(each) for each in manager.plugins()],
        "drivers": [
            {"name": driver.name, "summary": driver.summary} for driver in manager.drivers.values()
        ],
        "mailers": [
            {"name": mailer.name, "summary": mailer.summary} for mailer in manager.mailers.values()
        ],
        "payment_methods": [
            {"name": method.name, "summary": method.summary}
            for method in manager.payment_methods.values()
        ],
        "faults": [asdict(fault) for fault in manager.faults],
    }
    if output.show(options.json, payload):
        return
    output.table(
        ("Plugin", "From", "Brings", "State"),
        (
            (
                each.name,
                each.source,
                ", ".join((*each.drivers, *each.mailers, *each.payment_methods)),
                "disabled" if each.disabled else each.fault or "loaded",
            )
            for each in manager.plugins()
        ),
        empty="No plugin was found.",
    )
    click.echo()
    output.table(
        ("Driver", "What it is"),
        ((driver.name, driver.summary) for driver in manager.drivers.values()),
        empty="No driver.",
    )
