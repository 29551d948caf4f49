"""``risala simulate phone``: an Android phone with the SMSGate app, which calls a service."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click

from risala.cli.show import output

if TYPE_CHECKING:
    from risala.lab.phone.events import PhoneHappening
    from risala.lab.phone.simulator import PhoneSimulator

_API: Final = "/mobile/v1"


@click.command("phone")
@click.argument("url")
@click.option("--token", help="The private token of the carrier.", envvar="RISALA_PHONE_TOKEN")
@click.option("--name", default="simulated/phone", show_default=True, help="Maker and model.")
@click.option("--sim", multiple=True, metavar="OPERATOR", help="A SIM; may be given twice.")
@click.option(
    "--sent-delay-s",
    type=click.FloatRange(0, 86400),
    default=0.5,
    show_default=True,
    help="From a fetch to its report that the network took the message.",
)
@click.option(
    "--receipt-delay-s",
    type=click.FloatRange(0, 86400),
    default=1.0,
    show_default=True,
    help="From there to the receipt.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def phone(
    url: str,
    token: str | None,
    name: str,
    sim: tuple[str, ...],
    sent_delay_s: float,
    receipt_delay_s: float,
    as_json: bool,
) -> None:
    """An Android phone with the SMSGate app, which calls a service. Ends with Ctrl-C.

    URL is the app's API URL, as risala phone pair prints it. Lines that are typed are done to the
    phone: "sms NUMBER Hello", "doze", "wipe"; "help" tells all of them.

    \b
    Example: risala simulate phone http://127.0.0.1:8000/carriers/phone/mobile/v1
    """
    import trio

    from risala.lab.phone.phone import PhoneConfig
    from risala.lab.phone.simulator import PhoneSimulator

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.path.rstrip("/").endswith(_API):
        raise click.UsageError(f"URL must be an address that ends in {_API}.")
    if not token:
        raise click.UsageError("Give the private token: --token, or RISALA_PHONE_TOKEN.")
    config = PhoneConfig(
        url.rstrip("/"),
        token,
        name=name,
        sims=sim or ("SIM 1",),
        sent_after_s=sent_delay_s,
        delivered_after_s=receipt_delay_s,
    )
    show = _show_json if as_json else _show
    trio.run(_run, PhoneSimulator(config, on_event=show))


async def _run(simulator: PhoneSimulator) -> None:
    import trio

    from risala.cli.lab.modem_console import read_lines
    from risala.lab.phone.actions import HELP, PhoneActionError, perform

    def obey(line: str) -> None:
        if line.strip() == "help":
            width = max(map(len, HELP))
            for usage, words in HELP.items():
                click.echo(f"{usage.ljust(width)}  {words}")
        elif line.strip():
            try:
                perform(simulator, line)
            except PhoneActionError as fault:
                click.echo(str(fault))

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(simulator.run)
            nursery.start_soon(read_lines, 0, obey)
            async for _ in signals:
                nursery.cancel_scope.cancel()


def _show_json(event: PhoneHappening) -> None:
    line = {"event": type(event).__name__, **asdict(event)}
    click.echo(json.dumps(line, ensure_ascii=False))


def _show(event: PhoneHappening) -> None:
    kind, text, colour = _words(event)
    now = f"{datetime.now():%H:%M:%S}"  # local time, for the person at the screen
    click.echo(f"{now} {click.style(kind.ljust(10), fg=colour)} {output.clean(text)}")


def _words(event: PhoneHappening) -> tuple[str, str, str | None]:
    """Kind, text and colour."""
    from risala.lab.phone import events as e

    match event:
        case e.PhoneRegistered():
            return "registered", f"as {event.phone_id}", "green"
        case e.PhoneRefused():
            return "refused", f"{event.call}: {event.status}", "red"
        case e.NetworkLost():
            return "lost", f"{event.call} had no answer", "red"
        case e.StreamChanged():
            return "stream", "open" if event.is_open else "ended", None
        case e.MessageFetched():
            return "fetched", event.id, None
        case e.TextSent():
            return "sent", f"SIM {event.sim} → {event.recipient}: {event.text}", "cyan"
        case e.StateReported():
            return "reported", f"{event.id} {event.state} {event.error}".rstrip(), None
        case e.TextUploaded():
            tries = "" if event.tries == 1 else f", at try {event.tries}"
            return "received", f"from {event.sender}{tries}", "cyan"
        case e.PhoneChanged():
            return "changed", event.text, "yellow"
