"""A verification in which the user sends a text, or calls, and so proves the number."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks, mode_option
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.reach.options import number_option
from risala.cli.show import output
from risala.engine.model.records.verify.sessions import START, Method, StartedReverse


@click.command("start")
@click.argument("to", required=False, callback=number_option)
@org_option
@click.option(
    "--method",
    type=click.Choice([each.value for each in Method]),
    default=Method.INBOUND_SMS.value,
    show_default=True,
    help="Whether the user sends a text, or calls and is not answered.",
)
@click.option("--locale", metavar="LANGUAGE", help="The language of the page, such as fr or ar.")
@mode_option("A test: the text comes by itself, and the page is the same.")
@asks(START)
def start(started: StartedReverse) -> None:
    """Let a user prove the number TO by a text that they send, or a call.

    Without TO the number that sends the text is proven.

    \b
    Examples:
      risala verify start NUMBER
      risala verify start NUMBER --method missed_call
    """
    output.fields(
        {
            "id": started.verification_id,
            "status": started.status,
            "call" if started.text is None else "send to": started.send_to,
            "text": started.text,
            "page": started.page,
            "expires": output.at(started.expires_at),
        }
    )
