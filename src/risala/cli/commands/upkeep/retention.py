"""How long things are kept."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.features.own_data.records import RETENTION_RUN, RETENTION_SHOW, RetentionRules
from risala.engine.model.records.record import shallow

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

_WHAT: Final = {
    "texts": "Texts of messages",
    "timelines": "Timelines of messages",
    "events": "Events and their deliveries",
    "inbound": "Received messages",
    "mailings": "Files and rows of mailings",
}


@click.group()
def retention() -> None:
    """How long things are kept (`[retention]` in the settings).

    \b
    Example: risala retention show
    """


@retention.command("show")
@asks(RETENTION_SHOW)
def retention_show(rules: RetentionRules) -> None:
    """What is kept for how long, and the oldest that is there.

    \b
    Example: risala retention show
    """
    output.table(
        ("What", "Kept", "Oldest", ""),
        (
            (
                _WHAT[rule.name],
                "for ever" if rule.days is None else output.counted(rule.days, "day"),
                output.at(rule.oldest),
                "overdue: `risala retention run`" if rule.overdue else "",
            )
            for rule in rules.rules
        ),
        empty="",
    )


@retention.command("run")
@common
def retention_run(options: Options) -> None:
    """Forget now what is older; the service does so by itself, every hour.

    \b
    Example: risala retention run
    """

    gone = options.run(_forget)
    if output.show(options.json, {"forgot": gone}):
        return
    for name, rows in gone.items():
        output.said(f"{_WHAT[name]}: {rows} forgotten.")


async def _forget(session: GatewaySession) -> Counter[str]:
    """Request one unit after the other; returns their results, by rule."""
    gone: Counter[str] = Counter()
    arguments: dict[str, Any] = {}
    while True:
        step = (await session.ask(RETENTION_RUN, **arguments)).value
        gone[step.name] += step.rows
        if step.next is None:
            return gone
        arguments = shallow(step.next)
