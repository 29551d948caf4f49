"""Simulated carriers to try things against."""

from __future__ import annotations

import json
import signal
from collections import Counter
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from risala.cli import output
from risala.cli.refused import Refused

if TYPE_CHECKING:
    from risala.drivers.smpp.simulator import SimulatorConfig, SimulatorEvent

_TOTALS: Final = {
    "Submitted": "segments",
    "MessageReceived": "messages",
    "ReceiptSent": "receipts",
    "Trouble": "troubles",
}


@click.group()
def simulate() -> None:
    """Simulated carriers to try things against."""


@simulate.command("smsc")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=2775, show_default=True)
@click.option("--system-id", help="Let only this system_id bind; else anybody may.")
@click.option("--password", default="", help="Its password.")
@click.option("--receipt-delay-s", type=click.FloatRange(0, 86400), default=0.5, show_default=True)
@click.option("--answer-delay-s", type=click.FloatRange(0, 3600), default=0.0, show_default=True)
@click.option(
    "--receipt-state",
    type=click.Choice(["delivered", "undeliverable", "expired", "rejected"]),
    default="delivered",
    show_default=True,
)
@click.option("--rate-per-s", type=click.FloatRange(min=0, min_open=True), help="Throttle above.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def smsc(
    host: str,
    port: int,
    system_id: str | None,
    password: str,
    receipt_delay_s: float,
    answer_delay_s: float,
    receipt_state: str,
    rate_per_s: float | None,
    as_json: bool,
) -> None:
    """An SMSC (SMPP 3.4) that shows each message it receives. Ends with Ctrl-C."""
    from risala.drivers.smpp.simulator import SimulatorConfig
    from risala.sms.receipt import ReceiptState

    _run(
        SimulatorConfig(
            host=host,
            port=port,
            accounts=None if system_id is None else {system_id: password},
            answer_after_s=answer_delay_s,
            receipt_after_s=receipt_delay_s,
            receipt_state=ReceiptState(receipt_state.upper()),
            rate_per_s=rate_per_s,
        ),
        as_json,
    )


def _run(config: SimulatorConfig, as_json: bool) -> None:
    import trio

    from risala.drivers.smpp.simulator import run_simulator

    totals: Counter[str] = Counter()
    tell = _tell_json if as_json else _tell_people

    def on_event(event: SimulatorEvent) -> None:
        totals[type(event).__name__] += 1
        tell(event)

    async def main() -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with trio.open_nursery() as nursery:
                await nursery.start(partial(run_simulator, config, on_event=on_event))
                async for _ in signals:
                    nursery.cancel_scope.cancel()

    try:
        trio.run(main)
    except BaseExceptionGroup as group:
        fault, rest = group.split(OSError)
        if fault is None or rest is not None:
            raise
        raise Refused(f"{config.host}:{config.port} cannot be listened on.") from group
    if not as_json:
        counts = (f"{totals[name]} {words}" for name, words in _TOTALS.items())
        click.echo(f"Total: {', '.join(counts)}.")


def _tell_json(event: SimulatorEvent) -> None:
    line = {"event": type(event).__name__, **asdict(event)}
    click.echo(json.dumps(line, ensure_ascii=False))


def _tell_people(event: SimulatorEvent) -> None:
    from risala.drivers.smpp import simulator as s

    match event:
        case s.Listening():
            _line("listening", f"{event.host}:{event.port}; Ctrl-C ends it")
        case s.Bound():
            _line("bound", f"{event.system_id} as {event.bind}", "green")
        case s.BindRefused():
            _line("refused", f"{event.system_id}: status 0x{event.command_status:08x}", "red")
        case s.Unbound():
            _line("unbound", f"{event.system_id}: {event.reason}", "yellow")
        case s.Submitted() if event.command_status:
            _line("refused", f"{event.recipient}: status 0x{event.command_status:08x}", "red")
        case s.Submitted():
            part = event.concatenation
            which = f" part {part.number} of {part.total}" if part else ""
            _line("segment", f"{event.sender} → {event.recipient} {event.message_id}{which}")
        case s.MessageReceived(message):
            _line("message", f"{message.sender} → {message.recipient}: {message.text}", "cyan")
        case s.ReceiptSent():
            taken = "" if event.command_status == 0 else ", not taken: it comes again"
            _line("receipt", f"{event.message_id} {event.state}{taken}")
        case s.Trouble():
            _line("trouble", f"{event.system_id} {event.text}", "red")


def _line(kind: str, text: str, colour: str | None = None) -> None:
    now = f"{datetime.now():%H:%M:%S}"  # the clock on the wall of whoever looks
    click.echo(f"{now} {click.style(kind.ljust(9), fg=colour)} {output.clean(text)}")
