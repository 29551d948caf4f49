"""Alarms until somebody answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.features.alarms import records
from risala.engine.features.alarms.records import (
    AlarmChain,
    AlarmChains,
    AlarmState,
    AlarmView,
    ChainView,
    RaisedAlarm,
)

CHAIN: Final = click.argument("chain_id", metavar="CHAIN")
ALARM: Final = click.argument("alarm_id", metavar="ALARM")
_OPTIONS: Final = (
    click.option(
        "--person",
        "people",
        metavar="LINE",
        multiple=True,
        help="A number, then perhaps a shift: 'NUMBER mon-fri 08:00-18:00'; in their order.",
    ),
    click.option(
        "--interval", "interval_seconds", type=int, help="Seconds until the next person; 300."
    ),
    click.option("--rounds", type=int, help="How often each is written to; 3."),
    click.option("--word", help="The word that stops an alarm; OK."),
    click.option("--language", type=click.Choice(("en", "fr", "ar")), help="Of what asks for it."),
    click.option("--from", "sender", metavar="SENDER", help="One that people can answer."),
)


def _chain_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("alarm")
def alarm() -> None:
    """Write to people one after the other, until one of them answers.

    \b
    Examples:
      risala alarm create "Cold room" --person NUMBER --person "OTHER mon-fri 08:00-18:00"
      risala alarm raise CHAIN "The cold room is at 9 degrees."
    """


@alarm.command("create")
@click.argument("name")
@org_option
@_chain_options
@asks(records.CREATE)
def alarm_create(made: AlarmChain) -> None:
    """Make a chain: the people to write to, in order.

    \b
    Example: risala alarm create "Cold room" --person NUMBER --person "OTHER sat,sun"
    """
    output.said(f"The chain {made.id} ({output.clean(made.name)}) is made.")


@alarm.command("list")
@org_option
@asks(records.LIST)
def alarm_list(listed: AlarmChains) -> None:
    """List the chains, and the alarms that nobody has answered yet.

    \b
    Example: risala alarm list
    """
    output.table(
        ("Id", "Name", "People", "Every", "Rounds", "Word"),
        (
            (
                each.id,
                each.name,
                len(each.people),
                f"{each.interval_seconds} s",
                each.rounds,
                each.word,
            )
            for each in listed.chains
        ),
        empty="There is no chain. Make one with `risala alarm create NAME --person NUMBER`.",
    )
    if listed.going:
        _raised(listed.going)


def _raised(alarms: tuple[RaisedAlarm, ...]) -> None:
    output.table(
        ("Alarm", "State", "Steps", "Raised (UTC)", "Text"),
        ((e.id, e.state.value, e.steps, output.at(e.raised_at), e.text) for e in alarms),
        empty="",
    )


@alarm.command("show")
@CHAIN
@asks(records.SHOW)
def alarm_show(view: ChainView) -> None:
    """Show a chain: who is on duty now, and its alarms.

    \b
    Example: risala alarm show CHAIN
    """
    one = view.chain
    output.fields(
        {
            "id": one.id,
            "name": one.name,
            "every": f"{one.interval_seconds} s",
            "rounds": str(one.rounds),
            "word": one.word,
            "language": one.language.value,
            "sender": one.sender or "the service's",
            "time zone": view.time_zone,
        }
    )
    output.table(
        ("Person", "On duty now"),
        ((line, "yes" if line.split()[0] in view.on_duty else "") for line in one.people),
        empty="Nobody.",
    )
    if view.alarms:
        _raised(view.alarms)


@alarm.command("set")
@CHAIN
@click.option("--name", help="Another name.")
@_chain_options
@asks(records.SET)
def alarm_set(changed: AlarmChain) -> None:
    """Change the given values; people are replaced as a whole.

    \b
    Example: risala alarm set CHAIN --interval 120
    """
    output.said(f"The chain {output.clean(changed.name)} is changed.")


says(
    alarm,
    "delete",
    CHAIN,
    records.DELETE,
    lambda deleted: f"The chain {output.clean(deleted.name)} is deleted, with its alarms.",
    does="Delete a chain with its alarms; one that goes on ends.",
    example="CHAIN",
)


@alarm.command("raise")
@CHAIN
@click.argument("text")
@mode_option("Test messages use no carrier, and cost nothing.")
@asks(records.RAISE)
def alarm_raise(raised: RaisedAlarm) -> None:
    """Write to the people of a chain, one after the other, until one answers.

    \b
    Example: risala alarm raise CHAIN "The cold room is at 9 degrees."
    """
    output.said(f"The alarm {raised.id} is raised.")


@alarm.command("steps")
@ALARM
@asks(records.STEPS)
def alarm_steps(view: AlarmView) -> None:
    """Show an alarm with each of its steps.

    \b
    Example: risala alarm steps ALARM
    """
    one = view.alarm
    ended = "" if one.ended_at is None else f" at {output.at(one.ended_at)} UTC"
    by = "" if one.ended_by is None else f" by {one.ended_by}"
    output.fields(
        {
            "id": one.id,
            "chain": view.chain_name,
            "text": one.text,
            "state": f"{one.state.value}{by}{ended}",
            "raised": f"at {output.at(one.raised_at)} UTC by {one.raised_by}",
            "next step": None if one.state is not AlarmState.GOING else output.at(one.next_at),
        }
    )
    output.table(
        ("Step", "At (UTC)", "Number", "Outcome", "Message"),
        (
            (e.step, output.at(e.at), e.number or "erased", _outcome(e), e.message_id or "")
            for e in view.past
        ),
        empty="Nobody was written to yet.",
    )


def _outcome(step: records.AlarmStep) -> str:
    return step.outcome.value if step.why is None else f"{step.outcome.value}: {step.why}"


says(
    alarm,
    "end",
    ALARM,
    records.END,
    lambda ended: f"The alarm {ended.id} has ended.",
    does="End an alarm: it writes to nobody any more.",
    example="ALARM",
)
