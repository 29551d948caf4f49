"""``risala tail``: what happens, as it happens."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli import output
from risala.cli.options import Options, common
from risala.cli.organizations import organization_id
from risala.cli.refused import Refused

if TYPE_CHECKING:
    import trio

    from risala.cli.session import Session

Json = dict[str, Any]
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
@click.option("--events", is_flag=True, help="The events that webhooks carry, not each change.")
@click.option("--org", metavar="ORG", help="Only of this organization, its id or name.")
@common
def tail(options: Options, events: bool, org: str | None) -> None:
    """Follow the life of all messages while the service runs; Ctrl-C ends it.

    With --json one object a line; {"kind": "lagged"} tells of what this reader was too slow for.
    """

    async def work(session: Session) -> None:
        import trio

        if not session.running:
            raise Refused("The service is not running: nothing happens that could be followed.")
        wanted = None if org is None else await organization_id(session, org)
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_at_signal, signals, nursery.cancel_scope)
                await _follow(session, "events" if events else "life", wanted, options.json)
                nursery.cancel_scope.cancel()

    options.run(work)


async def _cancel_at_signal(signals: Any, scope: trio.CancelScope) -> None:  # noqa: ANN401
    async for _ in signals:
        scope.cancel()


async def _follow(session: Session, what: str, organization: str | None, as_json: bool) -> None:
    from risala.cli.client import RemoteGateway

    assert isinstance(session.performer, RemoteGateway)
    tell = _tell_json if as_json else _tell_people
    async with aclosing(session.performer.tail(what)) as lines:
        async for line in lines:
            if organization is None or line.get("organizationId", organization) == organization:
                try:
                    tell(line)
                    sys.stdout.flush()
                except BrokenPipeError:  # whoever read us has seen enough
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                    return


def _tell_json(line: Json) -> None:
    if line["kind"] != "alive":
        click.echo(json.dumps(line, ensure_ascii=False))


def _tell_people(line: Json) -> None:
    match line["kind"]:
        case "life":
            status = click.style(line["status"].ljust(_PLACE), fg=_COLOURS.get(line["status"]))
            raw = f"  ({line['raw']})" if line["raw"] else ""
            where = f"{line['at'][11:23]}  {line['messageId']}  {line['to']}"
            click.echo(f"{where}  {status}  {output.clean(line['text'] + raw)}")
        case "event":
            event = line["event"]
            about = (f"{name}={value}" for name, value in event.items() if name in _SHOWN and value)
            text = output.clean("  ".join(about))
            click.echo(f"{event['createdAt'][11:23]}  {event['id']}  {event['type']:<15}  {text}")
        case "lagged":
            output.warned(f"… {line['lost']} lines not shown: this reader was too slow …")


_SHOWN: Final = frozenset(
    {"messageId", "verificationId", "senderId", "endpointId", "to", "from", "status", "reason"}
)
