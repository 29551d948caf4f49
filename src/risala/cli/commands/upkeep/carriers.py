"""The carriers: their state, and operations on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.lazy import LazyCommands, LazyGroup, of_features
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.asks import Ask, Reply
from risala.engine.model.records.carriers import rereading, routes, state, stored
from risala.engine.model.records.carriers.rereading import FieldChange, SettingsPreview
from risala.engine.model.records.carriers.routes import Traffic
from risala.engine.model.records.carriers.state import (
    Carrier,
    CarrierDetails,
    CarrierReceipts,
    Carriers,
    OfferedCommand,
)
from risala.engine.model.records.carriers.stored import UnmatchedReceipts
from risala.engine.model.records.record import to_json

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

carrier_name = click.argument("carrier", metavar="NAME")


@click.group(
    cls=LazyGroup,
    commands=LazyCommands(
        {"presets": "risala.cli.commands.upkeep.carrier_presets:presets"},
        partial(of_features, "carriers"),
    ),
    invoke_without_command=True,
)
@click.pass_context
@common
def carriers(options: Options, context: click.Context) -> None:
    """Show the carriers and their links.

    \b
    Examples:
      risala carriers
      risala carriers pause smsc-1
    """
    if context.invoked_subcommand is None:
        _carriers(options, state.LIST)


def _change(name: str, ask: Ask[Carriers], does: str) -> None:
    help_text = f"{does}\n\n\b\nExample: risala carriers {name} smsc-1"
    carriers.command(name, help=help_text)(carrier_name(asks(ask)(_show_carriers)))


@carriers.command("reconnect")
@carrier_name
@asks(state.RECONNECT)
def reconnect(listed: Carriers, running: bool) -> None:
    """Drop a carrier's link and connect again; nothing is lost.

    \b
    Example: risala carriers reconnect smsc-1
    """
    _show_carriers(listed, running)


@carriers.command("set")
@carrier_name
@click.option("--rate", "rate_per_s", type=float, metavar="N", help="Segments a second, at most.")
@click.option("--weight", type=int, metavar="N", help="Share among carriers of equal priority.")
@common
def set_(options: Options, carrier: str, rate_per_s: float | None, weight: int | None) -> None:
    """Override a carrier's pace or weight from the settings, until `unset`.

    It takes effect at once and survives a restart. The settings file does not change.

    \b
    Example: risala carriers set smsc-1 --rate 20 --weight 2
    """
    if rate_per_s is None and weight is None:
        raise click.UsageError("Give --rate, --weight, or both.")
    _carriers(options, state.OVERRIDE, carrier=carrier, rate_per_s=rate_per_s, weight=weight)


@carriers.command("unset")
@carrier_name
@click.option("--rate", "field", flag_value="rate_per_s", help="Only the pace.")
@click.option("--weight", "field", flag_value="weight", help="Only the weight.")
@asks(state.END_OVERRIDE)
def unset(listed: Carriers, running: bool) -> None:
    """Remove the override of a carrier, so that its settings apply again.

    \b
    Examples:
      risala carriers unset smsc-1
      risala carriers unset smsc-1 --rate
    """
    _show_carriers(listed, running)


@carriers.command("preview")
@common
def preview(options: Options) -> None:
    """Show what the settings file would change now; exit code 1 if it has faults.

    \b
    Example: risala carriers preview
    """
    reply = options.ask(rereading.PREVIEW)
    if not output.show(options.json, reply.json):
        _changes(reply.value)
    if reply.value.faults:
        raise CommandRefused("Nothing would be changed: the settings have faults.")


@carriers.command("apply")
@click.option(
    "--hash",
    "hash_",
    metavar="HASH",
    help="Apply only the changes that `preview` showed with this hash.",
)
@common
def apply(options: Options, hash_: str | None) -> None:
    """Apply the settings file without a restart: new, removed and changed carriers.

    Unchanged carriers are not affected. A removed carrier finishes its current messages first.

    \b
    Example: risala carriers apply
    """

    async def work(session: GatewaySession) -> Reply[SettingsPreview]:
        seen = hash_
        if seen is None:
            reply = await session.ask(rereading.PREVIEW)
            if reply.value.faults:
                return reply
            seen = reply.value.hash
        return await session.ask(rereading.APPLY, hash=seen)

    reply = options.run(work)
    if not output.show(options.json, reply.json):
        _changes(reply.value)
    if reply.value.faults:
        raise CommandRefused("Nothing was changed: the settings have faults.")
    if not options.json and (reply.value.carriers or reply.value.settings):
        output.said("Done.")


_EFFECTS = {
    "starts": "connects",
    "leaves": "gets no new messages, finishes its current ones, then disconnects",
    "restarts": "gets no new messages, finishes its current ones, then reconnects",
    "at_once": "continues with the new settings",
    "none": "stays disabled",
}


def _changes(preview: SettingsPreview) -> None:
    """The changes, done or planned."""
    for fault in preview.faults:
        click.echo(output.clean(fault.text))
    if preview.faults:
        return
    output.table(
        ("Carrier", "Is", "Which", "Changed settings"),
        (
            (
                *(each.carrier, each.kind, _EFFECTS[each.effect]),
                ", ".join(map(_field, each.fields)),
            )
            for each in preview.carriers
        ),
        empty="Every carrier is as in the settings.",
    )
    for one in preview.settings:
        output.said(f"{one.key}: {one.before} becomes {one.after}.")
    if preview.need_restart:
        output.warned(f"These need a restart: {', '.join(preview.need_restart)}.")


def _field(change: FieldChange) -> str:
    if change.is_secret:
        return f"{change.field} (a secret)"
    return f"{change.field}: {change.before} → {change.after}"


@carriers.command("traffic")
@carrier_name
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="The most to show."
)
@asks(routes.TRAFFIC)
def traffic(answer: Traffic) -> None:
    """Show a carrier's traffic of the last minutes, without secrets, codes and texts.

    \b
    Example: risala carriers traffic smsc-1 --limit 20
    """
    for line in answer.lines:
        if line.left_out:
            click.echo(f"… {line.left_out} more")
        arrow = "→" if line.sent else "←"
        click.echo(f"{output.at(line.at)} {arrow} {output.clean(line.text)}")
    if not answer.lines:
        output.said("Nothing lately.")


@carriers.command("unmatched")
@click.argument("carrier", metavar="[NAME]", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="The most to show."
)
@click.option("--before", type=int, metavar="RECEIPT", help="Only receipts older than this one.")
@asks(stored.UNMATCHED)
def unmatched(receipts: UnmatchedReceipts) -> None:
    """List the receipts that matched no message, newest first; of NAME, or of all carriers.

    \b
    Examples:
      risala carriers unmatched
      risala carriers unmatched smsc-1
    """
    output.table(
        ("Receipt", "When", "Carrier", "Id", "For", "Says", "Why"),
        (
            (
                *(each.seq, output.at(each.received_at), each.carrier, each.carrier_id),
                *(each.recipient or "?", each.raw, _WHY.get(each.why, each.why)),
            )
            for each in receipts.receipts
        ),
        empty="Every receipt matched a message.",
    )
    if receipts.next is not None:
        output.said(f"There are older ones: --before {receipts.next}.")


@carriers.command("show")
@carrier_name
@asks(state.SHOW)
def show(details: CarrierDetails, carrier: str) -> None:
    """Show one carrier: what its driver reports, its commands, and the link's latest events.

    \b
    Example: risala carriers show smsc-1
    """
    output.fields(
        {
            "Name": details.name,
            "Driver": details.driver,
            "State": details.state,
            "Says": details.text,
            **_put_over(details),
            **details.details,
        }
    )
    _unmatched(details.unmatched)
    if details.refunded_uncertain:
        count = output.counted(details.refunded_uncertain, "message")
        click.echo(
            f"Failed as uncertain in 30 days: {count}, refunded. Each may have reached its phone."
        )
    if details.commands:
        click.echo()
        _commands(carrier, details.commands)
    if details.trace:
        click.echo()
        output.table(
            ("When", "What happened"),
            ((output.at(line.at), line.text) for line in details.trace),
            empty="",
        )


def _put_over(carrier: Carrier) -> dict[str, str]:
    """The operator's overrides of the settings."""
    over, file = carrier.override, carrier.file
    if over is None:
        return {}
    by = f"by {over.who or 'a deleted user'}, {output.at(over.at)}"
    rows = {}
    if over.rate_per_s is not None:
        rows["Rate /s"] = f"{over.rate_per_s:g} ({by}; the settings: {file.rate_per_s:g})"
    if over.weight is not None:
        rows["Weight"] = f"{over.weight} ({by}; the settings: {file.weight})"
    return rows


_WHY = {
    "unknown": "no message has this id",
    "recipient": "the message with this id went to another number",
    "several": "it fits several messages",
}


def _unmatched(receipts: CarrierReceipts) -> None:
    """Receipts without a message."""
    waiting = f"; {receipts.waiting} wait for theirs" if receipts.waiting else ""
    click.echo()
    click.echo(f"Receipts that matched no message: {receipts.total}{waiting}.")
    if receipts.latest:
        output.table(
            ("When", "Id", "For", "Says", "Why"),
            (
                (
                    *(output.at(each.received_at), each.carrier_id, each.recipient or "?"),
                    *(each.raw, _WHY.get(each.why, each.why)),
                )
                for each in receipts.latest
            ),
            empty="",
        )


@carriers.command("ask")
@carrier_name
@click.argument("command", required=False)
@click.argument("arguments", nargs=-1)
@common
def ask(options: Options, carrier: str, command: str | None, arguments: tuple[str, ...]) -> None:
    """Run a command of a carrier's driver; without COMMAND, list its commands.

    \b
    Examples:
      risala carriers ask sim-1
      risala carriers ask sim-1 balance
    """

    if command is None:
        commands = options.ask(state.SHOW, carrier=carrier).value.commands
        if not output.show(options.json, {"commands": [to_json(each) for each in commands]}):
            _commands(carrier, commands)
        return
    reply = options.ask(state.ASK, carrier=carrier, command=command, arguments=list(arguments))
    if not output.show(options.json, reply.json):
        if reply.value.answer:
            output.fields(reply.value.answer)
        else:
            output.said(f"{carrier}: done.")


def _commands(carrier: str, commands: Sequence[OfferedCommand]) -> None:
    output.table(
        ("Ask", "What it does"),
        ((f"{each.name} {each.arguments}".strip(), each.summary) for each in commands),
        empty=f"{carrier} has no commands.",
    )


def _carriers(options: Options, ask: Ask[Carriers], **arguments: object) -> None:
    async def work(session: GatewaySession) -> tuple[Reply[Carriers], bool]:
        return await session.ask(ask, **arguments), session.running

    reply, running = options.run(work)
    if not output.show(options.json, reply.json):
        _show_carriers(reply.value, running)


def _show_carriers(listed: Carriers, running: bool) -> None:
    output.table(
        ("Name", "Driver", "State", "In flight", "Rate /s", "Queue", "What it says"),
        map(_carrier_row, listed.carriers),
        empty="No carrier is configured. Add a [[carriers]] table to the settings.",
    )
    if not running:
        output.warned("The service is not running, so no carrier is connected.")


def _carrier_row(each: Carrier) -> tuple[object, ...]:
    most = f"{each.rate_max_per_s:g}"
    if each.override and each.override.rate_per_s is not None:
        most += f" (settings: {each.file.rate_per_s:g})"
    return (
        each.name,
        each.driver,
        each.state if each.gate == "open" else f"{each.state}, {each.gate}",
        None if each.in_flight is None else f"{each.in_flight} of {each.window_max}",
        most if each.rate_per_s is None else f"{each.rate_per_s:.4g} of {most}",
        f"over {each.queue}" if each.queue_is_longer else each.queue,
        each.text,
    )


_change("pause", state.PAUSE, "Submit nothing to a carrier; its messages wait.")
_change("resume", state.RESUME, "Undo a pause or a drain.")
_change("drain", state.DRAIN, "Let a carrier finish its current messages, and give it no new ones.")
