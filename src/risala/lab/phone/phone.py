"""What the parts of a simulated phone stand on: what it is, how it misbehaves, what
it knows, its calls, its events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import trio

from risala.lab.phone.events import NetworkLost, PhoneHappening, PhoneRefused
from risala.lab.phone.network import DroppingNetwork, NetworkLostError, PhoneNetwork
from risala.lab.phone.store import AppStore, StoredText


@dataclass(slots=True)
class PhoneConfig:
    """What a phone is, and how fast its app is. Seconds throughout."""

    url: str
    """The app's API URL: ``https://…/carriers/NAME/mobile/v1``."""
    token: str = field(repr=False)
    """The private token."""
    name: str = "samsung/a14"
    sims: tuple[str, ...] = ("Mauritel",)
    """The operators of its SIMs: the first is SIM 1."""
    sent_after_s: float = 0.5
    delivered_after_s: float = 1.0
    reconnect_s: float = 5.0
    retry_s: float = 10.0
    pull_s: float = 900.0
    """How often it looks without being told."""


@dataclass(slots=True)
class PhoneBehaviour:
    """How the phone misbehaves; may be changed at any time."""

    is_dozing: bool = False
    """Android lets it neither hear events nor call, until it wakes."""
    is_mute: bool = False
    """The phone fetches and sends, and reports nothing."""
    late_s: float = 0.0
    """Seconds before each report of a state."""
    is_out_of_order: bool = False
    """Android's words overtake each other: ``Processed`` comes after ``Sent``."""
    reports_twice: bool = False
    clock_off_s: float = 0.0
    """By how much its clock is ahead."""
    half_hour_max: int | None = None
    """Android refuses more texts in half an hour; None: it does not count."""
    fails_with: str = ""
    """The error of each send; empty: all go well."""
    gives_receipts: bool = True


Happened = TypeVar("Happened")


def wall_ms() -> int:
    """UTC epoch milliseconds."""
    return time.time_ns() // 1_000_000


def unheard(_event: PhoneHappening) -> None:
    """Nobody watches the phone."""


def _any_event(_event: object) -> bool:
    return True


class SimulatedPhone:
    """A phone, as its parts know it.

    Args:
        network: carries its calls; None: real HTTP.
        on_event: hears what happens.
        now_ms: the true time, UTC epoch milliseconds.
    """

    def __init__(
        self,
        config: PhoneConfig,
        *,
        network: PhoneNetwork | None = None,
        on_event: Callable[[PhoneHappening], None] = unheard,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        self._true_ms = now_ms
        self.config = config
        self.behaviour = PhoneBehaviour()
        self.events: list[PhoneHappening] = []
        self.network: DroppingNetwork | None = None if network is None else DroppingNetwork(network)
        self.store = AppStore(self.now_ms)
        self.account: dict[str, str] | None = None
        """Who it is, as the service told it; None: it has not registered."""
        self.webhooks: list[dict[str, str]] = []
        self.settings: dict[str, Any] = {}
        self.app: trio.Nursery | None = None
        """The tasks of the app while it runs."""
        self._on_event = on_event
        self._changed = trio.Event()

    def now_ms(self) -> int:
        """The phone's own clock, UTC epoch milliseconds."""
        return self._true_ms() + round(self.behaviour.clock_off_s * 1000)

    # -- calls -------------------------------------------------------------------------------------

    def headers(self, token: str | None = None) -> dict[str, str]:
        """The headers of a call to the app's API."""
        own = (self.account or {}).get("token", "")
        return {
            "Authorization": f"Bearer {token or own}",
            "User-Agent": "me.capcom.smsgateway/simulated",
            "Content-Type": "application/json",
        }

    async def ask(
        self, method: str, path: str, fields: object = None, *, token: str | None = None
    ) -> tuple[int, bytes] | None:
        """Status and body of the API's answer; None: there was none."""
        body = b"" if fields is None else json.dumps(fields).encode()
        return await self.call(method, path, self.headers(token), body)

    async def call(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes] | None:
        """As :meth:`ask`, of any address."""
        assert self.network is not None
        await self.until(lambda: not self.behaviour.is_dozing)
        call = f"{method} {path.rpartition('/mobile/v1')[2]}"
        try:
            answer = await self.network.ask(method, path, headers, body)
        except NetworkLostError:
            self.tell(NetworkLost(call))
            return None
        if answer[0] >= 300:
            self.tell(PhoneRefused(call, answer[0]))
        return answer

    # -- watching ----------------------------------------------------------------------------------

    def tell(self, event: PhoneHappening) -> None:
        """Note that something happened."""
        self.events.append(event)
        self._on_event(event)
        self.kick()

    async def wait(
        self, kind: type[Happened], matches: Callable[[Happened], bool] = _any_event
    ) -> Happened:
        """The first event of a kind, which may have been already."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and matches(event):
                    return event
            await self._changed.wait()

    async def wait_ready(self) -> None:
        """Wait until it knows what the service wants to hear of, and how to sign it."""
        await self.until(lambda: bool(self.webhooks and self.settings))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until this is so."""
        while not condition():
            await self._changed.wait()

    def start(self, task: Callable[[StoredText], Any], text: StoredText) -> None:
        """Begin a task of the app with a text; nothing, unless the app runs."""
        if self.app is not None:
            self.app.start_soon(task, text)

    def kick(self) -> None:
        """Something has changed: wake what waits for it."""
        changed, self._changed = self._changed, trio.Event()
        changed.set()
