"""Alerts: present and past ones, and silencing some for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output, when
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.upkeep import alert_views
from risala.engine.model.records.upkeep.alert_views import AlertPage, AlertView

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

SECONDS_A_MINUTE = 60


@click.group(invoke_without_command=True)
@click.option("--all", "shows_all", is_flag=True, help="Include alerts that have ended.")
@click.option("--kind", metavar="KIND", help="Only of this kind, such as `lane_down`.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="The most to show."
)
@click.option("--before", metavar="ALERT", help="Only payments older than this one.")
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
      risala alerts mute lane_down --subject mattel --for 2h
    """
    if context.invoked_subcommand is not None:
        return

    async def work(session: GatewaySession) -> tuple[Reply[AlertPage], bool]:
        wanted = {"open": None if shows_all else True, "kind": kind}
        found = await session.ask(alert_views.LIST, **wanted, limit=limit, before=before)
        return found, session.running

    reply, running = options.run(work)
    if output.show(options.json, reply.json):
        return
    found = reply.value
    output.table(
        ("Alert", "Since (UTC)", "Kind", "What", "Until", "Seen by"),
        map(_row, found.alerts),
        empty="Nothing is wrong." if not shows_all else "There are no alerts.",
    )
    for mute in found.mutes:
        what = mute.kind + (f" of {mute.subject}" if mute.subject else "")
        output.warned(f"{mute.id}: no notifications of {what} until {output.at(mute.until)}.")
    if found.next is not None:
        output.warned(f"There are older ones: --before {found.next}.")
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


@alerts.command("acknowledge")
@click.argument("alert")
@common
def acknowledge(options: Options, alert: str) -> None:
    """Acknowledge an alert: somebody is working on it.

    \b
    Example: risala alerts acknowledge 12
    """

    found = options.run(lambda session: session.ask(alert_views.ACKNOWLEDGE, alert_id=alert))
    if not output.show(options.json, found.json):
        seen = found.value
        output.said(f"{seen.title['en']}: {seen.acknowledged_by} is working on it.")


@alerts.command("mute")
@click.argument("kind")
@click.option("--subject", metavar="SUBJECT", help="Only for this carrier, network and so on.")
@click.option(
    "--for",
    "span_s",
    metavar="SPAN",
    default="1h",
    show_default=True,
    callback=when.span_option,
    help="How long: 30m, 2h, 3d.",
)
@common
def mute(options: Options, kind: str, subject: str | None, span_s: int) -> None:
    """Send no notifications of alerts of KIND for a while; they are still listed.

    If the problem remains at the end of that time, the notification is sent then.

    \b
    Example: risala alerts mute lane_down --subject mattel --for 2h
    """
    minutes = max(1, -(-span_s // SECONDS_A_MINUTE))

    asked = {"kind": kind, "subject": subject, "minutes": minutes}
    found = options.run(lambda session: session.ask(alert_views.MUTE, **asked))
    if not output.show(options.json, found.json):
        until = output.at(found.value.until)
        output.said(f"No notifications of {found.value.kind} until {until} (UTC).")


@alerts.command("unmute")
@click.argument("mute")
@common
def unmute(options: Options, mute: str) -> None:
    """End a mute early; MUTE is its id in the list.

    \b
    Example: risala alerts unmute 3
    """

    found = options.run(lambda session: session.ask(alert_views.UNMUTE, mute_id=mute))
    if not output.show(options.json, found.json):
        output.said(f"Operators are notified of {found.value.kind} again.")
