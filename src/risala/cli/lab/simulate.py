"""Simulated carriers to try things against."""

from __future__ import annotations

import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import click

from risala.cli.lab.simulate_hilink import hilink
from risala.cli.lab.simulate_modem import modem, refuse_beside_a_scenario
from risala.cli.lab.simulate_phone import phone
from risala.cli.reach.refused import CommandRefused

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from risala.cli.lab.smsc_console import SmscTally, View
    from risala.lab.smsc.simulator import SimulatorEvent, SmscSimulator

    class Build(Protocol):
        """Makes the simulator for a handler of its events."""

        def __call__(self, *, on_event: Callable[[SimulatorEvent], None]) -> SmscSimulator: ...


_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_SCENARIO_SAYS: Final = ("receipt_delay_s", "answer_delay_s", "receipt_state", "rate_per_s")
"""Options that are refused together with a scenario, which sets these values itself."""


@click.group()
def simulate() -> None:
    """Simulated carriers to try things against.

    \b
    Examples:
      risala simulate smsc
      risala simulate modem
      risala simulate hilink
      risala simulate phone http://127.0.0.1:8000/carriers/phone/mobile/v1
    """


simulate.add_command(hilink)
simulate.add_command(modem)
simulate.add_command(phone)


@simulate.command("smsc")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where it listens.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=2775, show_default=True, help="0: a free one."
)
@click.option("--system-id", help="Let only this system_id bind. If left out, any may.")
@click.option("--password", default="", help="Its password.")
@click.option(
    "--scenario",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A scenario of failures, as a TOML file; see examples/scenarios.",
)
@click.option(
    "--receipt-delay-s",
    type=click.FloatRange(0, 86400),
    default=0.5,
    show_default=True,
    help="From the answer to the receipt.",
)
@click.option(
    "--answer-delay-s",
    type=click.FloatRange(0, 3600),
    default=0.0,
    show_default=True,
    help="From a submit to its answer.",
)
@click.option(
    "--receipt-state",
    type=click.Choice(["delivered", "undeliverable", "expired", "rejected"]),
    default="delivered",
    show_default=True,
    help="What receipts say.",
)
@click.option("--rate-per-s", type=click.FloatRange(min=0, min_open=True), help="Throttle above.")
@click.option("--tls-cert", type=_FILE, help="Speak TLS, with this certificate (PEM).")
@click.option("--tls-key", type=_FILE, help="Its key, if it is in another file.")
@click.option(
    "--tls-client-ca", type=_FILE, help="Allow only clients with a certificate signed by these."
)
@click.option("--lines", is_flag=True, help="One line per event, also in a terminal.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.pass_context
def smsc(
    context: click.Context,
    host: str,
    port: int,
    system_id: str | None,
    password: str,
    scenario: Path | None,
    receipt_delay_s: float,
    answer_delay_s: float,
    receipt_state: str,
    rate_per_s: float | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    lines: bool,
    as_json: bool,
) -> None:
    """An SMSC (SMPP 3.4) that shows each message it receives. Ends with Ctrl-C.

    \b
    Example: risala simulate smsc --port 2775 --receipt-delay-s 2
    """
    from risala.cli.lab.smsc_console import SmscTally
    from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
    from risala.sms.receipt import ReceiptState

    tally = SmscTally()
    accounts = None if system_id is None else {system_id: password}
    tls = _tls(tls_cert, tls_key, tls_client_ca)
    if scenario is not None:
        refuse_beside_a_scenario(context, _SCENARIO_SAYS)
        title, build = _behaving(scenario, host, port, accounts, tls)
    else:
        title = ""
        config = SimulatorConfig(
            host=host,
            port=port,
            tls=tls,
            accounts=accounts,
            answer_after_s=answer_delay_s,
            receipt_after_s=receipt_delay_s,
            receipt_state=ReceiptState(receipt_state.upper()),
            rate_per_s=rate_per_s,
        )
        build = partial(SmscSimulator, config)
    _run(build, tally, _view(tally, title, lines=lines, as_json=as_json))


def _behaving(
    path: Path,
    host: str,
    port: int,
    accounts: dict[str, str] | None,
    tls: ssl.SSLContext | None,
) -> tuple[str, Build]:
    from risala.lab.scenario_file import ScenarioError
    from risala.lab.smsc.scenario import load_scenario
    from risala.lab.smsc.scenario_behaviour import scenario_simulator

    try:
        loaded = load_scenario(path)
    except ScenarioError as fault:
        raise CommandRefused(str(fault)) from fault
    build = partial(scenario_simulator, loaded, host=host, port=port, tls=tls, accounts=accounts)
    return loaded.title, build


def _tls(cert: Path | None, key: Path | None, client_ca: Path | None) -> ssl.SSLContext | None:
    from risala.drivers.smpp.server_tls import TlsFilesError, server_context

    if cert is None:
        if key is not None or client_ca is not None:
            raise click.UsageError("--tls-key and --tls-client-ca need --tls-cert.")
        return None
    try:
        return server_context(cert, key, client_ca)
    except TlsFilesError as fault:
        raise CommandRefused(str(fault)) from fault


def _view(tally: SmscTally, title: str, *, lines: bool, as_json: bool) -> View:
    from risala.cli.lab.smsc_console import SmscJsonView, SmscLineView, SmscLiveView

    if as_json:
        return SmscJsonView()
    if lines or not sys.stdout.isatty():
        return SmscLineView(tally)
    return SmscLiveView(tally, title)


def _run(build: Build, tally: SmscTally, view: View) -> None:
    import trio

    from risala.cli.lab.smsc_console import REFRESHES_PER_S, SmscJsonView, SmscLiveView

    def on_event(event: SimulatorEvent) -> None:
        tally.hear(event, trio.current_time())
        view.hear(event)

    async def refresh(picture: SmscLiveView) -> None:
        while True:
            picture.refresh(trio.current_time())
            await trio.sleep(1 / REFRESHES_PER_S)

    async def main() -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with trio.open_nursery() as nursery:
                await nursery.start(simulator.run)
                if isinstance(view, SmscLiveView):
                    nursery.start_soon(refresh, view)
                elif isinstance(view, SmscJsonView):
                    nursery.start_soon(view.run)
                async for _ in signals:
                    nursery.cancel_scope.cancel()

    simulator = build(on_event=on_event)
    try:
        trio.run(main)
    except BaseExceptionGroup as group:
        fault, rest = group.split(OSError)
        if fault is None or rest is not None:
            raise
        config = simulator.config
        raise CommandRefused(f"{config.host}:{config.port} cannot be listened on.") from group
    finally:
        view.end()
