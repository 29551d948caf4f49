"""Texts of the operator's own, by a named carrier."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.reach.options import Options, TypedNumber, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.own_texts.feature import ANSWERS, TEXT, OperatorText, ServiceReplies

TRIAL = "Risala: this carrier works."


@click.command("text")
@click.argument("carrier", metavar="NAME")
@click.argument("number")
@click.argument("text")
@common
def text(options: Options, carrier: str, number: str, text: str) -> None:
    """Send TEXT to NUMBER by a carrier, as yourself: no organization sends it, and nobody pays.

    NUMBER may be a short code, or a service number. What it writes back within a month is for no
    customer: `risala carriers answers NAME` lists it.

    \b
    Example: risala carriers text sim-1 NUMBER "BALANCE"
    """
    _send(options, carrier, number, text)


@click.command("answers")
@click.argument("carrier", metavar="NAME")
@asks(ANSWERS)
def answers(listed: ServiceReplies) -> None:
    """List what short codes and service numbers wrote back to your texts by a carrier: the latest
    twenty.

    \b
    Example: risala carriers answers sim-1
    """
    output.table(
        ("Received (UTC)", "From", "Text"),
        ((output.at(each.received_at), each.sender, each.text) for each in listed.answers),
        empty="Nothing has come back.",
    )


@click.command("try")
@click.argument("carrier", metavar="NAME")
@click.argument("number")
@common
def try_(options: Options, carrier: str, number: str) -> None:
    """Send one real text to NUMBER, your own phone, by a carrier; exit code 1 if it was not taken.

    \b
    Example: risala carriers try aggregator NUMBER
    """
    _send(options, carrier, number, TRIAL)


def _send(options: Options, carrier: str, number: str, text: str) -> None:
    try:
        number = options.number(TypedNumber(number, "NUMBER"))
    except click.BadParameter:  # a short code, or a country that is not served
        number = "".join(number.split())
    reply = options.ask(TEXT, carrier=carrier, number=number, text=text)
    if not output.show(options.json, reply.json):
        _tell(reply.value, is_service=not number.startswith("+"))
    if reply.value.outcome != "accepted":
        is_known = reply.value.outcome != "uncertain"
        raise CommandRefused(
            "It was not sent."
            if is_known
            else "Nobody knows whether it was sent: ask whoever should get it."
        )


def _tell(sent: OperatorText, *, is_service: bool) -> None:
    output.fields({"Carrier": sent.carrier, "Answer": sent.raw, "Id": sent.carrier_id})
    click.echo(output.clean(sent.text))
    if sent.outcome == "accepted":
        output.said(f"A receipt for it is listed by `risala carriers unmatched {sent.carrier}`.")
        if is_service:
            output.said(f"Answers are listed by `risala carriers answers {sent.carrier}`.")
