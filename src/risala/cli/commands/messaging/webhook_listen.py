"""Events forwarded to a developer's machine, in the form of webhooks."""

from __future__ import annotations

import json
from contextlib import aclosing
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.organizations import organization_id
from risala.cli.commands.messaging import forward
from risala.cli.commands.messaging.webhook_log import webhook
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.reach.signals import until_signal
from risala.cli.show import output
from risala.engine.model.records.record import from_json
from risala.engine.model.records.webhooks import EventHead

if TYPE_CHECKING:
    from risala.cli.reach.client import StreamEvent
    from risala.cli.reach.performer import GatewaySession

__all__ = ["webhook"]

AGAIN_S: Final = 0.2
"""Seconds between two looks for a service that went away."""


@webhook.command("listen")
@click.option(
    "--forward",
    "url",
    metavar="URL",
    required=True,
    callback=forward.address,
    help="The URL to forward to: http://127.0.0.1:3000/webhooks.",
)
@click.option(
    "--events",
    metavar="TYPE,…",
    default="*",
    help="Only these types: sms.failed, verify.* and so on.",
)
@click.option("--org", metavar="ORG", help="Only of this organization, its id or name.")
@click.option(
    "--secret",
    metavar="SECRET",
    help="Sign with this secret (default: your own on this machine, created once).",
)
@common
def webhook_listen(
    options: Options, url: str, events: str, org: str | None, secret: str | None
) -> None:
    """Forward each event to URL while the service runs here, until Ctrl-C.

    Every event comes once, with the headers and the signature of a real delivery; what was not
    taken is told, and not tried again. The secret is printed first, and stays the same.

    \b
    Examples:
      risala webhook listen --forward http://127.0.0.1:3000/webhooks
      risala webhook listen --forward http://127.0.0.1:3000/ --events "sms.failed,verify.*"
    """
    key, patterns = forward.secret_of(secret), events.split(",")
    data_dir = options.data_settings().storage.data_dir

    async def work(session: GatewaySession) -> None:
        if not session.running:
            raise CommandRefused("The service is not running, so there are no events to forward.")
        whose = None if org is None else await organization_id(session, org)
        listener = _Listener(url, key, patterns, options.json)
        listener.begin()
        async with until_signal():
            await _follow(data_dir, whose, listener)

    options.run(work, waits=True)


async def _follow(data_dir: Path, organization: str | None, listener: _Listener) -> None:
    import trio

    from risala.cli.reach.client import NotListening, connect

    position: str | None = None
    while True:
        try:
            async with (
                connect(data_dir) as service,
                aclosing(service.tail("events", organization, position)) as stream,
            ):
                async for event in stream:
                    position = event.id or position
                    await listener.hear(event)
        except NotListening:
            listener.away()
        await trio.sleep(AGAIN_S)


class _Listener:
    def __init__(self, url: str, secret: str, patterns: list[str], as_json: bool) -> None:
        self._url = url
        self._secret = secret
        self._wanted = [pattern.strip() for pattern in patterns if pattern.strip()]
        self._json = as_json
        self._away = False

    def begin(self) -> None:
        if self._json:
            _line({"kind": "listening", "secret": self._secret, "url": self._url})
        else:
            click.echo(f"Secret: {self._secret}")
            click.echo(f"Events go to {self._url}; Ctrl-C ends it.")

    async def hear(self, stream_event: StreamEvent) -> None:
        self._away = False
        if stream_event.kind in ("lagged", "reset"):
            output.warned("Some events were missed because this reader was too slow.")
        if stream_event.kind != "event":
            return
        event = from_json(EventHead, stream_event.data)
        if not self._is_wanted(event.type):
            return
        handed = await forward.post_event(self._url, event.id, stream_event.text, self._secret)
        if self._json:
            _line(
                {
                    "kind": "event",
                    "id": event.id,
                    "type": event.type,
                    "status": handed.status,
                    "error": handed.reason,
                    "tookMs": handed.took_ms,
                }
            )
        else:
            at = output.at(event.created_at)
            line = f"{at}  {event.type}  {event.id}  {output.clean(handed.words)}"
            click.echo(click.style(line, fg=None if handed.accepted else "red"))

    def away(self) -> None:
        if not self._away:
            self._away = True
            output.warned("The service stopped. Waiting for it.")

    def _is_wanted(self, kind: str) -> bool:
        return any(fnmatchcase(kind, pattern) for pattern in self._wanted)


def _line(payload: dict[str, Any]) -> None:
    click.echo(json.dumps(payload, ensure_ascii=False))
