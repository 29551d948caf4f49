"""Sending a message by hand, and looking at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output, when
from risala.sms.address import normalise_number

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]


@click.command()
@click.argument("to")
@click.argument("body")
@org_option
@click.option("--from", "sender", metavar="SENDER", help="The sender ID; else the default one.")
@click.option("--key", "idempotency_key", metavar="KEY", help="The idempotency key.")
@click.option("--urgent", is_flag=True, help="Before the messages that wait.")
@click.option(
    "--at",
    "send_at",
    metavar="TIME",
    callback=when.option,
    help="Not before: 2026-11-21T08:30 (local), 08:30 (today or tomorrow), or in 90m, 2h, 3d.",
)
@click.option(
    "--validity",
    "validity_s",
    metavar="SPAN",
    callback=when.span_option,
    help="Give up after: 10m, 2h, 3d (1 minute to 3 days).",
)
@common
def send(
    options: Options,
    to: str,
    body: str,
    org: str | None,
    sender: str | None,
    idempotency_key: str | None,
    urgent: bool,
    send_at: str | None,
    validity_s: int | None,
) -> None:
    """Send BODY to the number TO (+22236123456, 36 12 34 56 …), on an organization's balance."""
    try:
        number = normalise_number(to)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="TO") from error

    async def work(session: GatewaySession) -> tuple[Json, bool]:
        accepted = await session.perform(
            "send",
            organization_id=await organization_id(session, org),
            to=number,
            body=body,
            **{"from": sender},
            idempotency_key=idempotency_key,
            urgent=urgent,
            send_at=send_at,
            validity_s=validity_s,
        )
        return accepted, session.running

    accepted, running = options.run(work)
    if output.show(options.json, accepted):
        return
    output.said(f"Accepted for {number} from {accepted['from']}: {accepted['messageId']}")
    if "notice" in accepted:
        output.warned(accepted["notice"]["message"])
    if send_at is not None:
        output.said(f"It is sent at {output.moment(send_at)} UTC.")
    if "warning" in accepted:
        output.warned(accepted["warning"])
    elif not running:
        output.warned("The service is not running; the message goes out when it starts.")


@click.group()
def message() -> None:
    """Messages and what became of them."""


@message.command("cancel")
@click.argument("message_id", metavar="ID")
@common
def message_cancel(options: Options, message_id: str) -> None:
    """Withdraw a message that has not left yet, and refund it."""

    async def work(session: GatewaySession) -> Json:
        return await session.perform("message.cancel", message_id=message_id)

    found = options.run(work)
    if not output.show(options.json, found):
        shown = found["message"]
        output.said(
            f"{shown['id']} is withdrawn; {output.money(shown['price'], shown['currency'])} "
            "went back to the balance."
        )


@message.command("show")
@click.argument("message_id", metavar="ID")
@common
def message_show(options: Options, message_id: str) -> None:
    """A message and its timeline, with each carrier's own words."""

    async def work(session: GatewaySession) -> Json:
        return await session.perform("message.show", message_id=message_id)

    found = options.run(work)
    if output.show(options.json, found):
        return
    shown = found["message"]
    output.fields(_fields(shown))
    click.echo()
    output.table(
        ("At (UTC)", "Status", "What happened", "Carrier", "Attempt", "Segment", "Carrier's word"),
        (
            (
                output.moment(entry["at"]),
                entry["status"],
                entry["text"],
                entry["carrier"],
                entry["attempt"],
                entry["segment"],
                entry["raw"],
            )
            for entry in found["timeline"]
        ),
        empty="Its timeline is no longer kept.",
    )


def _fields(shown: Json) -> Json:
    error = ": ".join(filter(None, (shown["errorCode"], shown["errorText"])))
    rows = {
        "id": shown["id"],
        "organization": shown.get("organizationId"),
        "status": shown["status"],
        "from": shown["from"],
        "to": shown["to"],
        "body": "(no longer kept)" if shown["body"] is None else shown["body"],
        "segments": f"{shown['segments']} ({shown['encoding']})",
        "price": output.money(shown["price"], shown["currency"]),
        "attempts": shown["attempts"],
        "carrier": shown["carrier"],
        "carrier's id": shown["providerMessageId"],
        "error": error or None,
        "carrier's word": shown["carrierCode"],
        "created": output.moment(shown["createdAt"]),
        "not before": output.moment(shown["sendAt"]),
        "sent": output.moment(shown["sentAt"]),
        "delivered": output.moment(shown["deliveredAt"]),
    }
    return {name: value for name, value in rows.items() if value is not None}
