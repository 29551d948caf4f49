"""A small world with an engine in it: everything outside of it, and what is known of both.

Everything outside the engine (what carriers took, what people were told) outlives a kill; of the
engine only its disk does, as it was at that instant. All chance comes from one seed, and all time
is that of a mock clock, so that a plan is a whole history that happens again.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from tests.simulation import machine
from tests.simulation.answering import Answerers
from tests.simulation.carriers import KNOWS, Carrier, Copy, Line, PostedLine
from tests.simulation.channels import SECTION, Channel
from tests.simulation.checks import past
from tests.simulation.checks.alarms import Alarms
from tests.simulation.checks.answers import PER_NUMBER, PER_ORGANIZATION, Answers
from tests.simulation.checks.erased import Erased
from tests.simulation.checks.mailings import Mailings
from tests.simulation.checks.stops import Stops
from tests.simulation.checks.talks import Talks
from tests.simulation.checks.watch import Watch
from tests.simulation.esmes import Esmes
from tests.simulation.growth.bounds import Bounds
from tests.simulation.growth.tables import Rows
from tests.simulation.outsiders import Mailboxes, Policy, Receivers, Sink, Till
from tests.simulation.pairs.pair import standby_of
from tests.simulation.plan import Plan
from tests.simulation.poisoned import Poisoned
from tests.support.mailing_book import ON_LOOP

from risala.config.model import CarrierSection, DeliverySection, OnUncertain, Settings
from risala.drivers.faces.kannel import KannelCompat, KannelSettings
from risala.drivers.faces.twilio.compat import TwilioCompat, TwilioSettings
from risala.drivers.payments.mobile_money import MobileMoney, MobileMoneySettings
from risala.engine.model.commands import Principal
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import DATABASE, Seams
from risala.plugins.contract import Inbound, Segment

UNCERTAIN = {"a": ("fail", "resend"), "b": ("resend", "resend")}
"""What each carrier does with messages and with codes of which nobody knows."""
STORY_LINES_MAX = 5000
"""Of a story that is told; a world that is worth telling is a small one."""


class World:
    def __init__(self, folder: Path, plan: Plan) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.plan = plan
        self.line: type[Line] = PostedLine if plan.seed % 2 else Line
        # The window of one and the pace of the other are full in most histories: so one too many
        # is seen.
        self.carriers = [
            Carrier(self, "a", rate_per_s=20.0, window=2, answers_s=(0, 0.02, 0.5, 2)),
            Carrier(self, "b", rate_per_s=0.5, window=2, answers_s=(0, 0.001, 0.02)),
        ]
        # In two of three histories one of them knows ids.
        self.carriers[plan.seed // 2 % 2].knows = KNOWS[plan.seed % 3]
        self.channels = [Channel(self)]
        self.receivers = Receivers(self)
        self.sink = Sink(self)
        self.mail = Mailboxes(self)
        self.till = Till(self)
        self.policy = Policy(self)
        self.disk = machine.WorldDisk(self)
        self.bugs = machine.Bugs()
        self.faces = {
            "kannel": KannelCompat(KannelSettings()),
            "twilio": TwilioCompat(TwilioSettings()),
        }
        self.esmes = Esmes(self)
        self.phones = Answerers(self)
        self.watch = Watch(self)
        self.answers = Answers(self)
        self.stops = Stops(self)
        self.talks = Talks(self)
        self.erased = Erased(self)
        self.mailings = Mailings()
        self.alarms = Alarms()
        self.poisoned = Poisoned(self)
        self.standby = standby_of(self)
        self.bounds = Bounds(self.settings)
        self.rows = Rows(self.settings)
        self._clock = machine.WorldClock(self)
        self._ids = plan.stream("ids")
        self._over = trio.Event()
        self._engine: Engine | None = None
        self.dead = False
        self.life = 0
        self.births_ms: list[int] = []
        """When each life began."""
        self.at_rest = False
        """Nothing goes wrong any more, and everything comes to its end."""
        self.story: list[str] = []
        self.faults: list[str] = []
        self.tally: Counter[str] = Counter()
        self.told: dict[tuple[str, str], bytes] = {}
        """What was answered under an organization's idempotency key."""
        self.accepted: dict[str, str] = {}
        """Message → organization, as customers were told."""
        self.accepted_ms: dict[str, int] = {}
        """When each of them was told first."""
        self.codes: dict[str, str] = {}
        """Code SMS's recipient → the code on its phone."""
        self.codes_of: dict[str, str] = {}
        """Message → the code that it brought."""
        self.sessions: list[tuple[str, str]] = []
        """Organization and id of each verification, as its customer was told."""
        self.approved: Counter[str] = Counter()
        self.guesses: Counter[str] = Counter()
        self.credited: dict[str, int] = {}
        """Reference → amount, as the operator was told."""
        self.exports: set[str] = set()
        """Files that owners asked for, as they were told."""
        self.written: list[Inbound] = []
        """By phones, and acknowledged to the carrier."""
        self.clock_was_set = False
        self.set_back_s = 0.0
        """By how much the clock was set back, in all: what keeps its hour waits so much longer."""
        self.names: dict[str, str] = {}
        self.past = past.Past()

    # -- what happens ------------------------------------------------------------------------------

    def say(self, *words: object) -> None:
        """A line of the story."""
        if len(self.story) < STORY_LINES_MAX:
            text = ": ".join(map(str, words))
            ghost = " (a ghost)" if self.dead else ""
            self.story.append(f"life {self.life} {trio.current_time():10.3f} s  {text}{ghost}")

    def fault(self, text: str) -> None:
        """Something that must never be."""
        self.faults.append(text)
        self.say("FAULT", text)

    def short(self, name: str) -> str:
        """An id as a story tells it: m1, m2."""
        kind, at = name[:1], name.partition("_")[0]
        if name not in self.names:
            number = sum(1 for each in self.names if each.startswith(at)) + 1
            self.names[name] = f"{kind}{number}"
        return self.names[name]

    def gone(self, life: int) -> bool:
        """Whether the process of that life is no more."""
        return self.dead or life != self.life

    @property
    def ways(self) -> list[Carrier]:
        """The carriers, and the channels of codes."""
        return [*self.carriers, *self.channels]

    # -- the engine and its ends -------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return Settings.model_validate(
            {
                "storage": {"data_dir": self.folder},
                "delivery": DeliverySection(),
                "webhooks": {"attempts_max": 12},
                "retention": {
                    "texts_days": past.TEXTS_DAYS,
                    "timelines_days": past.TIMELINES_DAYS,
                    "events_days": past.EVENTS_DAYS,
                    "inbound_days": past.INBOUND_DAYS,
                },
                "sinks": {"books": {"sink": "sim", "begin": "start"}},
                "policies": {"words": {"policy": "sim"}},
                "standby": self.standby.settings,
                "channels": SECTION if self.channels else {},
                "payments": {"till": {}, "bankily": {}},
                "pricing": {"low_balance": "20.00"},
                "replies": {
                    "per_number_and_day": PER_NUMBER,
                    "per_organization_and_hour": PER_ORGANIZATION,
                },
                "people": {"guesses_per_ip_per_minute": 5, "codes_per_address_per_hour": 3},
            }
        )

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[Engine]:
        self.life += 1
        self.births_ms.append(self._clock.now_ms())
        self.dead = False
        self.standby.hold()
        sections = tuple(
            CarrierSection(
                name=carrier.name,
                driver="sim",
                rate_per_s=carrier.rate_per_s,
                window_max=carrier.window,
                on_uncertain_message=OnUncertain(action=UNCERTAIN[carrier.name][0], after_s=20),
                on_uncertain_code=OnUncertain(action=UNCERTAIN[carrier.name][1], after_s=5),
            )
            for carrier in self.carriers
        )
        drivers = {carrier.name: carrier.open(self.line) for carrier in self.ways}
        ids = IdSource(self._clock, self._ids.randbytes)
        seams = Seams(
            self._clock,
            ids,
            inline_journal=True,
            disk=self.disk,
            parts=ON_LOOP,
            lease_lost=self.standby.lost,
        )
        outside = Connections(
            outbound=self.receivers,
            mailer=self.mail,
            payments={
                "till": self.till,
                "bankily": MobileMoney("Bankily", MobileMoneySettings(merchant="038 221")),
            },
            faces=self.faces,
            sinks={"books": self.sink},
            policies={"words": self.policy},
            url="https://sms.example",
        )
        settings = self.settings
        sections = (*sections, *(each for each in settings.carriers if each.is_channel))
        async with open_engine(settings, sections, drivers, seams, outside) as engine:
            self._engine = engine
            self.watch.arm()
            try:
                yield engine
            finally:
                self.look_at_bounds()

    @asynccontextmanager
    async def mortal_engine(self, after_steps: int | None) -> AsyncIterator[Engine]:
        """An engine that is killed after so many steps, or stopped at the end of the block."""
        self._over = trio.Event()
        killer = machine.Killer(self, after_steps)
        trio.lowlevel.add_instrument(killer)
        try:
            async with self.engine() as engine:
                yield engine
        finally:
            trio.lowlevel.remove_instrument(killer)
            if self.dead:
                machine.put_back(self.folder)
                self.standby.put_back()

    def die(self, how: str) -> None:
        """The disk of this instant is all that will be left."""
        if self.dead:
            return
        self.say("KILLED", how)
        self.tally[how] += 1
        self.dead = True
        for carrier in self.ways:
            carrier.cut_off()
        self.keep()
        self._over.set()

    def keep(self) -> None:
        """What is on the disk at this instant."""
        machine.keep(self.folder)
        self.standby.keep()

    def end_life(self) -> None:
        """The process is told to end, and does so in order."""
        self._over.set()

    async def wait_dead(self) -> None:
        await self._over.wait()

    def look_at_bounds(self) -> None:
        """How much there is in whatever the engine holds, and in its tables."""
        if self._engine is not None and not self.dead:
            self.bounds.look(self._engine, self._engine.gateway, self.esmes.open)
            self.rows.look(self.folder / DATABASE)

    def set_clock(self, by_ms: int) -> None:
        self._clock.ahead_ms += by_ms
        self.clock_was_set = True
        self.set_back_s += max(0, -by_ms) / 1000
        self.tally["clock"] += 1
        self.say("somebody sets the clock", f"{by_ms / 1000:+.0f} s")

    def pass_days(self, days: int) -> None:
        """Nobody runs the service for so long."""
        self.past.remember(self.folder / DATABASE, self.now_ms())
        self._clock.ahead_ms += days * past.DAY_MS
        self.tally["days"] += days
        self.say("days pass", days)

    @property
    def clock(self) -> machine.WorldClock:
        return self._clock

    def now_ms(self) -> int:
        return self._clock.now_ms()

    # -- what is seen from outside -----------------------------------------------------------------

    def answer(self, organization_id: str, key: str, response: bytes) -> str | None:
        """A customer gets an answer, unless the process died before it left."""
        if self.dead:
            return None
        before = self.told.setdefault((organization_id, key), response)
        if response != before:
            self.fault(f"key {key} was answered in two ways")
        said = json.loads(response)
        self.told.setdefault((organization_id, said["idempotencyKey"]), response)
        message_id: str = said["messageId"]
        self.accepts(message_id, organization_id)
        return message_id

    def accepts(self, message_id: str, organization_id: str) -> None:
        """A customer was told that a message is accepted."""
        self.accepted[message_id] = organization_id
        self.accepted_ms.setdefault(message_id, self.now_ms())

    def arrives(self, carrier: Carrier, segment: Segment) -> None:
        """A phone gets a part of a text."""
        self._look_at_code(segment)
        self.phones.got(carrier, segment)

    def _look_at_code(self, segment: Segment) -> None:
        if segment.urgent and (found := re.search(r"\d{6}", segment.text)):
            self.codes[segment.recipient] = self.codes_of[segment.message_id] = found.group()

    def wrote(self, message: Inbound) -> None:
        self.written.append(message)

    def copies(self) -> dict[str, dict[int, list[Copy]]]:
        """Message → segment → what carriers took of it."""
        found: dict[str, dict[int, list[Copy]]] = defaultdict(lambda: defaultdict(list))
        for carrier in self.ways:
            for copy in carrier.taken:
                found[copy.segment.message_id][copy.segment.number].append(copy)
        return found

    def principal(self, organization_id: str) -> Principal:
        return Principal(organization_id, "key", KeyType.SECRET, Mode.LIVE)
