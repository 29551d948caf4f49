"""``risala simulate hilink``: a HiLink stick, whose HTTP API a service calls."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, cast

import click

from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.lab.hilink.config import Login
    from risala.lab.hilink.simulator import HilinkSimulator
    from risala.lab.hilink.stick import StickHappening


@click.command("hilink")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8088, show_default=True)
@click.option("--model", default="E3372h-320", show_default=True)
@click.option(
    "--login",
    type=click.Choice(["none", "base64", "sha256", "scram"]),
    default="none",
    show_default=True,
    help="How it wants its password.",
)
@click.option("--password", help="Its password; the user is admin.", envvar="RISALA_STICK_PASSWORD")
@click.option("--pin", default="", help="The PIN that its SIM wants.", envvar="RISALA_STICK_PIN")
@click.option("--storage", type=click.IntRange(1, 10_000), default=500, show_default=True)
@click.option("--sent-delay-s", type=click.FloatRange(0, 86400), default=0.5, show_default=True)
@click.option("--receipt-delay-s", type=click.FloatRange(0, 86400), default=1.0, show_default=True)
@click.option("--no-reports", is_flag=True, help="It has no delivery reports.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def hilink(
    host: str,
    port: int,
    model: str,
    login: str,
    password: str | None,
    pin: str,
    storage: int,
    sent_delay_s: float,
    receipt_delay_s: float,
    no_reports: bool,
    as_json: bool,
) -> None:
    """A HiLink stick (Huawei E3372h), whose HTTP API a service calls. Ends with Ctrl-C.

    Lines that are typed are done to the stick: "sms NUMBER Hello", "reboot", "fill 3"; "help" tells
    all of them.

    \b
    Example: risala simulate hilink --port 8088
    """
    import trio

    from risala.lab.hilink.config import HilinkConfig
    from risala.lab.hilink.simulator import HilinkSimulator

    if login != "none" and not password:
        raise click.UsageError("Give the stick's password: --password, or RISALA_STICK_PASSWORD.")
    config = HilinkConfig(
        host=host,
        port=port,
        model=model,
        login=cast("Login", login),
        password=password or "",
        pin=pin,
        storage_max=storage,
        sent_after_s=sent_delay_s,
        reported_after_s=receipt_delay_s,
        has_reports=not no_reports,
    )
    try:
        trio.run(_run, HilinkSimulator(config, on_event=_show_json if as_json else _show))
    except BaseExceptionGroup as group:
        fault, rest = group.split(OSError)
        if fault is None or rest is not None:
            raise
        raise CommandRefused(f"{host}:{port} cannot be listened on.") from group


async def _run(stick: HilinkSimulator) -> None:
    import trio

    from risala.cli.lab.modem_console import read_lines
    from risala.lab.hilink.actions import HELP, StickActionError, perform

    def obey(line: str) -> None:
        if line.strip() == "help":
            width = max(map(len, HELP))
            for usage, words in HELP.items():
                click.echo(f"{usage.ljust(width)}  {words}")
        elif line.strip():
            try:
                perform(stick, line)
            except StickActionError as fault:
                click.echo(str(fault))

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            await nursery.start(stick.run)
            click.echo(f"The stick is at {stick.url}.", err=True)
            nursery.start_soon(read_lines, 0, obey)
            async for _ in signals:
                nursery.cancel_scope.cancel()


def _show_json(event: StickHappening) -> None:
    line = {"event": type(event).__name__, **asdict(event)}
    click.echo(json.dumps(line, ensure_ascii=False))


def _show(event: StickHappening) -> None:
    kind, text, colour = _words(event)
    if not kind:
        return
    now = f"{datetime.now():%H:%M:%S}"  # local time, for the person at the screen
    click.echo(f"{now} {click.style(kind.ljust(10), fg=colour)} {output.clean(text)}")


def _words(event: StickHappening) -> tuple[str, str, str | None]:
    """Kind, text and colour; an empty kind is not shown."""
    from risala.lab.hilink import stick as e

    match event:
        case e.StickRequest():
            return ("refused", f"{event.path}: {event.code}", "red") if event.code else ("", "", "")
        case e.StickSignedIn():
            return ("signed in", "", "green") if event.is_in else ("kept out", "", "red")
        case e.StickSent():
            note = "" if event.is_sent else ", which the network did not take"
            return "sent", f"→ {event.recipient}: {event.text}{note}", "cyan"
        case e.StickReceived():
            lost = "" if event.is_kept else ", and is lost: the stick is full"
            return "received", f"from {event.sender}: {event.text}{lost}", "cyan"
        case e.StickDeleted():
            return "deleted", event.index, None
        case e.StickChanged():
            return "changed", event.text, "yellow"
