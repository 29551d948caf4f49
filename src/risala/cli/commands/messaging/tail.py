"""``risala tail``: events, as they happen."""

from __future__ import annotations

import json
import os
import sys
from collections import OrderedDict
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.organizations import organization_id
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.reach.signals import until_signal
from risala.cli.show import output
from risala.engine.model.following import Lagged
from risala.engine.model.records.messages import MessageChange
from risala.engine.model.records.record import from_json
from risala.engine.model.records.webhooks import EventHead
from risala.engine.model.times import iso

if TYPE_CHECKING:
    from risala.cli.reach.client import StreamEvent
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
AGAIN_S: Final = 0.2
"""Seconds between two looks for a service that went away."""
SEEN_MAX: Final = 2000
"""Messages and events whose last line is kept in memory: after a gap the same may come twice."""
_COLOURS: Final = {
    "pending": "cyan",
    "processing": "yellow",
    "sent": "blue",
    "delivered": "green",
    "undelivered": "red",
    "failed": "red",
    "canceled": "magenta",
}
_PLACE: Final = max(map(len, _COLOURS))


@click.command()
@click.option(
    "--events", is_flag=True, help="Show the events that webhooks carry, not every change."
)
@click.option("--org", metavar="ORG", help="Only of this organization, its id or name.")
@common
def tail(options: Options, events: bool, org: str | None) -> None:
    """Follow the life of all messages while the service runs; Ctrl-C ends it.

    When the service goes away it waits for it, and goes on where it was. With --json one object a
    line: its "kind" is life, event, ready (nothing is missing from here on), lagged (this reader
    was too slow; what it missed follows), reset (what is missing is too much) or away.

    \b
    Examples:
      risala tail
      risala tail --events --org "My shop" --json
    """
    data_dir = options.data_settings().storage.data_dir

    async def work(session: GatewaySession) -> None:
        if not session.running:
            raise CommandRefused("The service is not running, so there is nothing to follow.")
        organization = None if org is None else await organization_id(session, org)
        teller = Teller("events" if events else "life", options.json)
        async with until_signal():
            await _follow(data_dir, organization, teller)

    options.run(work, waits=True)


async def _follow(data_dir: Path, organization: str | None, teller: Teller) -> None:
    """Follow one service after the other on the data directory, while the output is open."""
    import trio

    from risala.cli.reach.client import NotListening, connect

    position: str | None = None
    while True:
        try:
            # Looked for by its socket and never by the lock, which a starting service must find
            # free.
            async with (
                connect(data_dir) as service,
                aclosing(service.tail(teller.what, organization, position)) as stream,
            ):
                async for event in stream:
                    position = event.id or position
                    if not teller.tell(event):
                        return
        except NotListening:
            pass
        if not teller.tell_away():
            return
        await trio.sleep(AGAIN_S)


class Teller:
    """Writes events to stdout, and for people gaps to stderr."""

    def __init__(self, what: str, as_json: bool) -> None:
        self.what = what
        self._closed = False
        self._json = as_json
        self._away = False
        self._seen: OrderedDict[str, str] = OrderedDict()

    def tell(self, event: StreamEvent) -> bool:
        """Print one event, unless it was the last one printed of its message or event.

        Returns:
            False if the output is closed.
        """
        if self._is_known(event):
            return True
        if self._json:
            self._write(_json({"kind": event.kind, **_members(event)}))
        elif event.kind == "life":
            self._write(_life(from_json(MessageChange, event.data)))
        elif event.kind == "event":
            self._write(_event(event.data))
        elif (text := self._gap(event)) is not None:
            output.warned(text)
        self._away = False
        return not self._closed

    def tell_away(self) -> bool:
        """Print once that the service is away; False if the output is closed."""
        if self._away:
            return True
        self._away = True
        if self._json:
            self._write(_json({"kind": "away"}))
        else:
            output.warned("… the service stopped; waiting for it …")
        return not self._closed

    def _write(self, line: str) -> None:
        try:
            click.echo(line)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._closed = True  # the pipe is closed

    def _is_known(self, event: StreamEvent) -> bool:
        key = event.data.get("messageId" if event.kind == "life" else "id")
        if key is None:
            return False
        value = json.dumps(event.data)
        known = self._seen.pop(key, None) == value
        self._seen[key] = value
        if len(self._seen) > SEEN_MAX:
            self._seen.popitem(last=False)
        return known

    def _gap(self, event: StreamEvent) -> str | None:
        match event.kind:
            case "lagged" if self.what == "events":
                return "… this reader was too slow; the missed events follow …"
            case "lagged":
                changes = output.counted(from_json(Lagged, event.data).lost, "change")
                return (
                    f"… this reader was too slow for {changes}; the current status of each "
                    f"message follows …"
                )
            case "reset":
                back = "the service is back; " if self._away else ""
                return f"… {back}too much happened in the meantime to show it …"
            case "ready" if self._away:
                return "… the service is back; what happened in the meantime follows …"
        return None


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _members(event: StreamEvent) -> Json:
    if event.kind == "event":
        return {"organizationId": event.data.get("organizationId"), "event": event.data}
    return event.data


def _life(change: MessageChange) -> str:
    status = click.style(change.status.ljust(_PLACE), fg=_COLOURS.get(change.status))
    raw = f"  ({change.raw})" if change.raw else ""
    where = f"{iso(change.at)[11:23]}  {change.message_id}  {change.to}"
    return f"{where}  {status}  {output.clean(change.text + raw)}"


_SHOWN: Final = frozenset(
    {
        *("messageId", "verificationId", "senderId", "endpointId", "to", "from", "status"),
        *("reason", "balance", "lowBalance"),
    }
)


def _event(data: Json) -> str:
    about = (f"{name}={value}" for name, value in data.items() if name in _SHOWN and value)
    head, text = from_json(EventHead, data), output.clean("  ".join(about))
    return f"{iso(head.created_at)[11:23]}  {head.id}  {head.type:<15}  {text}"
