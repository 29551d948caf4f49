"""A carrier that is a phone: the simulated app and the service's own driver for it.

The phone outlives every kill of the engine. Its calls go straight to the driver of the engine that
lives; those that a kill comes into have no answer. What leaves the phone is what people got.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio
from pydantic import SecretStr
from tests.simulation.answering import OURS
from tests.simulation.carriers import Carrier, Copy, Line, id_of
from tests.support.phone_calls import API_URL, DirectNetwork

from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.messages import PhoneIds
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.events import MessageFetched, PhoneHappening, StateReported, TextSent
from risala.lab.phone.network import NetworkLostError
from risala.lab.phone.phone import PhoneBehaviour, PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator
from risala.plugins.answering import ANSWER_S, CarrierAnswer, CarrierStream
from risala.plugins.contract import (
    CommandRefusedError,
    Declined,
    Driver,
    DriverContext,
    Inbound,
    Outcome,
    Receipt,
    ReceiptState,
    Segment,
    Unsent,
)
from risala.sms.segment import count

if TYPE_CHECKING:
    from tests.simulation.world import World

TOKEN: Final = "private0token0of0the0phone"
SETTINGS: Final = PhoneSettings(
    token=SecretStr(TOKEN), number=OURS, per_minute=60, per_day_max=None, fetch_s=30, sent_s=40
)
MOODS: Final = {
    "is well": 20,
    "dozes": 8,
    "is killed": 6,
    "is restarted": 3,
    "loses calls": 6,
    "loses answers": 12,
    "loses its stream": 6,
    "reports late": 8,
    "mixes states up": 8,
    "reports nothing": 4,
    "is slow": 6,
    "sends nothing": 6,
    "sends few": 3,
    "has a wrong clock": 3,
    "is wiped": 4,
}
MOOD_S: Final = (1.0, 3.0, 10.0, 30.0)
"""Between two moods."""
ERRORS: Final = ("RESULT_ERROR_NO_SERVICE (…)", "RESULT_NETWORK_REJECT (…)", "Unknown error 77.")
CLOCKS_S: Final = (-7200.0, 7200.0, 200_000.0)
LATE_S: Final = (3.0, 60.0, 300.0)
SLOW_S: Final = (5.0, 60.0)
RECONNECT_S: Final = 1.0
RETRY_S: Final = 2.0
"""Sooner than the app does: lives of an engine are short here."""
SENT_S: Final = 0.5
CONSENT_S: Final = 60.0
"""The longest that an operator waits who lets a wiped phone in."""


class PhoneCarrier(Carrier):
    """A phone with the SMSGate app."""

    def __init__(self, world: World, name: str, rate_per_s: float, window: int) -> None:
        super().__init__(world, name, rate_per_s, window, ())
        self.knows = "same id"
        self.number = OURS
        self.network = LivingNetwork(self)
        self.phone = PhoneSimulator(
            PhoneConfig(API_URL, TOKEN, reconnect_s=RECONNECT_S, retry_s=RETRY_S),
            network=self.network,
            on_event=self._happened,
            now_ms=world.clock.read_ms,
        )
        self.own_ids = PhoneIds(TOKEN, name)
        self.segments: dict[str, Segment] = {}
        """What the driver may have given to the phone, by the phone's id."""
        self.copies: dict[str, list[Copy]] = {}
        """What left the phone, by its id: a copy of each part."""
        self.engines: PhoneLine | None = None
        self._nursery: trio.Nursery | None = None

    def open(self, line: type[Line]) -> Driver:
        self.engines = PhoneLine(self)
        return self.engines

    def cut_off(self) -> None:
        self.network.cut()

    def bring(self, message: Inbound, after_s: float) -> None:
        assert self._nursery is not None
        self._nursery.start_soon(self._receive, message, after_s)

    async def _receive(self, message: Inbound, after_s: float) -> None:
        await trio.sleep(after_s)
        self.phone.receive(message.sender, message.text)

    # -- what people got -------------------------------------------------------------------------

    def _happened(self, event: PhoneHappening) -> None:
        if isinstance(event, MessageFetched):
            # Until it is fetched nobody has it, however often the driver had it ready.
            self.submits[id_of(self.segments[event.id])] += 1
        elif isinstance(event, TextSent):
            self._left(event)
        elif isinstance(event, StateReported) and event.state == "Delivered":
            for copy in self.copies.get(event.id, ()):
                copy.is_told = True

    def _left(self, sent: TextSent) -> None:
        segment, world = self.segments[sent.id], self.world
        if sent.id in self.copies:
            world.fault(f"DOUBLED: {sent.id} left the phone a second time under the same id")
        world.arrives(self, segment)
        world.tally["texts that left a phone"] += 1
        world.say(f"phone {self.name} sends {world.short(segment.message_id)}")
        self.copies[sent.id] = [
            Copy(replace(segment, number=number), sent.id, trio.current_time(), is_told=False)
            for number in range(1, count(segment.text).segments + 1)
        ]
        self.taken += self.copies[sent.id]

    def reports(self, body: bytes) -> None:
        """The phone tells states to an engine that lives, whatever becomes of the answer."""
        for told in json.loads(body):
            if told["state"] == "Delivered":
                for copy in self.copies.get(told["id"], ()):
                    copy.state = ReceiptState.DELIVERED

    # -- its days --------------------------------------------------------------------------------

    async def live(self) -> None:
        async with trio.open_nursery() as self._nursery:
            self._nursery.start_soon(self.phone.run)
            while True:
                await trio.sleep(self.dice.choice(MOOD_S))
                mood = self.choose(MOODS)
                if self.kind or not self.world.plan.has("phone-moods"):
                    mood = "is well"
                else:
                    self.world.tally["moods of a phone"] += mood != "is well"
                    self.world.say(f"phone {self.name}", mood)
                self._take(mood)
                if self.kind or self.dice.random() < 0.5:
                    await self._let_in()

    def _take(self, mood: str) -> None:
        phone, network, choose = self.phone, self.phone.network, self.dice.choice
        assert network is not None
        match mood:
            case "is well":
                self._recover()
            case "dozes":
                phone.doze(is_dozing=True)
            case "is killed":
                phone.kill()
            case "is restarted":
                phone.restart()
            case "loses calls":
                network.drop_calls = self.dice.randrange(1, 5)
            case "loses answers":
                network.drop_answers = self.dice.randrange(1, 5)
            case "loses its stream":
                self.network.cut()
            case "reports late":
                phone.behaviour.late_s = choose(LATE_S)
            case "mixes states up":
                phone.behaviour.is_out_of_order = phone.behaviour.reports_twice = True
            case "reports nothing":
                phone.behaviour.is_mute = True
            case "is slow":
                phone.config.sent_after_s = choose(SLOW_S)
            case "sends nothing":
                phone.behaviour.fails_with = choose(ERRORS)
            case "sends few":
                phone.behaviour.half_hour_max = 3
            case "has a wrong clock":
                phone.behaviour.clock_off_s = choose(CLOCKS_S)
            case "is wiped":
                self.world.tally["phones that were wiped"] += 1
                phone.wipe()

    def _recover(self) -> None:
        phone, network = self.phone, self.phone.network
        assert network is not None
        network.drop_calls = network.drop_answers = 0
        was_dozing = phone.behaviour.is_dozing
        phone.behaviour = PhoneBehaviour()
        phone.config.sent_after_s = SENT_S
        if not phone.is_open:
            phone.open()
        if was_dozing:
            phone.doze(is_dozing=False)

    async def _let_in(self) -> None:
        """The operator lets a phone in that was wiped, and so is another one."""
        if self.engines is None or self.engines.cut or not self.engines.has_candidate:
            return
        with trio.move_on_after(CONSENT_S):
            try:
                await self.engines.driver.command("replace", [])
            except CommandRefusedError as refused:
                self.world.say("the operator is refused", refused)


class LivingNetwork(DirectNetwork):
    """Carries calls to the engine that lives, and answers back while it does."""

    def __init__(self, carrier: PhoneCarrier) -> None:
        super().__init__(None)
        self._carrier = carrier

    async def call(
        self,
        method: str = "GET",
        path: str = "/device",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> CarrierAnswer | CarrierStream:
        line = self._carrier.engines
        if line is None or line.cut:
            raise NetworkLostError
        self.driver = line.driver
        if method == "PATCH" and path == "/message":
            self._carrier.reports(body)
        with trio.move_on_after(ANSWER_S) as scope:
            answer = await super().call(method, path, headers, body)
        if line.cut or scope.cancelled_caught:
            raise NetworkLostError
        if path.endswith("/inbound") and answer.status == 200:
            self._brought(json.loads(body))
        return answer

    def _brought(self, event: dict[str, object]) -> None:
        world, told = self._carrier.world, event["payload"]
        if event["event"] == "sms:received":
            assert isinstance(told, dict)
            world.wrote(Inbound(told["sender"], OURS, told["message"], 0, (str(event["id"]),)))


class PhoneLine:
    """A phone's driver in one engine. After a kill it is heard by nobody."""

    def __init__(self, carrier: PhoneCarrier) -> None:
        self._carrier = carrier
        self._world = carrier.world
        self._life = carrier.world.life
        carrier.connect()
        self.driver = PhoneDriver(carrier.name, SETTINGS, now_ms=carrier.world.clock.read_ms)
        self.capabilities = self.driver.capabilities

    @property
    def cut(self) -> bool:
        """This engine has been killed."""
        return self._world.gone(self._life)

    @property
    def has_candidate(self) -> bool:
        """Whether another phone waits for the operator."""
        link = self.driver._link
        return link is not None and link.book.candidate is not None

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        await self.driver.run(context, task_status=task_status)

    async def submit(self, segment: Segment) -> Outcome:
        if self.cut:
            return Unsent("the process is gone")
        carrier = self._carrier
        carrier.meet()
        carrier.segments[carrier.own_ids.of(segment)] = segment
        try:
            return await self.driver.submit(segment)
        finally:
            carrier.in_flight -= 1

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        return self.driver.declines(recipient, segments, is_next=is_next)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return await self.driver.query(carrier_id, sender=sender)
