"""A service with every face open, and all that stands around it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import httpx2
import trio
from tests.flows.conftest import Account, Service

from patience import HANG_S
from processes import Process
from proofs.process.around import Carrier, Hooks, Modem
from proofs.process.channels import CHAT, TABLE, Chat
from risala.config.channels import SMS
from smpp_peers.service import credential, port_of
from stripe_stand_in import SECRET, StandIn

T = TypeVar("T")

PHONES: Final = "+2223"
"""The numbers of the carrier; its modem's are +2222."""
PRICE: Final = 50
EVERYTHING: Final = 100_000_000
"""Minor units: more than any run spends."""
WROTE: Final = "abcdefghij" * 20
"""What a phone of the carrier writes: two parts."""
TYPES: Final = (
    "sms.sent",
    "sms.delivered",
    "sms.failed",
    "sms.canceled",
    "sms.received",
    "conversation.received",
    "verify.sent",
    "verify.approved",
    "verify.failed",
    "conversation.paused",
)
SETTINGS: Final = """
[webhooks]
allow_insecure = true
[replies]
# Limits are others' matter: so every phone's first two texts are replied to.
per_organization_and_hour = 100000
[smpp_server]
enabled = true
bind = ["127.0.0.1:0"]
binds_per_minute = 10000
[compat.kannel]
enabled = true
[compat.twilio]
enabled = true
[payments.stripe]
secret_key = "sk_live_1"
webhook_secret = "{secret}"
api = "http://127.0.0.1:{stripe}"
amount_min = "1"
[[carriers]]
name = "mattel"
driver = "smpp"
prefixes = ["+2223"]
rate_per_s = 1000
window_max = 20
on_uncertain_message = {{ action = "{action}", after_s = 0.5 }}
on_uncertain_code = {{ action = "resend", after_s = 0.5 }}
[carriers.smpp]
host = "127.0.0.1"
port = {smsc}
system_id = "risala"
reconnect_first_s = 0.1
reconnect_max_s = 0.5
# Longer than anything here lasts: no answer is late because the machine is slow.
response_timeout_s = 600
# A kill is about the policy: no receipt shall settle what it is to decide.
user_message_reference = false
[[carriers]]
name = "sim-1"
driver = "modem"
prefixes = ["+2222"]
rate_per_s = 100
on_uncertain_message = {{ action = "{action}", after_s = 0.5 }}
[carriers.modem]
port = "{modem}"
prompt_timeout_s = 2
send_timeout_s = 10
check_every_s = 1
reopen_first_s = 0.1
reopen_max_s = 0.5
{more}
"""
PHONES: Final = 251
"""Of one life of the carrier. Parts are numbered by 256 references in turn: none of these phones
has the same one again before 251 times 256 messages."""
SCENARIO: Final = """
[answers]
mean_s = 0.03
spread_s = 0.02
[smsc]
receipt_retry_s = 0.1
[receipts]
wait = {{ mean_s = 0.1, spread_s = 0.05 }}
[inbound]
rate_per_s = {rate}
messages_max = {count}
shuffle = true
recipient = "1234"
senders = {senders}
forms = ["udh8", "sar"]
texts = {texts}
"""


@dataclass(frozen=True)
class Badge:
    """A credential of a face."""

    key: str
    name: str
    password: str


@dataclass
class House:
    """The service's place: its directory, its life, and who is around."""

    path: Path
    action: str
    """What follows where nobody knows: ``fail`` or ``resend``."""
    service: Service
    carrier: Carrier
    modem: Modem
    hooks: Hooks
    stripe: StandIn
    chat: Chat
    phones_sent: list[str] = field(default_factory=list)
    """Texts that the modem's phones wrote and that are owed."""
    written: int = 0
    """How many those phones wrote in all."""
    processes: list[Process] = field(default_factory=list)
    account: Account = field(init=False)
    kannel: Badge = field(init=False)
    twilio: Badge = field(init=False)
    smpp: Badge = field(init=False)
    endpoint: str = field(init=False)
    cookies: dict[str, str] = field(init=False)
    """Of the owner's browser, which is signed in."""

    # -- its life

    async def start(self, **environment: str) -> None:
        await in_thread(self.launch, **environment)
        await in_thread(self.wait_running)

    def launch(self, **environment: str) -> None:
        service = self.service
        command = ("serve", "--data", str(service.data), "--port", "0", *service.options)
        service.process = Process(
            (*risala(), *command), self.path, **{"COVERAGE_PROCESS_START": "", **environment}
        )
        service.processes.append(service.process)

    def wait_running(self) -> None:
        """Until it says where it is.

        Raises:
            AssertionError: it ended before that.
        """
        assert self.service.process is not None
        said = "Risala is running at "
        line = self.service.process.wait_line(lambda line: line.startswith(said))
        self.service.url = line.removeprefix(said)
        self.chat.called_at = f"{self.service.url}/carriers/{CHAT}"

    @property
    def process(self) -> Process:
        assert self.service.process is not None
        return self.service.process

    @property
    def smpp_port(self) -> int:
        return port_of(self.service)

    def client(self) -> httpx2.AsyncClient:
        return self.service.async_client()

    # -- who lives in it

    def furnish(self) -> None:
        """An organization with a member, keys and credentials for every face."""
        service = self.service
        self.account = service.organization(f"{EVERYTHING // 100}")
        mine = {"organization_id": self.account.organization_id}
        service.perform("verify.config", **mine, per_organization_per_hour=1_000_000)
        opened = [SMS, CHAT]
        service.perform("verify.channels", **mine, channels=[SMS], secret=opened, fallback_s=10)
        self.kannel, self.twilio = (self._badge(each) for each in ("kannel", "twilio"))
        self.smpp = Badge(*credential(service, self.account.organization_id))
        hook = f"http://127.0.0.1:{self.hooks.port}/hook"
        replies = {"may_reply": True, **mine}
        made = service.perform("webhook.create", **replies, url=hook, types=list(TYPES))
        self.endpoint = made["endpoint"]["id"]
        other = {"url": f"http://127.0.0.1:{self.hooks.port}/other", "types": ["sms.received"]}
        service.perform("webhook.create", **replies, **other)  # the first reply counts
        service.perform("inbound.route", **mine)  # after the endpoint: all it brings is owed there
        email = "aicha@example.com"
        service.perform("member.add", **mine, email=email, role="owner")
        self.cookies = self._sign_in(service.perform("user.sign_in", email=email)["token"])

    def _badge(self, face: str) -> Badge:
        mine = {"organization_id": self.account.organization_id}
        told = self.service.perform("credential.create", **mine, face=face)
        made = told["credential"]
        return Badge(made["id"], made["username"], told["password"])

    def _sign_in(self, token: str) -> dict[str, str]:
        with httpx2.Client(base_url=self.service.url, trust_env=False, timeout=HANG_S) as browser:
            link = f"/sign-in/link/{token}"
            mark = marks(browser.get(link).text)
            done = browser.post(link, data=mark)
            assert done.status_code == 303, done.text
            return {"risala": browser.cookies["risala"]}

    def close(self) -> None:
        self.service.close()
        for process in self.service.processes:
            process.end()
        for each in (self.carrier, self.modem, self.hooks):
            each.end()


def risala() -> tuple[str, ...]:
    import sys

    return (sys.executable, "-m", "risala")


_MARK: Final = re.compile(r'name="(form_token|once)" value="([^"]*)"')


def marks(page: str) -> dict[str, str]:
    """The hidden fields that a form must bear; those of the last form that has them all."""
    return dict(_MARK.findall(page))


async def in_thread(work: Callable[..., T], *given: object, **named: object) -> T:
    return await trio.to_thread.run_sync(partial(work, *given, **named))


@asynccontextmanager
async def opened_house(
    path: Path,
    *,
    action: str = "fail",
    inbound: int = 2000,
    inbound_per_s: float = 8.0,
    more: str = "",
    data: str = "data",
) -> AsyncIterator[House]:
    """A house whose service is not running yet, and has no one in it.

    Args:
        action: what follows where nobody knows what became of a message.
        inbound: how many messages the carrier's phones write in all, each in two parts.
        more: further settings.
    """
    scenario = path / "phones.toml"

    def written(life: int) -> Path:
        """What the carrier is to do in this life of it: its phones say nothing twice. They are
        others each time, since it begins again with the first reference of parts; and so many that
        none has used one again while a repeated part of it may wait."""
        texts = [f"phone {life}.{number} wrote {WROTE}" for number in range(inbound)]
        told = SCENARIO.format(
            rate=inbound_per_s,
            count=inbound,
            texts=json.dumps(texts),
            senders=json.dumps([f"+22236{life:03}{phone:03}" for phone in range(PHONES)]),
        )
        scenario.write_text(told, "utf-8")
        return scenario

    stripe, chat = StandIn(now_s=int(time.time())), Chat(balance=1_000_000)
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, stripe.serve, 0, host="127.0.0.1")
        (listener, *_) = await nursery.start(serve)
        channels = TABLE.format(url=await nursery.start(chat.run))
        carrier = await in_thread(Carrier, path, written)
        modem = await in_thread(Modem, path, path / "modem")
        hooks = await in_thread(Hooks, path)
        config = path / "risala.toml"
        config.write_text(
            SETTINGS.format(
                secret=SECRET,
                stripe=listener.socket.getsockname()[1],
                smsc=carrier.port,
                modem=path / "modem",
                action=action,
                more=more + channels,
            ),
            "utf-8",
        )
        service = Service(path / data, ("--config", str(config)), [])
        house = House(path, action, service, carrier, modem, hooks, stripe, chat)
        try:
            yield house
        finally:
            with trio.CancelScope(shield=True):
                await in_thread(house.close)
            nursery.cancel_scope.cancel()
