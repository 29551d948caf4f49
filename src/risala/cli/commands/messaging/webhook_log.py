"""The results of events: tests, the log of deliveries, replays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.messaging.webhooks import webhook
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output, when
from risala.engine.model.records import webhooks
from risala.engine.model.records.webhooks import DeliveryAttempt, DeliveryStory

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession
    from risala.engine.model.records.asks import Reply

__all__ = ["webhook"]

_TEST_WAIT_S: Final = 20.0
"""Seconds to wait for the answer to a test event; an endpoint has 15 to give one."""
_LOOK_S: Final = 0.2


@webhook.command("test")
@click.argument("endpoint", metavar="ENDPOINT")
@common
def webhook_test(options: Options, endpoint: str) -> None:
    """Send an endpoint a test event and show its answer; exit code 1 if not 2xx.

    \b
    Example: risala webhook test whe_…
    """

    async def work(session: GatewaySession) -> Reply[DeliveryStory]:
        import trio

        made = (await session.ask(webhooks.TEST, endpoint_id=endpoint)).value
        event_id = made.delivery.event_id
        if not made.running:
            raise CommandRefused(f"The service is not running. {event_id} is sent when it starts.")
        until = trio.current_time() + _TEST_WAIT_S
        while True:
            reply = await session.ask(webhooks.DELIVERY, endpoint_id=endpoint, event_id=event_id)
            ended = any(each.ended_at for each in reply.value.attempts)
            if ended or trio.current_time() >= until:
                return reply
            await trio.sleep(_LOOK_S)

    reply = options.run(work, waits=True)
    delivery = reply.value.delivery
    if not output.show(options.json, reply.json):
        answered = delivery.error or f"HTTP {delivery.status}"
        output.said(f"{delivery.event_id}: {output.clean(answered)}")
        if delivery.excerpt:
            click.echo(output.clean(delivery.excerpt))
    if delivery.state != "delivered":
        raise CommandRefused("The endpoint did not accept it.")


@webhook.command("deliveries")
@click.argument("endpoint", metavar="ENDPOINT")
@click.argument("event", metavar="[EVENT]", required=False)
@click.option("--state", type=click.Choice(["pending", "delivered", "failed", "dropped"]))
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option(
    "--before", type=int, metavar="N", help="The next page, as named by the previous one."
)
@common
def webhook_deliveries(
    options: Options,
    /,
    endpoint: str,
    event: str | None,
    before: int | None,
    **arguments: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """List the latest deliveries to an endpoint, or every attempt for one EVENT.

    \b
    Examples:
      risala webhook deliveries whe_… --state failed
      risala webhook deliveries whe_… evt_…
    """
    if event is not None:
        _show_attempts(options, endpoint, event)
        return
    reply = options.ask(webhooks.DELIVERIES, endpoint_id=endpoint, before=before, **arguments)
    if output.show(options.json, reply.json):
        return
    output.table(
        ("Event", "Type", "State", "Attempts", "Last answer", "Next attempt"),
        (
            (
                *(each.event_id, each.type, each.state, each.attempts),
                each.error or each.status,
                output.at(each.next_attempt_at),
            )
            for each in reply.value.deliveries
        ),
        empty="Nothing has been delivered to it yet."
        if before is None
        else "There are no older ones.",
    )
    output.tell_older(reply.value.before)


def _show_attempts(options: Options, endpoint: str, event: str) -> None:
    reply = options.ask(webhooks.DELIVERY, endpoint_id=endpoint, event_id=event)
    if output.show(options.json, reply.json):
        return
    delivery = reply.value.delivery
    output.fields(
        {
            "event": delivery.event_id,
            "type": delivery.type,
            "state": delivery.state,
            "next attempt": output.at(delivery.next_attempt_at),
            **({"no reply": refused} if (refused := reply.value.reply_refused) else {}),
        }
    )
    output.table(
        ("Attempt", "At", "Answer", "Reply", "Body"),
        (
            (
                *(each.number, output.at(each.started_at), _answer(each)),
                *(each.reply, (each.excerpt or "")[:80]),
            )
            for each in reply.value.attempts
        ),
        empty="It has not been attempted yet.",
    )


def _answer(attempt: DeliveryAttempt) -> str:
    if attempt.ended_at is None:
        return "in progress, or interrupted"
    return attempt.error or f"HTTP {attempt.status}"


@webhook.command("replay")
@click.argument("endpoint", metavar="ENDPOINT")
@click.argument("event", metavar="[EVENT]", required=False)
@click.option(
    "--failed-since", "since", callback=when.past_option, metavar="TIME", help="All of them."
)
@common
def webhook_replay(options: Options, endpoint: str, event: str | None, since: str | None) -> None:
    """Deliver again one EVENT, or all events since TIME (08:30, 2h) whose delivery failed.

    \b
    Examples:
      risala webhook replay whe_… evt_…
      risala webhook replay whe_… --failed-since 2h
    """
    if (event is None) == (since is None):
        raise click.UsageError("Give an event, or --failed-since and a time.")
    if event is not None:
        _replay_one(options, endpoint, event)
        return

    async def work(session: GatewaySession) -> tuple[int, int]:
        with _shown(quiet=options.json) as update:
            return await replay_failed(session, endpoint, str(since), update)

    replayed, total = options.run(work)
    answer = {"endpointId": endpoint, "replayed": replayed, "total": total}
    if not output.show(options.json, answer):
        failed = output.counted(total, "failed delivery", "failed deliveries")
        output.said(f"Queued again: {replayed} of {failed}.")


async def replay_failed(
    session: GatewaySession, endpoint: str, since: str, update: Callable[[int, int], None]
) -> tuple[int, int]:
    """Request one chunk after the other, and print the progress; returns how many are due again,
    of how many."""
    replayed, total, until = 0, 0, None
    while True:
        arguments = {"endpoint_id": endpoint, "since": since, "until": until}
        step = (await session.ask(webhooks.REPLAY_FAILED, **arguments)).value
        replayed, until = replayed + step.replayed, step.until
        total = total if step.total is None else step.total
        update(replayed, total)
        if step.done:
            return replayed, total


def _replay_one(options: Options, endpoint: str, event: str) -> None:
    reply = options.ask(webhooks.REPLAY, endpoint_id=endpoint, event_id=event)
    if not output.show(options.json, reply.json):
        output.said(f"{event} is queued again.")


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, if that is a terminal."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Replaying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
