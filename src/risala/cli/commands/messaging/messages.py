"""Sending a message by hand, and looking at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.asking import asks, mode_option
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.commands.messaging.mail_options import SendCommand, or_from_mail
from risala.cli.reach.options import number_option
from risala.cli.show import output, when
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.money import money
from risala.engine.model.records import message_lists, messages
from risala.engine.model.records.messages import (
    AcceptedMessage,
    MessageStory,
    ShownMessage,
    WholeMessage,
)

if TYPE_CHECKING:
    from risala.engine.model.records.message_lists import Listed, ListPage
    from risala.engine.model.records.messages import MessageView

Json = dict[str, Any]


@click.command(cls=SendCommand)
@click.argument("to", callback=number_option, required=False, metavar="TO")
@click.argument("body", required=False, metavar="BODY")
@org_option
@click.option(
    "--from", "from", metavar="SENDER", help="The sender ID. If left out, the default one."
)
@click.option("--key", "idempotency_key", metavar="KEY", help="The idempotency key.")
@click.option("--urgent", is_flag=True, help="Send it before the waiting messages.")
@mode_option("A test: no carrier and no charge. The number's last two digits choose the outcome.")
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
@or_from_mail
@asks(messages.SEND)
def send(accepted: AcceptedMessage, to: str, send_at: str | None, running: bool) -> None:
    """Send BODY to the number TO, on an organization's balance. TO is written as at home, or with
    + and the country code.

    With --from-mail it sends the mail on stdin, for the pipe of a mail server.

    \b
    Examples:
      risala send NUMBER "Your parcel is here."
      risala send NUMBER Salam --from ACME --at 08:30 --validity 2h
    """
    output.said(f"Accepted for {to} from {accepted.sender}: {accepted.message_id}")
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
@asks(messages.CANCEL)
def message_cancel(shown_message: ShownMessage) -> None:
    """Cancel a message that has not been sent yet, and refund it.

    \b
    Example: risala message cancel sms_…
    """
    shown = shown_message.message
    price = output.money(money(shown.price), shown.currency)
    output.said(f"{shown.id} is canceled. {price} went back to the balance.")


@message.command("list")
@org_option
@mode_option("Those of test keys instead of live ones.")
@click.option(
    "--status", metavar="STATUS", help="A status such as delivered or failed; or uncertain."
)
@click.option("--to", metavar="NUMBER", callback=number_option, help="Only those to this number.")
@click.option("--from", "from", metavar="SENDER", help="Only those from this sender.")
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
@asks(message_lists.LIST)
def message_list(page: ListPage, before: str | None) -> None:
    """List an organization's messages, newest first, without their texts.

    \b
    Examples:
      risala message list
      risala message list --status failed --since 1d --limit 100
    """
    output.table(
        ("Created (UTC)", "Id", "To", "From", "Status", "Price", "Carrier", "Error"),
        (_row(each) for each in page.messages),
        empty="There are no such messages." if before is None else "There are no older ones.",
    )
    output.tell_older(page.older)


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


@message.command("show")
@click.argument("message_id", metavar="ID")
@asks(messages.SHOW)
def message_show(story: MessageStory) -> None:
    """Show a message and its timeline, with the carriers' own words.

    \b
    Example: risala message show sms_…
    """
    output.fields(_fields(story.message, story.part))
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
            for entry in story.timeline
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
        "flash": "yes: the phone does not keep it" if shown.message_class == 0 else None,
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
