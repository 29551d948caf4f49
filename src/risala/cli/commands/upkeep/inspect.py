"""Looking at the service: carriers, plugins, the audit."""

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


@click.group(invoke_without_command=True)
@click.pass_context
@common
def carriers(options: Options, context: click.Context) -> None:
    """The carriers and how their links are."""
    if context.invoked_subcommand is None:
        _carriers(options, "carriers", None)


def _gate(name: str, help_text: str) -> None:
    @carriers.command(name, help=help_text)
    @click.argument("carrier", metavar="NAME")
    @common
    def command(options: Options, carrier: str) -> None:
        _carriers(options, f"carriers.{name}", carrier)


_gate("pause", "Submit nothing to a carrier; its messages wait.")
_gate("resume", "Undo a pause or a drain.")
_gate("drain", "Let a carrier finish what it has, and give it nothing new.")


@carriers.command("show")
@click.argument("carrier", metavar="NAME")
@common
def show(options: Options, carrier: str) -> None:
    """One carrier: what its driver tells of it, what it can be asked, the link's latest life."""

    async def work(session: GatewaySession) -> Json:
        return await session.perform("carriers.show", carrier=carrier)

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.fields(
        {
            "Name": found["name"],
            "Driver": found["driver"],
            "State": found["state"],
            "Says": found["text"],
            **found.get("details", {}),
        }
    )
    _unmatched(found["unmatched"])
    if found["commands"]:
        click.echo()
        _commands(carrier, found["commands"])
    if found.get("trace"):
        click.echo()
        output.table(
            ("When", "What happened"),
            ((output.moment(line["at"]), line["text"]) for line in found["trace"]),
            empty="",
        )


_WHY = {
    "unknown": "no message has this id",
    "recipient": "the message with this id went to another number",
    "several": "it fits several messages",
}


def _unmatched(told: Json) -> None:
    """Receipts without a message."""
    waiting = f"; {told['waiting']} wait for theirs" if told["waiting"] else ""
    click.echo()
    click.echo(f"Receipts that matched no message: {told['total']}{waiting}.")
    if told["latest"]:
        output.table(
            ("When", "Id", "For", "Says", "Why"),
            (
                (
                    *(output.moment(each["at"]), each["id"], each["recipient"] or "?"),
                    *(each["says"], _WHY.get(each["why"], each["why"])),
                )
                for each in told["latest"]
            ),
            empty="",
        )


@carriers.command("ask")
@click.argument("carrier", metavar="NAME")
@click.argument("command", required=False)
@click.argument("arguments", nargs=-1)
@common
def ask(options: Options, carrier: str, command: str | None, arguments: tuple[str, ...]) -> None:
    """Ask a carrier's driver for something of its own; without COMMAND, what it can be asked."""

    async def work(session: GatewaySession) -> Json:
        if command is None:
            return await session.perform("carriers.show", carrier=carrier)
        return await session.perform(
            "carriers.ask", carrier=carrier, command=command, arguments=list(arguments)
        )

    found = options.run(work)
    if command is None:
        if not output.show(options.json, {"commands": found["commands"]}):
            _commands(carrier, found["commands"])
    elif not output.show(options.json, found):
        if found["answer"]:
            output.fields(found["answer"])
        else:
            output.said(f"{carrier}: done.")


def _commands(carrier: str, commands: list[Json]) -> None:
    output.table(
        ("Ask", "What it does"),
        ((f"{each['name']} {each['arguments']}".strip(), each["summary"]) for each in commands),
        empty=f"{carrier} has nothing to be asked.",
    )


def _carriers(options: Options, operation: str, carrier: str | None) -> None:
    async def work(session: GatewaySession) -> tuple[Json, bool]:
        return await session.perform(operation, carrier=carrier), session.running

    found, running = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("Name", "Driver", "State", "In flight", "Rate /s", "Queue", "What it says"),
        map(_carrier_row, found["carriers"]),
        empty="No carrier is configured; add a [[carriers]] table to the settings.",
    )
    if not running:
        output.warned("The service is not running, so that no carrier is connected.")


def _carrier_row(each: Json) -> tuple[object, ...]:
    state, gate = each["state"], each.get("gate", "open")
    most = f"{each['rate_max_per_s']:g}"
    rate = f"{each['rate_per_s']:.4g} of {most}" if "rate_per_s" in each else most
    in_flight = f"{each['in_flight']} of {each['window_max']}" if "in_flight" in each else None
    return (
        each["name"],
        each["driver"],
        state if gate == "open" else f"{state}, {gate}",
        in_flight,
        rate,
        f"over {each['queue']}" if each.get("queue_is_longer") else each.get("queue"),
        each["text"],
    )


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
