"""Webhooks: the endpoints of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records import webhooks
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.webhooks import (
    DeliverySum,
    Endpoint,
    EndpointList,
    EndpointWithCounts,
    EndpointWithSecret,
    ShownEndpoint,
)

if TYPE_CHECKING:
    from collections.abc import Callable


_WHY: Final = {
    "owner": "disabled",
    "gone": "disabled: it answered 410 Gone",
    "failing": "disabled: it failed for five days",
}

endpoint_id = click.argument("endpoint_id", metavar="ENDPOINT")


@click.group()
def webhook() -> None:
    """Webhooks: the endpoints that receive events.

    \b
    Examples:
      risala webhook create https://shop.example/hook
      risala webhook list
    """


def _headers(
    _: click.Context, __: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str] | None:
    headers: dict[str, str] = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon or not name.strip() or not value.strip():
            raise click.BadParameter('write a header as "Name: value".')
        headers[name.strip()] = value.strip()
    return headers or None


def _settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that make and change an endpoint."""
    for option in (
        click.option(
            "--shape",
            type=click.Choice(webhooks.SHAPES),
            help="How received messages arrive: as an event (the default), a form, a GET, JSON of "
            "your own, RapidPro's form, or by the words of Kannel's get-url in the URL.",
        ),
        click.option(
            "--template",
            metavar="TEXT",
            help="For form and get: a field a line, as sender={{from}}. For json: the whole, as "
            '{"text": "{{text}}"}.',
        ),
        click.option(
            "--signature-header",
            metavar="NAME",
            help='A header for a second signature, "t=…,v1=…", with smsId beside messageId.'
            " Empty: none.",
        ),
        click.option(
            "--signature-key",
            type=click.Choice(webhooks.SIGNATURE_KEYS),
            help="The key of that signature: the secret as it is shown (the default), or its "
            "decoded base64.",
        ),
        click.option(
            "--notify", metavar="MAIL", help="The e-mail address to notify if it is disabled."
        ),
        click.option(
            "--header",
            "headers",
            metavar="HEADER",
            multiple=True,
            callback=_headers,
            help='A header to send with each event, as "Name: value"; repeatable.',
        ),
        click.option(
            "--may-reply/--no-reply",
            default=None,
            help='Whether its answer to a received message, {"reply": "…"}, is sent to who wrote'
            " (default: no).",
        ),
        click.option("--description", metavar="TEXT", help="A name for you to recognise it."),
        click.option(
            "--type",
            "types",
            metavar="TYPE",
            multiple=True,
            help="A type of event to send, such as sms.delivered; repeatable.",
        ),
    ):
        command = option(command)
    return command


@webhook.command("create")
@click.argument("url")
@org_option
@mode_option("For the events of test keys.")
@_settings
@asks(webhooks.CREATE)
def webhook_create(made: EndpointWithSecret) -> None:
    """Create an endpoint and print its secret, once.

    Without --type it gets the events of sending and of codes. Ask for the others by their names:
    sms.delivered, sms.canceled, sms.received, balance.low, sender.approved, sender.denied,
    conversation.received, conversation.assigned, conversation.paused, repeat.begun,
    repeat.skipped, repeat.ended.

    \b
    Examples:
      risala webhook create https://shop.example/hook
      risala webhook create https://shop.example/hook --type sms.delivered --notify me@example.com
      risala webhook create "https://shop.example/sms?from=%p&text=%a" --shape kannel
    """
    _tell_secret(made)


def _tell_secret(made: EndpointWithSecret) -> None:
    # Only the secret goes to stdout, so that a script can take it; the rest is for people.
    endpoint = made.endpoint
    output.warned(f"The endpoint {endpoint.id}. Keep its secret now: it is shown only once.")
    output.warned(f"It gets {', '.join(endpoint.types)}. Use --type for others.")
    if endpoint.previous_until is not None:
        output.warned(f"The old one also signs until {output.at(endpoint.previous_until)}.")
    click.echo(made.secret)


@webhook.command("list")
@org_option
@asks(webhooks.LIST)
def webhook_list(endpoint_list: EndpointList) -> None:
    """List an organization's endpoints.

    \b
    Examples:
      risala webhook list
      risala webhook list --org "My shop"
    """
    output.table(
        ("Id", "Mode", "URL", "Types", "State", "Description"),
        (
            (
                *(each.id, each.mode, each.url, ", ".join(each.types)),
                *(_state(each), each.description),
            )
            for each in endpoint_list.endpoints
        ),
        empty="There are no endpoints yet. Create one with `risala webhook create URL`.",
    )


def _state(endpoint: Endpoint) -> str:
    if not endpoint.enabled:
        return _WHY.get(endpoint.disabled_reason or "", "disabled")
    since = endpoint.failing_since
    return "enabled" if since is None else f"failing since {output.at(since)}"


@webhook.command("show")
@endpoint_id
@asks(webhooks.SHOW)
def webhook_show(shown: EndpointWithCounts) -> None:
    """Show one endpoint and its pending deliveries.

    \b
    Example: risala webhook show whe_…
    """
    days = output.counted(shown.last_days.days, "day")
    output.fields(
        {
            **_fields(shown.endpoint),
            "disabled by": shown.disabled_by,
            "pending": shown.pending,
            "failed": shown.failed,
            f"last {days}": _last_days(shown.last_days),
        }
    )


def _last_days(sums: DeliverySum) -> str | None:
    if sums.share is None:
        return None
    sentence = f"{sums.share:.1%} of {sums.over} arrived"
    if sums.median_ms is None:
        return sentence
    return f"{sentence}, half of them within {sums.median_ms / 1000:.1f} s"


def _fields(shown: Endpoint) -> dict[str, object]:
    return {
        "id": shown.id,
        "organization": shown.organization_id,
        "mode": shown.mode,
        "url": shown.url,
        "state": _state(shown),
        "types": ", ".join(shown.types),
        "headers": ", ".join(shown.headers) or None,
        "description": shown.description or None,
        "notify": shown.notify,
        "shape": None if shown.shape == "event" else shown.shape,
        "template": shown.template or None,
        "may reply": "yes" if shown.may_reply else None,
        "signature header": shown.signature_header,
        "signature key": shown.signature_key if shown.signature_header else None,
        "created": output.at(shown.created_at),
    }


@webhook.command("update")
@endpoint_id
@click.option("--url", help="Another address.")
@_settings
@common
def webhook_update(
    options: Options,
    /,
    endpoint_id: str,
    types: tuple[str, ...],
    **arguments: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """Change the given settings; the others stay. Types and headers replace the old ones.

    \b
    Example: risala webhook update whe_… --url https://shop.example/new
    """
    changes = {"types": list(types) or None, **arguments}
    if all(value is None for value in changes.values()):
        text = "Say what to change. `risala webhook update --help` lists the options."
        raise click.UsageError(text)
    reply = options.ask(webhooks.UPDATE, endpoint_id=endpoint_id, **changes)
    if not output.show(options.json, reply.json):
        output.fields(_fields(reply.value.endpoint))


def _switch(name: str, ask: Ask[ShownEndpoint], does: str) -> None:
    def line(endpoint: ShownEndpoint) -> str:
        return f"{endpoint.endpoint.id} is {_state(endpoint.endpoint)}."

    says(webhook, name, endpoint_id, ask, line, does=does, example="whe_…")


_switch(
    "enable",
    webhooks.ENABLE,
    "Enable an endpoint. To repeat what failed meanwhile, use `risala webhook replay`.",
)
_switch("disable", webhooks.DISABLE, "Disable an endpoint; its pending deliveries end as failed.")
says(
    webhook,
    "delete",
    endpoint_id,
    webhooks.DELETE,
    lambda deleted: f"Deleted {deleted.endpoint.id}.",
    does="Delete an endpoint and its secret; pending deliveries are dropped.",
    example="whe_…",
)


@webhook.command("rotate")
@endpoint_id
@click.option("--at-once", is_flag=True, help="Stop using the old secret now, not in 24 hours.")
@asks(webhooks.ROTATE)
def webhook_rotate(made: EndpointWithSecret) -> None:
    """Give an endpoint a new secret and print it; the old one also signs for 24 hours.

    \b
    Examples:
      risala webhook rotate whe_…
      risala webhook rotate whe_… --at-once
    """
    _tell_secret(made)
