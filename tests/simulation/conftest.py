"""A small world with an engine in it: customers, carriers with bad days, and kills at any step.

Everything outside the engine (what carriers took, what customers were told) outlives a kill; of
the engine only its disk does, as it was at that instant. All chance comes from one seed, and all
time is that of a mock clock, so that a seed is a whole history that happens again.
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio

from risala.config.model import (
    CarrierSection,
    DeliverySection,
    OnUncertain,
    Settings,
    StorageSection,
)
from risala.engine.core import DATABASE, Seams
from risala.engine.engine import Engine, open_engine
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import KeyType, Mode, Principal
from risala.engine.model.ids import IdSource
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    DriverContext,
    Health,
    HealthState,
    NotStoredError,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Segment,
    Throttled,
    Uncertain,
    Unsent,
)

FATES = {
    "accept": 60,
    "throttle": 5,
    "refuse now": 6,
    "refuse here": 4,
    "refuse for good": 3,
    "unsent": 3,
    "take and be silent": 6,
    "lose and be silent": 4,
    "answer late": 4,
    "break": 2,
}
DIES_POSTING = 0.01
"""The chance that a post is the last thing that the process does."""
RECEIPTS = {"delivered": 75, "undelivered": 8, "none": 9, "twice": 8}


@dataclass
class Copy:
    """A segment that a carrier has taken."""

    segment: Segment
    carrier_id: str
    at_s: float
    state: ReceiptState | None = None
    """What its receipt says; None: there is none."""


@dataclass
class Post:
    """A receipt on its way to us."""

    due_s: float
    receipt: Receipt


class Carrier:
    """One carrier's side of the wire. Nothing here knows of the engine's kills."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.taken: list[Copy] = []
        self.post: list[Post] = []
        self.kind = False
        """Takes everything, and delivers it."""

    def take(self, segment: Segment) -> str:
        random_ = self.world.random
        copy = Copy(segment, f"{self.name}{len(self.taken):04}", trio.current_time())
        self.world.look_at_code(segment)
        self.taken.append(copy)
        fate = "delivered" if self.kind else self.world.choose(RECEIPTS)
        if fate != "none":
            copy.state = (
                ReceiptState.UNDELIVERABLE if fate == "undelivered" else ReceiptState.DELIVERED
            )
            receipt = Receipt(copy.carrier_id, copy.state, f"stat:{copy.state}")
            for _ in range(2 if fate == "twice" else 1):
                due_s = trio.current_time() + random_.choice((0, 0, 0.5, 5, 60))
                self.post.append(Post(due_s, receipt))
        return copy.carrier_id


class Line:
    """A driver: one engine's connection to a carrier. After a kill its words reach nobody."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._world = carrier.world
        self._life = carrier.world.life
        self._context: DriverContext | None = None
        self._nursery: trio.Nursery | None = None

    capabilities = Capabilities(
        alphanumeric_sender=True,
        receipts=True,
        inbound=False,
        query=False,
        validity=True,
        window_max=8,
    )

    @property
    def cut(self) -> bool:
        """This engine has been killed."""
        return self._world.dead or self._world.life != self._life

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        self._context = context
        task_status.started()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._deliver_post)
            while True:
                context.health(Health(HealthState.UP, "Up."))
                await trio.sleep(self._world.random.uniform(20, 120))
                if not self._carrier.kind:
                    context.health(Health(HealthState.DOWN, "Down for a while."))
                    await trio.sleep(self._world.random.uniform(0.1, 10))

    async def _deliver_post(self) -> None:
        assert self._context is not None
        while True:
            await trio.sleep(0.25 if self._carrier.post else 5)
            for post in [p for p in self._carrier.post if p.due_s <= trio.current_time()]:
                try:
                    await self._context.receipt(post.receipt)
                except NotStoredError:
                    continue
                if self.cut:
                    return
                self._carrier.post.remove(post)

    async def submit(self, segment: Segment) -> Outcome:
        random_ = self._world.random
        await trio.sleep(random_.choice((0, 0.001, 0.02, 0.5)))
        if self.cut:
            return Unsent("the process is gone")
        fate = "accept" if self._carrier.kind else self._world.choose(FATES)
        if fate in ("accept", "take and be silent", "answer late", "break"):
            carrier_id = self._carrier.take(segment)
            # A kill may come between the carrier's yes and our note of it.
            await trio.sleep(random_.choice((0, 0.01)))
        match fate:
            case "accept":
                return Accepted(carrier_id)
            case "answer late":
                assert self._nursery is not None
                self._nursery.start_soon(self._answer_late, segment, Accepted(carrier_id))
            case "break":
                raise RuntimeError("a bug in a driver")
            case "throttle":
                return Throttled("THROTTLED", retry_after_s=random_.choice((None, 2.0)))
            case "refuse now":
                return Refused(Scope.NOW, "SYSERR", "Not now.")
            case "refuse here":
                return Refused(Scope.CARRIER, "NOROUTE", "Not here.")
            case "refuse for good":
                return Refused(Scope.FINAL, "BADADDR", "Never.")
            case "unsent":
                return Unsent("NOLINK")
        return Uncertain("NOANSWER")

    async def _answer_late(self, segment: Segment, outcome: Outcome) -> None:
        await trio.sleep(self._world.random.uniform(0.1, 30))
        assert self._context is not None
        await self._context.late_outcome(segment, outcome)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return None


class PostedLine(Line):
    """The same, and it is posted to. Now and then the process dies in the middle of a group."""

    def post(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        if not self.cut and not self._carrier.kind and self._world.random.random() < DIES_POSTING:
            if self._world.random.random() < 0.5:
                self._carrier.take(segment)
            self._world.die()
        if self._nursery is None:
            answered(Unsent("not running"))
        else:
            self._nursery.start_soon(self._answer, segment, answered)

    async def _answer(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        try:
            outcome = await self.submit(segment)
        except RuntimeError:
            outcome = None  # it says nothing of use
        answered(outcome)


class Killer(trio.abc.Instrument):
    """After so many steps of tasks the process is no more: its disk is kept as it is then."""

    def __init__(self, world: World, after_steps: int) -> None:
        self._world = world
        self._left = after_steps

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._left -= 1
        if self._left == 0:
            self._world.die()


@dataclass
class World:
    folder: Path
    seed: int
    carriers: list[Carrier] = field(default_factory=list)
    told: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """What was answered under an organization's idempotency key."""
    accepted: dict[str, str] = field(default_factory=dict)
    """Message → organization, as customers were told."""
    codes: dict[str, str] = field(default_factory=dict)
    """Code SMS's recipient → the code on its phone."""
    approved: Counter[str] = field(default_factory=Counter)
    guesses: Counter[str] = field(default_factory=Counter)
    dead: bool = False
    life: int = 0
    kills: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.line: type[Line] = PostedLine if self.seed % 2 else Line
        self.rate_per_s = 200.0
        self.carriers = [Carrier(self, name) for name in ("a", "b")]
        self._clock = TrioClock()
        self._over = trio.Event()

    def choose(self, weights: dict[str, int]) -> str:
        return self.random.choices([*weights], [*weights.values()])[0]

    # -- the engine and its ends -------------------------------------------------------------------

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[Engine]:
        self.life += 1
        self.dead = False
        uncertain = {"a": ("fail", "resend"), "b": ("resend", "resend")}
        sections = tuple(
            CarrierSection(
                name=carrier.name,
                driver="sim",
                rate_per_s=self.rate_per_s,
                on_uncertain_message=OnUncertain(action=uncertain[carrier.name][0], after_s=20),
                on_uncertain_code=OnUncertain(action=uncertain[carrier.name][1], after_s=5),
            )
            for carrier in self.carriers
        )
        drivers = {carrier.name: self.line(carrier) for carrier in self.carriers}
        settings = Settings(
            storage=StorageSection(data_dir=self.folder), delivery=DeliverySection()
        )
        seams = Seams(self._clock, IdSource(self._clock), inline_journal=True)
        async with open_engine(settings, sections, drivers, seams) as engine:
            yield engine

    @asynccontextmanager
    async def mortal_engine(self, after_steps: int) -> AsyncIterator[Engine]:
        """An engine that is killed after so many steps, or stopped at the end of the block."""
        self._over = trio.Event()
        killer = Killer(self, after_steps)
        async with self.engine() as engine:
            trio.lowlevel.add_instrument(killer)
            try:
                yield engine
            finally:
                trio.lowlevel.remove_instrument(killer)
        if self.dead:
            self._come_back()

    def die(self) -> None:
        """The disk of this instant is all that will be left."""
        if self.dead:
            return
        self.dead = True
        self.kills += 1
        source = sqlite3.connect(f"{(self.folder / DATABASE).as_uri()}?mode=ro", uri=True)
        kept = sqlite3.connect(self.folder / "kept.db")
        source.backup(kept)
        kept.close()
        source.close()
        self._over.set()

    async def wait_dead(self) -> None:
        await self._over.wait()

    def _come_back(self) -> None:
        for ending in ("-wal", "-shm"):
            Path(f"{self.folder / DATABASE}{ending}").unlink(missing_ok=True)
        (self.folder / "kept.db").replace(self.folder / DATABASE)

    # -- what is seen from outside -----------------------------------------------------------------

    def answer(self, organization_id: str, key: str, response: bytes) -> str | None:
        """A customer gets an answer, unless the process died before it left."""
        if self.dead:
            return None
        before = self.told.setdefault((organization_id, key), response)
        assert response == before, "the same key was answered in two ways"
        said = json.loads(response)
        self.told.setdefault((organization_id, said["idempotencyKey"]), response)
        self.accepted[said["messageId"]] = organization_id
        return said["messageId"]

    def look_at_code(self, segment: Segment) -> None:
        if segment.urgent and (found := re.search(r"\d{6}", segment.text)):
            self.codes[segment.recipient] = found.group()

    def copies(self) -> dict[str, dict[int, list[Copy]]]:
        """Message → segment → what carriers took of it."""
        found: dict[str, dict[int, list[Copy]]] = defaultdict(lambda: defaultdict(list))
        for carrier in self.carriers:
            for copy in carrier.taken:
                found[copy.segment.message_id][copy.segment.number].append(copy)
        return found

    def principal(self, organization_id: str) -> Principal:
        return Principal(organization_id, "key", KeyType.SECRET, Mode.LIVE)


@pytest.fixture
def new_world(tmp_path: Path):
    """``new_world(seed)``."""
    return lambda seed: World(tmp_path, seed)
