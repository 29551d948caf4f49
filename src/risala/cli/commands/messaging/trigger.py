"""``risala trigger``: an invented event, for developers of programs that receive events."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.messaging import forward
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records import webhooks
from risala.sms.currencies import DEFAULT_CURRENCY

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

TYPES: Final = (
    "sms.sent",
    "sms.delivered",
    "sms.failed",
    "sms.canceled",
    "sms.received",
    "verify.sent",
    "verify.approved",
    "verify.failed",
    "sender.approved",
    "sender.denied",
    "balance.low",
    "conversation.received",
    "conversation.assigned",
    "conversation.paused",
    "repeat.begun",
    "repeat.skipped",
    "repeat.ended",
    "webhook.test",
)
"""The engine's values; a test compares the two, so that help needs no engine."""


_OF_MONEY: Final = ("balance.low",)
"""Only these ask the settings, for their currency."""


@click.command()
@click.argument("event", type=click.Choice(TYPES), metavar="EVENT")
@click.option(
    "--to",
    "url",
    metavar="URL",
    callback=forward.address,
    help="Post it to this URL, once. Without a URL, print the body.",
)
@click.option("--endpoint", metavar="ENDPOINT", help="Post it to this endpoint's URL.")
@click.option(
    "--secret",
    metavar="SECRET",
    help="Sign with this secret (default: your own on this machine, created once).",
)
@common
def trigger(
    options: Options, event: str, url: str | None, endpoint: str | None, secret: str | None
) -> None:
    """Print or send an example of EVENT, as the service would send it, with "test": true.

    Nothing is stored, and ids in it are of nothing; without --endpoint no service is needed. An
    endpoint's secret and headers of its own are not told: give the secret with --secret.
    `risala webhook test` goes through the service, which has both. Without --secret it signs with
    the one that `risala webhook listen` prints, always the same for a user of this machine.

    \b
    EVENT is one of
      sms.sent sms.delivered sms.failed sms.canceled sms.received
      verify.sent verify.approved verify.failed
      sender.approved sender.denied balance.low webhook.test
      conversation.received conversation.assigned conversation.paused
      repeat.begun repeat.skipped repeat.ended

    \b
    Examples:
      risala trigger sms.delivered
      risala trigger verify.approved --to http://127.0.0.1:3000/webhooks
      risala trigger sms.failed --endpoint whe_… --secret whsec_…
    """
    if url is not None and endpoint is not None:
        raise click.UsageError("Give --to or --endpoint, not both.")
    if endpoint is not None:
        url = _url_of(options, endpoint)
    currency = DEFAULT_CURRENCY
    if event in _OF_MONEY:
        currency = options.settings().service.currency
    event_id, body = made(event, currency, options.plan().example)
    if url is None:
        click.echo(body)
        return
    key = forward.secret_of(secret)
    handed = _post(url, event_id, body, key)
    answer: dict[str, Any] = {
        "id": event_id,
        "type": event,
        "secret": key,
        "status": handed.status,
        "error": handed.reason,
        "tookMs": handed.took_ms,
    }
    if not output.show(options.json, answer):
        if secret is None:
            click.echo(f"Secret: {key}")
        output.said(f"{event} {event_id}: {output.clean(handed.words)}")
    if not handed.accepted:
        raise CommandRefused(f"{url} did not accept it: {handed.words}.")


def _url_of(options: Options, endpoint: str) -> str:
    async def work(session: GatewaySession) -> str:
        return (await session.ask(webhooks.SHOW, endpoint_id=endpoint)).value.endpoint.url

    return options.run(work)


def made(event: str, currency: str, number: str) -> tuple[str, str]:
    """The event's id and its body, with amounts in a currency and a person's number."""
    from risala.cli.commands.messaging.example_events import PREFIXES, example
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.events import EventType, event_body
    from risala.engine.model.ids import IdSource

    ids = IdSource(SystemClock())
    identities = {prefix: ids.new(prefix) for prefix in PREFIXES}
    at, event_id = time.time_ns() // 1_000_000, ids.new("evt")
    payload = example(EventType(event), at, identities["org"], identities, currency, number)
    return event_id, event_body(payload, event_id)


def _post(url: str, event_id: str, body: str, key: str) -> forward.Handed:
    import trio

    return trio.run(forward.post_event, url, event_id, body, key)
