"""The demo: a simulated carrier and phone in the same process, an organization, keys, money.

Nothing is faked on the way: the message goes through the journal, the scheduler and the SMPP
driver, over TCP, to an SMSC simulator that is the same program as ``risala simulate smsc``.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import structlog
import trio
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from risala.app.demo_phones import OUR_NUMBER, PAGE, WAITING_MAX, Phones, control_paths, phones_page
from risala.app.listening import ServiceAddresses
from risala.config.model import CarrierSection, MailSection, PaymentsSection
from risala.config.numbers import demo_elsewhere
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm
from risala.engine.actors.broadcast import Subscription
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import Conflict, EngineError
from risala.engine.model.following import Lagged
from risala.engine.model.records.keys import KeyType
from risala.engine.model.sentences import sentence
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine
from risala.lab.smsc.exchange import wall_ms
from risala.lab.smsc.simulator import ReceivedMessage, SimulatorConfig, SmscSimulator
from risala.plugins.mail import Mail, Mailer
from risala.sms.numbering.plan import NumberingPlan

log = structlog.get_logger(__name__)

CARRIER: Final = "demo-smsc"
SYSTEM_ID: Final = "risala"
BALANCE: Final = "1000"
OWNER: Final = "owner@demo.example"
OPERATOR: Final = "operator@demo.example"
"""Both sign in by the codes that are mailed to them, that is: written into the outbox."""
SANDBOX: Final[dict[str, dict[str, str]]] = {"sandbox": {}}
METHODS: Final[dict[str, dict[str, str]]] = {
    **SANDBOX,
    "bankily": {"merchant": "038 221"},
    "masrvi": {"merchant": "114 507"},
    "sedad": {"merchant": "902 663"},
}
"""The top-up methods of the demo's organization in Mauritania, whose wallets these are; the
merchant codes are invented."""
_SIGN_IN: Final = f"Sign in as {OWNER}: the code is mailed, that is, printed here."
_KEYS: Final = {
    "secret_key": (KeyType.SECRET, Mode.LIVE),
    "publishable_key": (KeyType.PUBLISHABLE, Mode.LIVE),
    "test_secret_key": (KeyType.SECRET, Mode.TEST),
    "test_publishable_key": (KeyType.PUBLISHABLE, Mode.TEST),
}


class Inbox:
    """Appends each whole message that reached a phone to ``inbox.jsonl``, and prints it."""

    def __init__(self, path: Path, console: Console) -> None:
        self.path = path
        self._console = console
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def receive(self, message: ReceivedMessage) -> None:
        line = {
            "at": iso(message.at_ms),
            "carrier": message.carrier,
            "from": message.sender,
            "to": message.recipient,
            "text": message.text,
            "segments": message.segments,
            **({"flash": True} if message.flash else {}),
        }
        try:
            with self.path.open("a", encoding="utf-8") as inbox:
                inbox.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            log.warning("demo.inbox", reason=str(error))
        shown = Text(f"{iso(message.at_ms)[11:23]}  ", style="dim")
        shown.append(f"{message.recipient} reads, from {message.sender}: ", style="bold")
        shown.append(message.text)
        self._console.print(shown, soft_wrap=True)


class PrintingMailer:
    """The demo's mailer: each mail also goes to the terminal."""

    def __init__(self, mailer: Mailer, console: Console) -> None:
        self._mailer = mailer
        self._console = console

    async def send(self, mail: Mail) -> None:
        await self._mailer.send(mail)
        shown = Text(f"Mail to {mail.to}: {mail.subject}\n", style="bold")
        shown.append("".join(f"  {line}\n" for line in mail.text.splitlines()), style="not bold")
        self._console.print(shown, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class DemoCarrier:
    """The simulator to run, and the secret that the driver binds with."""

    simulator: SmscSimulator
    password: str

    def section(self, port: int, plan: NumberingPlan) -> CarrierSection:
        """The ``[[carriers]]`` table for it, with all numbers that are served."""
        return CarrierSection.model_validate(
            {
                "name": CARRIER,
                "driver": "smpp",
                "rate_per_s": 1000,
                # No stranger writes by it: its phones are those of this page.
                "origin": "trusted",
                "own_number": OUR_NUMBER,
                "prefixes": plan.prefixes,
                "national_prefix": plan.prefixes[0],
                "smpp": {
                    "host": "127.0.0.1",
                    "port": port,
                    "system_id": SYSTEM_ID,
                    "password": self.password,
                    "window_max": 50,
                },
            }
        )


def make_carrier(receive: Callable[[ReceivedMessage], None]) -> DemoCarrier:
    password = secrets.token_hex(4)
    config = SimulatorConfig(name=CARRIER, accounts={SYSTEM_ID: password})
    return DemoCarrier(SmscSimulator(config, on_message=receive), password)


async def make_accounts(gateway: Gateway, path: Path) -> dict[str, str]:
    """The demo's organization and keys: those of ``demo.json`` if they still work."""
    kept = _read(path)
    if kept is not None and _still_valid(gateway, kept):
        return {name: kept[name] for name in ("organization_id", *_KEYS)}
    organization = await gateway.perform("org.create", {"name": "Demo"})
    organization_id = organization["id"]
    await _give_texts(gateway, organization_id)
    await gateway.perform("topup", {"organization_id": organization_id, "amount": BALANCE})
    accounts: dict[str, str] = {"organization_id": organization_id}
    for name, (key_type, mode) in _KEYS.items():
        chosen = {"type": key_type, "mode": mode, "name": "demo"}
        created = await gateway.perform(
            "key.create", {"organization_id": organization_id, **chosen}
        )
        accounts[name] = created["value"]
    return accounts


async def _give_texts(gateway: Gateway, organization_id: str) -> None:
    """Let what phones write reach an organization, and a STOP end its messages."""
    whose = {"organization_id": organization_id}
    try:
        await gateway.perform("inbound.route", whose)
    except Conflict:  # the demo's file is gone: the organization before has them until now
        for route in (await gateway.perform("inbound.routes", {}))["routes"]:
            if route["number"] is None and route["keyword"] is None:
                await gateway.perform("inbound.unroute", {"route_id": route["id"]})
        await gateway.perform("inbound.route", whose)
    await gateway.perform("inbound.opt_outs", {**whose, "heeds": True})


async def make_people(gateway: Gateway, organization_id: str) -> None:
    """The demo's users, created if missing: the owner of its organization, and an operator."""
    member = {"organization_id": organization_id, "email": OWNER, "role": "owner"}
    operator = {"email": OPERATOR, "operator": True}
    for name, arguments in (("member.add", member), ("user.create", operator)):
        with suppress(Conflict):
            await gateway.perform(name, arguments)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _still_valid(gateway: Gateway, kept: dict[str, Any]) -> bool:
    try:
        holders = {gateway.authenticate(str(kept.get(name))).organization_id for name in _KEYS}
    except EngineError:
        return False
    return holders == {kept.get("organization_id")}


def phones_url(console_url: str) -> str:
    """The address of the page with the demo's phones."""
    return f"{console_url}/operator/plugins/{PAGE}"


def write_demo_file(
    path: Path,
    accounts: dict[str, str],
    base_url: str,
    console_url: str,
    inbox: Path,
    outbox: Path,
) -> None:
    """Write ``demo.json`` atomically, readable by its owner alone."""
    content = {
        "base_url": base_url,
        **accounts,
        "dashboard_url": f"{base_url}/app",
        "operator_url": f"{console_url}/operator/",
        "phones_url": phones_url(console_url),
        "inbox": str(inbox.resolve()),
        "outbox": str(outbox.resolve()),
        "owner_email": OWNER,
        "operator_email": OPERATOR,
    }
    draft = path.with_suffix(".tmp")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def curl_line(base_url: str, secret_key: str, to: str) -> str:
    """A line to paste into another terminal."""
    body = json.dumps({"to": to, "body": "Salam from Risala"})
    return (
        f"curl -s {base_url}/api/sms -H 'x-api-key: {secret_key}'"
        f" -H 'content-type: application/json' -d '{body}'"
    )


def greet(
    console: Console,
    base_url: str,
    console_url: str,
    accounts: dict[str, str],
    demo_file: Path,
    plan: NumberingPlan,
) -> None:
    """Print all addresses and the commands to paste."""
    line = curl_line(base_url, accounts["secret_key"], plan.example)
    head = f"Dashboard: {base_url}/app"
    rest = (
        _SIGN_IN,
        f"Risala is running at {base_url}",
        f"Keys and addresses: {demo_file}",
        f"Numbers and money are those of {plan.names}. Elsewhere: {demo_elsewhere(plan)}",
        f"Answer as a phone: risala demo text {plan.example} STOP --data {demo_file.parent}",
        f"See the phones as {OPERATOR}: {phones_url(console_url)}",
        "Paste this into another terminal:",
    )
    if console.is_terminal:
        intro = Text(head, style="bold green")
        for each in rest:
            intro.append(f"\n{each}", style="not bold default")
        console.print(Panel(intro, expand=False, border_style="green"))
    else:
        for each in (head, *rest):
            console.print(each, soft_wrap=True)
    # On a separate line without line breaks, so that it can be selected and pasted.
    console.print(Text(line), soft_wrap=True)
    console.print(Text("Stop with Ctrl-C. The life of each message follows.", style="dim"))


class Demo:
    """The additions of `--demo` to a service."""

    def __init__(self, data_dir: Path, plan: NumberingPlan) -> None:
        self._data_dir = data_dir
        self._plan = plan
        self._console = Console(highlight=False)
        self._inbox = Inbox(data_dir / "inbox.jsonl", self._console)
        self._carrier = make_carrier(self._receive)
        self._phones = Phones(plan, self._deliver, wall_ms)
        self.control_paths = control_paths(self._phones)
        """Paths of the control socket that only a demo has."""
        self.mail = MailSection(mailer="outbox", outbox=data_dir / "outbox.jsonl")
        """Instead of the settings' own: no mail leaves a demo."""
        self.payments = PaymentsSection.model_validate(METHODS if plan.is_default else SANDBOX)
        """Instead of the settings' own: no money moves."""
        self._is_set_up = False

    def joined(self, outside: Connections) -> Connections:
        """What a demo adds: mails that are printed too, its page, and that it is not ready yet."""
        mailer = outside.mailer and PrintingMailer(outside.mailer, self._console)
        pages = {**outside.pages, **phones_page(self._phones)}
        return replace(outside, preparing=self.preparing, mailer=mailer, pages=pages)

    def preparing(self) -> str | None:
        """Why the service is not ready yet: it is ready only once the accounts named in the demo
        file exist."""
        return None if self._is_set_up else "the demo is being set up"

    async def start_carrier(
        self, outer: AsyncExitStack, of_settings: Sequence[CarrierSection]
    ) -> tuple[CarrierSection, ...]:
        """Start the simulator, outside the engine, because it must still answer while the workers
        drain.

        Args:
            of_settings: the settings' own carriers, of which a demo keeps the channels.
        """
        nursery = await outer.enter_async_context(trio.open_nursery())
        outer.callback(nursery.cancel_scope.cancel)
        port = await nursery.start(self._carrier.simulator.run)
        channels = (each for each in of_settings if each.is_channel)
        return (self._carrier.section(port, self._plan), *channels)

    def _receive(self, message: ReceivedMessage) -> None:
        self._inbox.receive(message)
        self._phones.got(
            message.recipient,
            message.sender,
            message.text,
            message.at_ms,
            is_flash=message.flash,
        )

    def _deliver(self, parts: Sequence[DeliverSm | DataSm]) -> bool:
        simulator = self._carrier.simulator
        if simulator.receipts_waiting > WAITING_MAX:
            return False
        return simulator.deliver(*parts, system_id=SYSTEM_ID)

    async def begin(
        self, nursery: trio.Nursery, engine: Engine, listening: ServiceAddresses
    ) -> None:
        """Make the accounts that are missing, print how to use them, and show the life of messages
        from now on."""
        url = listening.api.url
        console_url = listening.console_url or url
        demo_file = self._data_dir / "demo.json"
        accounts = await make_accounts(engine.gateway, demo_file)
        await make_people(engine.gateway, accounts["organization_id"])
        await engine.wait_ready()
        outbox = self._data_dir / "outbox.jsonl"
        outbox.touch(mode=0o600)
        write_demo_file(demo_file, accounts, url, console_url, self._inbox.path, outbox)
        self._is_set_up = True
        greet(self._console, url, console_url, accounts, demo_file, self._plan)
        await nursery.start(print_life, self._console, engine.gateway.watch())


# The life of each message on the screen, as it happens; plain if there is no terminal.

_STYLE: Final = {
    "pending": "cyan",
    "processing": "yellow",
    "sent": "blue",
    "delivered": "bold green",
    "undelivered": "bold red",
    "failed": "bold red",
    "canceled": "magenta",
}
_PLACE: Final = 11
"""Columns for the status: as wide as the longest one, so that the sentences are aligned."""


def life_line(event: LifeEvent) -> Text:
    """One change as one line: time, message, number, status, description."""
    line = Text()
    line.append(iso(event.at)[11:23], style="dim")
    line.append(f"  …{event.message_id[-8:]}  {event.to}  ")
    line.append(event.status.ljust(_PLACE), style=_STYLE.get(event.status, ""))
    line.append(f"  {sentence(event)}")
    if event.raw:
        line.append(f"  ({event.raw})", style="dim")
    return line


async def print_life(
    console: Console,
    watch: AbstractContextManager[Subscription[LifeEvent]],
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Print every change until cancelled; if some were missed because the screen was too slow,
    print how many."""
    with watch as events:
        task_status.started()
        async for event in events:
            if isinstance(event, Lagged):
                console.print(Text(f"… {event.lost} changes not shown …", style="dim"))
            else:
                console.print(life_line(event), soft_wrap=True)
