"""Rules that answer texts by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from risala.cli.commands.accounts.asking import asks, says
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.features.answers import rule_records as records
from risala.engine.features.answers.rule_records import (
    DAYS,
    AnswerRule,
    AnswerRules,
    PausedNumber,
    TriedText,
)
from risala.engine.model.people import Language

RULE: Final = click.argument("rule_id", metavar="RULE")
_OPTIONS: Final = (
    click.option("--place", type=int, help="Where it stands among the rules, from 1."),
    click.option("--on/--off", "enabled", default=None, help="Whether it answers."),
    click.option(
        "--keyword", "keywords", multiple=True, help="A word that the text has; may be repeated."
    ),
    click.option(
        "--anywhere/--first-word", default=None, help="Where the word stands; usually first."
    ),
    click.option(
        "--first-contact/--each-text", default=None, help="Only the first text of a number."
    ),
    click.option("--day", "days", type=click.Choice(DAYS), multiple=True),
    click.option("--from", "from_time", metavar="HH:MM", help="From this time of day on."),
    click.option("--until", "to_time", metavar="HH:MM", help="Until before this time of day."),
    click.option("--language", type=click.Choice([each.value for each in Language])),
    click.option("--fr", "text_fr", metavar="TEXT", help="The answer in French."),
    click.option("--ar", "text_ar", metavar="TEXT", help="The answer in Arabic."),
    click.option("--en", "text_en", metavar="TEXT", help="The answer in English."),
    click.option(
        "--forward-number", metavar="NUMBER", help="Forward the text as an SMS; '': no more."
    ),
    click.option("--forward-email", metavar="EMAIL", help="Forward it to a member; '': no more."),
    click.option(
        "--forward-chat", metavar="CHAT", help="Forward it to a Telegram chat; '': no more."
    ),
    click.option(
        "--bot-token",
        metavar="TOKEN",
        envvar="RISALA_BOT_TOKEN",
        help="Your bot's token, for the chat; better in RISALA_BOT_TOKEN.",
    ),
    click.option("--forward-url", metavar="URL", help="Forward it to a webhook; '': no more."),
    click.option(
        "--forward-secret",
        metavar="SECRET",
        envvar="RISALA_FORWARD_SECRET",
        help="Signs the webhook's calls; better in RISALA_FORWARD_SECRET.",
    ),
)


def _rule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("answer")
def answer() -> None:
    """Answer texts that come in without a program, by rules.

    \b
    Examples:
      risala answer create Hours --keyword horaires --fr "De 8 h à 19 h."
      risala answer try "Vos horaires ?"
    """


@answer.command("create")
@click.argument("name")
@org_option
@_rule_options
@asks(records.CREATE)
def answer_create(made: AnswerRule) -> None:
    """Make a rule.

    \b
    Example: risala answer create Hours --keyword horaires --fr "De 8 h à 19 h."
    """
    output.said(f"The rule {made.id} ({output.clean(made.name)}) stands at place {made.place}.")


@answer.command("list")
@org_option
@asks(records.LIST)
def answer_list(listed: AnswerRules) -> None:
    """List the rules in their order, and numbers to which no answers leave for a day.

    \b
    Example: risala answer list
    """
    output.table(
        ("Place", "Id", "Name", "On", "Keywords", "Hours", "Answers in"),
        (
            (
                *(each.place, each.id, each.name, "on" if each.enabled else "off"),
                *(", ".join(each.keywords) or "any text", _hours(each), _languages(each)),
            )
            for each in listed.rules
        ),
        empty="There are no rules. Make one with `risala answer create NAME`.",
    )
    if listed.paused:
        output.table(
            ("Paused number", "Until (UTC)"),
            ((each.number, output.at(each.until)) for each in listed.paused),
            empty="",
        )


def _hours(rule: AnswerRule) -> str:
    days = ", ".join(rule.days)
    if rule.from_time is None and rule.to_time is None:
        return days
    return f"{days} {rule.from_time or '00:00'}-{rule.to_time or '24:00'}".strip()


def _languages(rule: AnswerRule) -> str:
    texts = {"fr": rule.text_fr, "ar": rule.text_ar, "en": rule.text_en}
    return ", ".join(each for each, text in texts.items() if text.strip()) or "nothing"


@answer.command("show")
@RULE
@asks(records.SHOW)
def answer_show(rule: AnswerRule) -> None:
    """Show a rule.

    \b
    Example: risala answer show RULE
    """
    forwards = (rule.forward_number, rule.forward_email, rule.forward_chat, rule.forward_url)
    output.fields(
        {
            "id": rule.id,
            "name": rule.name,
            "place": str(rule.place),
            "on": "yes" if rule.enabled else "no",
            "keywords": ", ".join(rule.keywords) or "any text",
            "word": "anywhere" if rule.anywhere else "first",
            "texts": "the first of a number" if rule.first_contact else "all",
            "hours": _hours(rule) or "always",
            "language": rule.language,
            "French": rule.text_fr,
            "Arabic": rule.text_ar,
            "English": rule.text_en,
            "forwards to": ", ".join(filter(None, forwards)) or "nobody",
        }
    )


@answer.command("set")
@RULE
@click.option("--name", help="Another name.")
@_rule_options
@asks(records.SET)
def answer_set(rule: AnswerRule) -> None:
    """Change the given values of a rule.

    \b
    Example: risala answer set RULE --off
    """
    output.said(f"The rule {output.clean(rule.name)} is changed; its place is {rule.place}.")


says(
    answer,
    "delete",
    RULE,
    records.DELETE,
    lambda deleted: f"The rule {output.clean(deleted.name)} is deleted.",
    does="Delete a rule. What it answered stays as it is.",
    example="RULE",
)


@answer.command("try")
@click.argument("text")
@org_option
@click.option("--number", help="Who writes; without it, somebody who has not written yet.")
@asks(records.TRY)
def answer_try(tried: TriedText) -> None:
    """Say what TEXT would be answered now, and where it would go; nothing is sent.

    \b
    Example: risala answer try "Vos horaires ?"
    """
    if tried.rule is None:
        output.said("No rule answers this text.")
    elif tried.answer is None:
        output.said(f"Nothing is answered, by the rule {output.clean(tried.rule.name)}.")
    else:
        output.said(f"The answer of the rule {output.clean(tried.rule.name)}:")
        output.said(tried.answer)
    for each in tried.forwards:
        parts = "" if each.segments is None else f", {output.counted(each.segments, 'part')}"
        reason = f" {each.reason}" if each.reason else ""
        output.said(f"By {each.kind} to {output.clean(each.target)}{parts}.{reason}")


@answer.command("resume")
@click.argument("number")
@org_option
@asks(records.RESUME)
def answer_resume(resumed: PausedNumber) -> None:
    """Let automatic answers to NUMBER leave again after two within an hour.

    \b
    Example: risala answer resume NUMBER
    """
    output.said(f"Automatic answers to {resumed.number} leave again.")
