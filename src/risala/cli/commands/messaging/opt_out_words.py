"""Words of opt-outs, the answers to them, and what networks ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.asking import asks, without_missing
from risala.cli.commands.accounts.organizations import optional_org, org_option, organization_id
from risala.cli.commands.messaging.recipient_lists import list_id_of
from risala.cli.reach.options import number_option
from risala.cli.show import output
from risala.engine.features.opt_out_words.records import (
    ADD_WORD,
    ANSWER,
    DEMAND,
    DEMANDS,
    LIST_BACK,
    LIST_OUT,
    REMOVE_WORD,
    WORDS,
    Demands,
    ListRecipient,
    OptOutWords,
)

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

_LANGUAGE = click.Choice(("en", "fr", "ar"))
_ROLE = click.Choice(("stop", "start", "help", "list"))
_NOTE = click.option("--note", help="How they asked for it; the audit trail keeps it.")


async def _with_list(session: GatewaySession, values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an operation that names a list by its id or name."""
    arguments = without_missing(values)
    whose = await organization_id(session, arguments.pop("org", None))
    if (name := arguments.pop("list_id", None)) is not None:
        arguments["list_id"] = await list_id_of(session, whose, name)
    return {**arguments, "organization_id": whose}


def _show(shown: OptOutWords) -> None:
    settings = shown.settings
    output.fields(
        {
            "applies": "yes" if shown.heeds else "no: risala inbound opt-outs --heed",
            "sets": ", ".join(settings.sets) or "none",
            "answered": ", ".join(settings.answered) or "nothing",
            "back": settings.back.value,
        }
    )
    output.table(
        ("Word", "Means", "Language", "Why", "List", "Routed"),
        (
            (
                *(each.word, each.role.value, each.language, each.source.value),
                *(each.list_name or "", "yes" if each.routed else ""),
            )
            for each in shown.words
        ),
        empty="No word counts.",
    )
    output.table(
        ("Answer", "Language", "Parts", "Sent", "Text"),
        (
            (
                *(each.role.value, each.language, each.parts),
                *("yes" if each.is_sent else "", each.text),
            )
            for each in shown.answers
        ),
        empty="Nothing is answered.",
    )


@click.command("words")
@optional_org
@click.option("--sets", metavar="LANGUAGES", help="Usual words that count, as en,fr,ar.")
@click.option("--answered", metavar="KINDS", help="What is answered, as stop,start,help.")
@click.option(
    "--back",
    type=click.Choice(("person", "own", "hand")),
    help="Who takes an opt-out back: the person by START, also after a note (person) or not (own);"
    " or only members (hand).",
)
@asks(WORDS)
def words(shown: OptOutWords) -> None:
    """Show the words of an organization's opt-outs and the answers to them, or choose them.

    \b
    Examples:
      risala inbound words
      risala inbound words "My shop" --sets fr,ar --answered stop,help
    """
    _show(shown)


@click.command("add-word")
@click.argument("word")
@org_option
@click.option("--means", "role", type=_ROLE, default="stop", show_default=True)
@click.option("--language", type=_LANGUAGE, default="fr", show_default=True, help="Of the answer.")
@click.option("--list", "list_id", metavar="LIST", help="The list that a word of a list names.")
@asks(ADD_WORD, arguments=_with_list)
def add_word(shown: OptOutWords) -> None:
    """Let WORD opt people of an organization out or in, ask for help, or name a list.

    \b
    Examples:
      risala inbound add-word TERMINE --language fr
      risala inbound add-word NEWS --means list --list Parents
    """
    _show(shown)


@click.command("remove-word")
@click.argument("word")
@org_option
@asks(REMOVE_WORD)
def remove_word(shown: OptOutWords) -> None:
    """Take away WORD, one of an organization's own.

    \b
    Example: risala inbound remove-word NEWS
    """
    _show(shown)


@click.command("answer")
@click.argument("text", default="")
@org_option
@click.option("--to", "role", type=_ROLE, default="stop", show_default=True)
@click.option("--language", type=_LANGUAGE, default="fr", show_default=True)
@click.option("--preview", is_flag=True, default=None, help="Only show what would be sent.")
@asks(ANSWER)
def answer(shown: OptOutWords) -> None:
    """Answer an opt-out with TEXT; without TEXT, with the usual one again.

    TEXT may have {{organization}}, {{list}}, {{stop}} and {{start}} in it.

    \b
    Example: risala inbound answer "{{organization}}: fini. {{start}} pour revenir."
    """
    _show(shown)


def _show_demands(shown: Demands) -> None:
    output.table(
        ("Prefix", "Confirmation", "Sets", "Set (UTC)", "By"),
        (
            (
                *(each.prefix, each.confirmation.value, ", ".join(each.sets)),
                *(output.at(each.set_at), each.set_by),
            )
            for each in shown.demands
        ),
        empty="No network asks for anything.",
    )


@click.command("demands")
@asks(DEMANDS)
def demands(shown: Demands) -> None:
    """List what networks and countries ask for of opt-outs.

    \b
    Example: risala inbound demands
    """
    _show_demands(shown)


@click.command("demand")
@click.argument("prefix")
@click.option("--confirmation", type=click.Choice(("free", "required", "forbidden")))
@click.option("--sets", metavar="LANGUAGES", help="Usual words that count, as en,fr,ar.")
@asks(DEMAND)
def demand(shown: Demands) -> None:
    """Set what numbers that begin with PREFIX ask for; without options it ends.

    Organizations cannot switch it off.

    \b
    Examples:
      risala inbound demand +33 --confirmation required --sets fr
      risala inbound demand +33
    """
    _show_demands(shown)


@click.command("opt-out")
@click.argument("list_id", metavar="LIST")
@click.argument("number", callback=number_option)
@org_option
@_NOTE
@asks(LIST_OUT, arguments=_with_list)
def list_opt_out(done: ListRecipient) -> None:
    """Opt NUMBER out of the messages of LIST alone, because its owner asked for it.

    \b
    Example: risala list opt-out Parents NUMBER
    """
    output.said(f"{done.number} gets no more messages of this list while opt-outs apply.")


@click.command("opt-in")
@click.argument("list_id", metavar="LIST")
@click.argument("number", callback=number_option)
@org_option
@_NOTE
@asks(LIST_BACK, arguments=_with_list)
def list_opt_in(done: ListRecipient) -> None:
    """Undo the opt-out of NUMBER from LIST, because its owner asked for it.

    \b
    Example: risala list opt-in Parents NUMBER
    """
    output.said(f"{done.number} can get messages of this list again.")
