"""Alerts: present and past ones, and silencing some for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.asking import asks, says
from risala.cli.reach.options import Options, common
from risala.cli.show import output, when
from risala.engine.features.alerts import records
from risala.engine.features.alerts.records import AlertPage, AlertView, MuteView
from risala.engine.model.records.asks import Reply

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

SECONDS_A_MINUTE = 60


@click.group(invoke_without_command=True)
@click.option("--all", "shows_all", is_flag=True, help="Include alerts that have ended.")
@click.option("--kind", metavar="KIND", help="Only of this kind, such as `carrier_down`.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="The most to show."
)
@click.option("--before", metavar="ALERT", help="Only alerts older than this one.")
@click.pass_context
@common
def alerts(
    options: Options,
    context: click.Context,
    shows_all: bool,
    kind: str | None,
    limit: int,
    before: str | None,
) -> None:
    """List the service's open alerts, newest first.

    \b
    Examples:
      risala alerts
      risala alerts mute carrier_down --subject smsc-1 --for 2h
    """
    if context.invoked_subcommand is not None:
        return

    async def work(session: GatewaySession) -> tuple[Reply[AlertPage], bool]:
        filters = {"open": None if shows_all else True, "kind": kind}
        page = await session.ask(records.LIST, **filters, limit=limit, before=before)
        return page, session.running

    reply, running = options.run(work)
    if output.show(options.json, reply.json):
        return
    page = reply.value
    output.table(
        ("Alert", "Since (UTC)", "Kind", "What", "Until", "Seen by"),
        map(_row, page.alerts),
        empty="Nothing is wrong." if not shows_all else "There are no alerts.",
    )
    for mute in page.mutes:
        what = mute.kind + (f" of {output.clean(mute.subject)}" if mute.subject else "")
        output.warned(f"{mute.id}: no notifications of {what} until {output.at(mute.until)}.")
    output.tell_older(page.next)
    if not running:
        output.warned("The service is not running, so it does not check for problems.")


def _row(alert: AlertView) -> tuple[object, ...]:
    muted = " (muted)" if alert.is_muted else ""
    return (
        alert.id,
        output.at(alert.raised_at),
        f"{alert.kind}{muted}",
        alert.text["en"],
        output.at(alert.over_at),
        alert.acknowledged_by,
    )


says(
    alerts,
    "acknowledge",
    click.argument("alert_id", metavar="ALERT"),
    records.ACKNOWLEDGE,
    lambda seen: f"{seen.title['en']}: {output.clean(seen.acknowledged_by)} is working on it.",
    does="Acknowledge an alert: somebody is working on it.",
    example="12",
)
says(
    alerts,
    "unmute",
    click.argument("mute_id", metavar="MUTE"),
    records.UNMUTE,
    lambda mute: f"Operators are notified of {mute.kind} again.",
    does="End a mute early; MUTE is its id in the list.",
    example="3",
)


def _minutes(context: click.Context, option: click.Parameter, text: str) -> int:
    """A click callback: the minutes of a span, at least one."""
    return max(1, -(-(when.span_option(context, option, text) or 0) // SECONDS_A_MINUTE))


@alerts.command("mute")
@click.argument("kind")
@click.option("--subject", metavar="SUBJECT", help="Only for this carrier, network and so on.")
@click.option(
    "--for",
    "minutes",
    metavar="SPAN",
    default="1h",
    show_default=True,
    callback=_minutes,
    help="How long: 30m, 2h, 3d.",
)
@asks(records.MUTE)
def mute(view: MuteView) -> None:
    """Send no notifications of alerts of KIND for a while; they are still listed.

    If the problem remains at the end of that time, the notification is sent then.

    \b
    Example: risala alerts mute carrier_down --subject smsc-1 --for 2h
    """
    output.said(f"No notifications of {view.kind} until {output.at(view.until)} (UTC).")
