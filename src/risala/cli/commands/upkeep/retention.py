"""How long things are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
_WHAT: Final = {
    "texts": "Texts of messages",
    "timelines": "Timelines of messages",
    "events": "Events and their deliveries",
    "inbound": "Received messages",
}


@click.group()
def retention() -> None:
    """How long things are kept (`[retention]` in the settings).

    \b
    Example: risala retention show
    """


@retention.command("show")
@common
def retention_show(options: Options) -> None:
    """What is kept for how long, and the oldest that is there.

    \b
    Example: risala retention show
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform("retention.show")

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("What", "Kept", "Oldest", ""),
        (
            (
                _WHAT[rule["name"]],
                "for ever" if rule["days"] is None else output.counted(rule["days"], "day"),
                output.moment(rule["oldest"]),
                "overdue: `risala retention run`" if rule["overdue"] else "",
            )
            for rule in found["rules"]
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

    async def work(session: GatewaySession) -> Json:
        return await forget(session.perform)

    done = options.run(work)
    if output.show(options.json, done):
        return
    for name, rows in done["forgot"].items():
        output.said(f"{_WHAT[name]}: {rows} forgotten.")


async def forget(perform: Callable[..., Awaitable[Json]]) -> Json:
    """Request one unit after the other; returns their results, by rule."""
    gone: Counter[str] = Counter()
    following: Json | None = {}
    while following is not None:
        step = await perform("retention.run", **following)
        gone[step["name"]] += step["rows"]
        following = step["next"]
    return {"forgot": dict(gone)}
