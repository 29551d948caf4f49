"""Sending a message by hand, and looking at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output, when
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.money import money
from risala.engine.model.records import message_lists, messages
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.messages import (
    AcceptedMessage,
    WholeMessage,
)
from risala.sms.address import normalise_number

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession
    from risala.engine.model.records.message_lists import Listed, ListPage
    from risala.engine.model.records.messages import MessageView

Json = dict[str, Any]


@click.command()
@click.argument("to")
@click.argument("body")
@org_option
@click.option(
    "--from", "sender", metavar="SENDER", help="The sender ID. If left out, the default one."
)
@click.option("--key", "idempotency_key", metavar="KEY", help="The idempotency key.")
@click.option("--urgent", is_flag=True, help="Send it before the waiting messages.")
@click.option(
    "--test",
    is_flag=True,
    help="A test: no carrier and no charge. The number's last two digits choose the outcome.",
)
@click.option(
    "--at",
    "send_at",
    metavar="TIME",
    callback=when.option,
    help="When to send: 2026-11-21T08:30 (local), 08:30 (today or tomorrow), or in 90m, 2h, 3d.",
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
    test: bool,
    send_at: str | None,
    validity_s: int | None,
) -> None:
    """Send BODY to the number TO (+22236123456, 36 12 34 56 …), on an organization's balance.

    \b
    Examples:
      risala send 36123456 "Your parcel is here."
      risala send +22236123456 Salam --from ACME --at 08:30 --validity 2h
    """
    try:
        number = normalise_number(to)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="TO") from error

    async def work(session: GatewaySession) -> tuple[Reply[AcceptedMessage], bool]:
        accepted = await session.ask(
            messages.SEND,
            organization_id=await organization_id(session, org),
            to=number,
            body=body,
            **{"from": sender},
            idempotency_key=idempotency_key,
            urgent=urgent,
            mode="test" if test else "live",
            send_at=send_at,
            validity_s=validity_s,
        )
        return accepted, session.running

    reply, running = options.run(work)
    if output.show(options.json, reply.json):
        return
    accepted = reply.value
    output.said(f"Accepted for {number} from {accepted.sender}: {accepted.message_id}")
    if accepted.notice is not None:
        output.warned(accepted.notice.message)
    if send_at is not None:
        output.said(f"It is sent at {output.moment(send_at)} UTC.")
    if accepted.warning is not None:
        output.warned(accepted.warning)
    elif not running:
        output.warned("The service is not running. The message is sent when it starts.")


@click.group()
def message() -> None:
    """Messages and their status.

    \b
    Examples:
      risala message list --status failed --since 1d
      risala message show sms_…
    """


@message.command("cancel")
@click.argument("message_id", metavar="ID")
@common
def message_cancel(options: Options, message_id: str) -> None:
    """Cancel a message that has not been sent yet, and refund it.

    \b
    Example: risala message cancel sms_…
    """
    found = options.ask(messages.CANCEL, message_id=message_id)
    if not output.show(options.json, found.json):
        shown = found.value.message
        price = output.money(money(shown.price), shown.currency)
        output.said(f"{shown.id} is canceled. {price} went back to the balance.")


@message.command("list")
@org_option
@click.option("--test", is_flag=True, help="Those of test keys instead of live ones.")
@click.option(
    "--status", metavar="STATUS", help="A status such as delivered or failed; or uncertain."
)
@click.option("--to", metavar="NUMBER", help="Only those to this number.")
@click.option("--from", "sender", metavar="SENDER", help="Only those from this sender.")
@click.option("--key", "key_id", metavar="KEY", help="Only those of the API key with this id.")
@click.option(
    "--cause", metavar="WORD", help="Only those with this error code, or this word of the carrier."
)
@click.option(
    "--since",
    metavar="TIME",
    callback=when.past_option,
    help="Only since: 2026-11-21T08:30 (local), 08:30 (the last), or 90m, 2h, 3d ago.",
)
@click.option("--until", metavar="TIME", callback=when.past_option, help="Not newer.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@common
def message_list(
    options: Options,
    org: str | None,
    test: bool,
    status: str | None,
    to: str | None,
    sender: str | None,
    key_id: str | None,
    cause: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    before: str | None,
) -> None:
    """List an organization's messages, newest first, without their texts.

    \b
    Examples:
      risala message list
      risala message list --status failed --since 1d --limit 100
    """
    given: Json = {
        "mode": "test" if test else "live",
        "status": status,
        "to": None if to is None else _number(to),
        "from": sender,
        "key_id": key_id,
        "cause": cause,
        "since": since,
        "until": until,
        "limit": limit,
        "before": before,
    }

    async def work(session: GatewaySession) -> Reply[ListPage]:
        found = await organization_id(session, org)
        return await session.ask(message_lists.LIST, organization_id=found, **given)

    found = options.run(work)
    if output.show(options.json, found.json):
        return
    output.table(
        ("Created (UTC)", "Id", "To", "From", "Status", "Price", "Carrier", "Error"),
        (_row(each) for each in found.value.messages),
        empty="There are no such messages." if before is None else "There are no older ones.",
    )
    if found.value.older is not None:
        output.warned(f"There are older ones: --before {found.value.older}.")


def _row(each: Listed) -> tuple[object, ...]:
    error = ": ".join(filter(None, (each.error_code, each.carrier_code)))
    return (
        output.at(each.created_at),
        each.id,
        each.to,
        each.sender,
        "uncertain" if each.uncertain else each.status,
        output.money(money(each.price), each.currency),
        each.carrier,
        error or None,
    )


def _number(text: str) -> str:
    """A number as people write it, in its one form.

    Raises:
        BadParameter: it is no valid number.
    """
    try:
        return normalise_number(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--to") from error


@message.command("show")
@click.argument("message_id", metavar="ID")
@common
def message_show(options: Options, message_id: str) -> None:
    """Show a message and its timeline, with the carriers' own words.

    \b
    Example: risala message show sms_…
    """
    found = options.ask(messages.SHOW, message_id=message_id)
    if output.show(options.json, found.json):
        return
    output.fields(_fields(found.value.message, found.value.part))
    click.echo()
    output.table(
        ("At (UTC)", "Status", "What happened", "Carrier", "Attempt", "Segment", "Carrier's word"),
        (
            (
                output.at(entry.at),
                entry.status,
                entry.text,
                entry.carrier,
                entry.attempt,
                entry.segment,
                entry.raw,
            )
            for entry in found.value.timeline
        ),
        empty="Its timeline is no longer kept.",
    )


def _fields(shown: MessageView, part: WholeMessage | None) -> Json:
    error = ": ".join(filter(None, (shown.error_code, cause_text(shown.error_code))))
    rows = {
        "id": shown.id,
        "organization": shown.organization_id,
        "status": shown.status,
        "from": shown.sender,
        "to": shown.to,
        "body": "(no longer kept)" if shown.body is None else shown.body,
        "part": None if part is None else f"{part.number} of {part.total}",
        "text of all": None if part is None else part.text,
        "segments": f"{shown.segments} ({shown.encoding})",
        "price": output.money(money(shown.price), shown.currency),
        "attempts": shown.attempts,
        "carrier": shown.carrier,
        "carrier's id": shown.provider_message_id,
        "error": error or None,
        "carrier's word": shown.carrier_code,
        "created": output.at(shown.created_at),
        "not before": output.at(shown.send_at),
        "sent": output.at(shown.sent_at),
        "delivered": output.at(shown.delivered_at),
    }
    return {name: value for name, value in rows.items() if value is not None}
