"""Mailings that repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.features.repeats import records
from risala.engine.features.repeats.records import (
    DAYS,
    MailingRepeat,
    MailingRepeats,
    RepeatRun,
    RepeatUnit,
    RepeatView,
    RunOutcome,
)

REPEAT: Final = click.argument("repeat_id", metavar="REPEAT")
_UNITS: Final = click.Choice([each.value for each in RepeatUnit])
_OPTIONS: Final = (
    click.option("--every", type=int, help="Every so many units; usually 1."),
    click.option("--day", "days", type=click.Choice(DAYS), multiple=True, help="With weeks."),
    click.option(
        "--month-day",
        "month_days",
        type=int,
        multiple=True,
        help="With months: 1 to 31; in a shorter month its last day.",
    ),
    click.option("--until", metavar="DATE", help="The last day; '': none."),
    click.option("--count", type=int, help="So many runs; 0: without end."),
    click.option("--from", "sender", metavar="SENDER", help="The sender."),
    click.option("--pace", type=int, help="Messages a minute."),
    click.option("--from-hour", type=int, help="The hour from which its mailings send; 8."),
    click.option("--to-hour", type=int, help="The hour until which its mailings send; 20."),
)
_NOTES: Final = {
    "short_month": "the month has no such day: its last one",
    "skipped_hour": "the clocks skip this hour: it is later",
    "second_hour": "the hour comes twice: the first",
}


def _repeat_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("repeat")
def repeat() -> None:
    """Send a mailing to a list again and again, in the organization's time zone.

    \b
    Examples:
      risala repeat create Rent --list LIST --text Due --unit weeks --day mon --time 10:00
      risala repeat show REPEAT
    """


@repeat.command("create")
@click.argument("name")
@org_option
@mode_option("Test mailings use no carrier, and cost nothing.")
@click.option("--list", "list_id", metavar="LIST", required=True, help="To whom.")
@click.option("--text", required=True, help="{{name}}: what the list's column has for each person.")
@click.option("--unit", type=_UNITS, required=True)
@click.option("--time", metavar="HH:MM", required=True, help="The time of day.")
@click.option("--starts-on", metavar="DATE", help="The first day; usually today.")
@_repeat_options
@asks(records.CREATE)
def repeat_create(made: MailingRepeat) -> None:
    """Repeat a mailing; each run is a mailing of its own, to the list as it is then.

    \b
    Example: risala repeat create Rent --list LIST --text Due --unit weeks --day mon --time 10:00
    """
    output.said(
        f"The repeat {made.id} ({output.clean(made.name)}) begins at {output.at(made.next_at)} UTC."
    )


@repeat.command("list")
@org_option
@asks(records.LIST)
def repeat_list(listed: MailingRepeats) -> None:
    """List the mailings that repeat: the next due first, then those that rest.

    \b
    Example: risala repeat list
    """
    output.table(
        ("Id", "Name", "State", "When", "Runs", "Next (UTC)"),
        (
            (each.id, each.name, _state(each), _when(each), each.runs, output.at(each.next_at))
            for each in listed.repeats
        ),
        empty="No mailing repeats. Make one with `risala repeat create NAME`.",
    )


def _state(repeat: MailingRepeat) -> str:
    reason = "" if repeat.reason is None else f" ({repeat.reason.value.replace('_', ' ')})"
    return f"{repeat.state.value}{reason}"


def _when(repeat: MailingRepeat) -> str:
    days = ", ".join(repeat.days or map(str, repeat.month_days))
    every = repeat.unit.value[:-1] if repeat.every == 1 else f"{repeat.every} {repeat.unit.value}"
    return f"every {every}{' on ' if days else ''}{days} at {repeat.time}"


@repeat.command("show")
@REPEAT
@asks(records.SHOW)
def repeat_show(view: RepeatView) -> None:
    """Show one with its next runs, and those that were due.

    \b
    Example: risala repeat show REPEAT
    """
    one = view.repeat
    output.fields(
        {
            "id": one.id,
            "name": one.name,
            "state": _state(one),
            "when": f"{_when(one)} ({view.time_zone})",
            "from": one.starts_on,
            "until": one.until or "no last day",
            "runs": str(one.runs) if one.count is None else f"{one.runs} of {one.count}",
            "list": one.list_id,
            "sender": one.sender or "the service's",
            "text": one.text,
        }
    )
    output.table(
        ("Next (UTC)", "Note"),
        ((output.at(each.at), _NOTES.get(each.note or "", "")) for each in view.upcoming),
        empty="No run is to come.",
    )
    if view.past:
        output.table(
            ("Was due (UTC)", "Outcome", "Mailing"),
            ((output.at(e.due_at), _outcome(e), e.mailing_id or "") for e in view.past),
            empty="",
        )


def _outcome(run: RepeatRun) -> str:
    if run.outcome is RunOutcome.MISSED:
        return f"{output.counted(run.missed, 'run')} missed: the service was not there"
    word = run.outcome.value.replace("_", " ")
    return word if run.why is None else f"{word}: {run.why}"


@repeat.command("set")
@REPEAT
@click.option("--name", help="Another name.")
@click.option("--list", "list_id", metavar="LIST", help="To whom.")
@click.option("--text", help="Another text.")
@click.option("--unit", type=_UNITS)
@click.option("--time", metavar="HH:MM", help="The time of day.")
@_repeat_options
@asks(records.SET)
def repeat_set(changed: MailingRepeat) -> None:
    """Change the given values; runs that have begun stay as they are.

    \b
    Example: risala repeat set REPEAT --time 09:00
    """
    output.said(f"The repeat {output.clean(changed.name)} is changed.")


says(
    repeat,
    "pause",
    REPEAT,
    records.PAUSE,
    lambda paused: f"The repeat {output.clean(paused.name)} is paused.",
    does="Pause a repeat. Runs that come due meanwhile do not take place, also later.",
    example="REPEAT",
)
says(
    repeat,
    "go-on",
    REPEAT,
    records.GO_ON,
    lambda going: (
        f"The repeat {output.clean(going.name)} goes on at {output.at(going.next_at)} UTC."
    ),
    does="Go on with the next run from now.",
    example="REPEAT",
)
says(
    repeat,
    "end",
    REPEAT,
    records.END,
    lambda ended: f"The repeat {output.clean(ended.name)} has ended.",
    does="End a repeat for good. Mailings that have begun go on.",
    example="REPEAT",
)
says(
    repeat,
    "delete",
    REPEAT,
    records.DELETE,
    lambda deleted: f"The repeat {output.clean(deleted.name)} is deleted.",
    does="Delete a repeat with its list of runs. Its mailings stay.",
    example="REPEAT",
)
