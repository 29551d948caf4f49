"""Alerts: present and past ones, and silencing some for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output, when

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
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

    async def work(session: GatewaySession) -> tuple[Json, bool]:
        wanted = {"open": None if shows_all else True, "kind": kind}
        found = await session.perform("alert.list", **wanted, limit=limit, before=before)
        return found, session.running

    found, running = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("Alert", "Since (UTC)", "Kind", "What", "Until", "Seen by"),
        map(_row, found["alerts"]),
        empty="Nothing is wrong." if not shows_all else "There are no alerts.",
    )
    for mute in found["mutes"]:
        what = mute["kind"] + (f" of {mute['subject']}" if mute["subject"] else "")
        until = output.moment(mute["until"])
        output.warned(f"{mute['id']}: no notifications of {what} until {until}.")
    if found["next"] is not None:
        output.warned(f"There are older ones: --before {found['next']}.")
    if not running:
        output.warned("The service is not running, so it does not check for problems.")


def _row(alert: Json) -> tuple[object, ...]:
    muted = " (muted)" if alert["isMuted"] else ""
    return (
        alert["id"],
        output.moment(alert["raisedAt"]),
        f"{alert['kind']}{muted}",
        alert["text"]["en"],
        output.moment(alert["overAt"]),
        alert["acknowledgedBy"],
    )


@alerts.command("acknowledge")
@click.argument("alert")
@common
def acknowledge(options: Options, alert: str) -> None:
    """Acknowledge an alert: somebody is working on it.

    \b
    Example: risala alerts acknowledge 12
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform("alert.acknowledge", alert_id=alert)

    found = options.run(work)
    if not output.show(options.json, found):
        output.said(f"{found['title']['en']}: {found['acknowledgedBy']} is working on it.")


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

    async def work(session: GatewaySession) -> Json:
        return await session.perform("alert.mute", kind=kind, subject=subject, minutes=minutes)

    found = options.run(work)
    if not output.show(options.json, found):
        until = output.moment(found["until"])
        output.said(f"No notifications of {found['kind']} until {until} (UTC).")


@alerts.command("unmute")
@click.argument("mute")
@common
def unmute(options: Options, mute: str) -> None:
    """End a mute early; MUTE is its id in the list.

    \b
    Example: risala alerts unmute 3
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform("alert.unmute", mute_id=mute)

    found = options.run(work)
    if not output.show(options.json, found):
        output.said(f"Operators are notified of {found['kind']} again.")
