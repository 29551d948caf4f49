"""The life of each message on the screen, as it happens; plain if there is no terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final

import trio
from rich.console import Console
from rich.text import Text

from risala.engine.actors.broadcast import Subscription
from risala.engine.model.commands import LifeEvent
from risala.engine.model.following import Lagged
from risala.engine.model.sentences import sentence
from risala.engine.model.times import iso

_STYLE: Final = {
    "pending": "cyan",
    "processing": "yellow",
    "sent": "blue",
    "delivered": "bold green",
    "undelivered": "bold red",
    "failed": "bold red",
    "canceled": "magenta",
}
_PLACE: Final = 11
"""Columns for the status: as wide as the longest one, so that the sentences are aligned."""


def life_line(event: LifeEvent) -> Text:
    """One change as one line: time, message, number, status, description."""
    line = Text()
    line.append(iso(event.at)[11:23], style="dim")
    line.append(f"  …{event.message_id[-8:]}  {event.to}  ")
    line.append(event.status.ljust(_PLACE), style=_STYLE.get(event.status, ""))
    line.append(f"  {sentence(event)}")
    if event.raw:
        line.append(f"  ({event.raw})", style="dim")
    return line


async def print_life(
    console: Console,
    watch: AbstractContextManager[Subscription[LifeEvent]],
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Print every change until cancelled; if some were missed because the screen was too slow,
    print how many."""
    with watch as events:
        task_status.started()
        async for event in events:
            if isinstance(event, Lagged):
                console.print(Text(f"… {event.lost} changes not shown …", style="dim"))
            else:
                console.print(life_line(event), soft_wrap=True)
