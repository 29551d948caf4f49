"""Carriers with bad days: the other side of the wire, which outlives every kill of ours."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from risala.engine.rules.throttle import BURST_S
from risala.plugins.contract import (
    SETTLE_S_MIN,
    Accepted,
    Capabilities,
    Driver,
    DriverContext,
    Health,
    HealthState,
    Inbound,
    NotStoredError,
    NotTaken,
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

if TYPE_CHECKING:
    from tests.simulation.world import World

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
RECEIPTS = {"delivered": 75, "undelivered": 8, "none": 9, "twice": 8}
DIES_POSTING = 0.01
"""The chance that a post is the last thing that the process does."""
CAN = 8
"""Submits that a driver takes at once; the settings say less for each carrier."""
KNOWS = ("nothing", "same id", "asked")
"""What a carrier knows of ids: that the same one twice is one text, or also to say which it has."""
TAKEN_LATER_S = 5.0
"""How much later a carrier takes what it had not answered: when it was asked, it had it not yet."""
DAY_S = 86_400.0
SPANS_S = (1.0, 5.0, 20.0)
"""Stretches of time in which a carrier's pace is looked at."""


@dataclass
class Copy:
    """A segment that a carrier has taken."""

    segment: Segment
    carrier_id: str
    at_s: float
    state: ReceiptState | None = None
    """What its receipt says; None: there is none."""
    is_told: bool = True
    """Its carrier brings the receipt until it is acknowledged. False: it may have given up."""


@dataclass
class Post:
    """A receipt, or what a phone wrote, on its way to us."""

    due_s: float
    what: Receipt | Inbound


class Carrier:
    """One carrier's side of the wire. Nothing here knows of the engine's kills.

    Args:
        window: submits that it takes at once, as the settings say.
        answers_s: how long it may take for an answer.
    """

    def __init__(
        self,
        world: World,
        name: str,
        rate_per_s: float,
        window: int,
        answers_s: tuple[float, ...],
    ) -> None:
        self.world = world
        self.name = name
        self.rate_per_s = rate_per_s
        self.window = window
        self.answers_s = answers_s
        self.dice = world.plan.stream(f"carrier {name}")
        self.taken: list[Copy] = []
        self.taken_before = 0
        """By other machines: no id is given again."""
        self.post: list[Post] = []
        self.kind = not world.plan.has("bad-carriers")
        """Takes everything, and delivers it."""
        self._submits: deque[float] = deque(maxlen=2000)
        """When each was begun by the engine that lives."""
        self.in_flight = 0
        self.knows = "nothing"
        self.ids: dict[str, str] = {}
        """What it took, by the id that a submit had, and its own id for it."""
        self.submits: Counter[str] = Counter()
        """How often each id came."""
        self.number: str | None = None
        """The only one that its texts are from, if it has one of its own."""
        self.later: list[tuple[float, Segment]] = []
        """What it takes later than it was asked, and when."""

    def open(self, line: type[Line]) -> Driver:
        """The driver of an engine that begins."""
        return line(self)

    async def live(self) -> None:
        """What goes on at the carrier by itself, through all lives of the engine."""

    def cut_off(self) -> None:
        """The engine is no more."""

    def choose(self, weights: dict[str, int]) -> str:
        return self.dice.choices([*weights], [*weights.values()])[0]

    def take_later(self) -> None:
        """Take what is due by now."""
        due = [segment for at_s, segment in self.later if at_s <= trio.current_time()]
        self.later = [each for each in self.later if each[0] > trio.current_time()]
        for segment in due:
            self.take(segment)

    def take(self, segment: Segment) -> str:
        """A text for the phone; none if it knows ids and had this one."""
        name = id_of(segment)
        if self.knows == "nothing":
            return self._take(segment)
        if name in self.ids:
            self.world.tally["texts that came again with the same id"] += 1
        else:
            self.ids[name] = name
            self._take(segment, name)
        return name

    def _take(self, segment: Segment, name: str | None = None) -> str:
        carrier_id = name or f"{self.name}{self.taken_before + len(self.taken):04}"
        copy = Copy(segment, carrier_id, trio.current_time())
        self.world.arrives(self, segment)
        if not segment.text:
            self.world.fault(f"{segment.message_id} left without its text")
        self.taken.append(copy)
        fate = "delivered" if self.kind else self.choose(RECEIPTS)
        self.world.say(f"carrier {self.name} takes {self.world.short(segment.message_id)}", fate)
        if fate != "none":
            copy.state = (
                ReceiptState.UNDELIVERABLE if fate == "undelivered" else ReceiptState.DELIVERED
            )
            receipt = Receipt(copy.carrier_id, copy.state, f"stat:{copy.state}")
            for _ in range(2 if fate == "twice" else 1):
                due_s = trio.current_time() + self.dice.choice((0, 0, 0.5, 5, 60))
                self.post.append(Post(due_s, receipt))
        return copy.carrier_id

    def bring(self, message: Inbound, after_s: float) -> None:
        """Somebody wrote to us by this carrier."""
        self.post.append(Post(trio.current_time() + after_s, message))

    def connect(self) -> None:
        """An engine begins: what the one before had in flight is gone, and so is its bucket."""
        self.in_flight = 0
        self._submits.clear()

    def meet(self) -> None:
        """A submit begins: the carrier's window and its pace have to hold."""
        self.in_flight += 1
        if self.in_flight > self.window:
            self.world.fault(f"carrier {self.name} has {self.in_flight} in its window")
        now_s = trio.current_time()
        self._submits.append(now_s)
        for span_s in SPANS_S:
            within = sum(1 for at_s in self._submits if at_s > now_s - span_s)
            # What was let go by the bucket may wait for the disk, but no more than the window.
            most = 1 + self.rate_per_s * (span_s + BURST_S) + self.window
            if within > most:
                self.world.fault(f"carrier {self.name} had {within} submits within {span_s} s")


def id_of(segment: Segment) -> str:
    """The id that a driver makes of a segment: the same whenever the attempt comes again."""
    return f"{segment.message_id}-{segment.attempt}-{segment.number}"


class Line:
    """A driver: one engine's connection to a carrier. After a kill its words reach nobody."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._world = carrier.world
        self._life = carrier.world.life
        self._context: DriverContext | None = None
        self._nursery: trio.Nursery | None = None
        carrier.connect()
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=True,
            query=carrier.knows == "asked",
            validity=True,
            window_max=CAN,
            same_id_is_safe=carrier.knows == "same id",
            remembers_ids_s=0.0 if carrier.knows == "nothing" else DAY_S,
            settle_s=SETTLE_S_MIN,
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
                await trio.sleep(self._carrier.dice.uniform(20, 120))
                if self._world.plan.has("bad-links") and not self._carrier.kind:
                    context.health(Health(HealthState.DOWN, "Down for a while."))
                    self._world.say(f"the link to carrier {self._carrier.name} drops")
                    await trio.sleep(self._carrier.dice.uniform(0.1, 10))

    async def _deliver_post(self) -> None:
        assert self._context is not None
        while True:
            await trio.sleep(0.25 if self._carrier.post or self._carrier.later else 5)
            self._carrier.take_later()
            for post in [p for p in self._carrier.post if p.due_s <= trio.current_time()]:
                try:
                    if isinstance(post.what, Receipt):
                        await self._context.receipt(post.what)
                    else:
                        await self._context.inbound(post.what)
                except NotStoredError:
                    continue
                if self.cut:
                    return
                self._carrier.post.remove(post)
                if isinstance(post.what, Inbound):
                    self._world.wrote(post.what)

    async def submit(self, segment: Segment) -> Outcome:
        if self.cut:
            return Unsent("the process is gone")
        self._carrier.meet()
        try:
            return await self._submit(segment)
        finally:
            self._carrier.in_flight -= 1

    async def _submit(self, segment: Segment) -> Outcome:
        dice = self._carrier.dice
        await trio.sleep(dice.choice(self._carrier.answers_s))
        if self.cut:
            return Unsent("the process is gone")
        self._carrier.submits[id_of(segment)] += 1
        fate = "accept" if self._carrier.kind else self._carrier.choose(FATES)
        if fate in ("accept", "take and be silent", "answer late", "break"):
            carrier_id = self._carrier.take(segment)
            # A kill may come between the carrier's yes and our note of it.
            await trio.sleep(dice.choice((0, 0.01)))
        if fate != "accept":
            shown = self._world.short(segment.message_id)
            self._world.say(f"carrier {self._carrier.name}, {shown}", fate)
        match fate:
            case "accept":
                return Accepted(carrier_id)
            case "answer late":
                assert self._nursery is not None
                self._nursery.start_soon(self._answer_late, segment, Accepted(carrier_id))
            case "break":
                raise RuntimeError("a bug in a driver")
            case "throttle":
                return Throttled("THROTTLED", retry_after_s=dice.choice((None, 2.0)))
            case "refuse now":
                return Refused(Scope.NOW, "SYSERR", "Not now.")
            case "refuse here":
                return Refused(Scope.CARRIER, "NOROUTE", "Not here.")
            case "refuse for good":
                return Refused(Scope.FINAL, "BADADDR", "Never.")
            case "unsent":
                return Unsent("NOLINK")
        if self._carrier.knows == "nothing":
            return Uncertain("NOANSWER")
        if fate == "lose and be silent" and dice.random() < 0.5:
            self._carrier.later.append((trio.current_time() + TAKEN_LATER_S, segment))
        return Uncertain("NOANSWER", carrier_id=id_of(segment))

    async def _answer_late(self, segment: Segment, outcome: Outcome) -> None:
        await trio.sleep(self._carrier.dice.uniform(0.1, 30))
        assert self._context is not None
        await self._context.late_outcome(segment, outcome)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | NotTaken | None:
        await trio.sleep(self._carrier.dice.choice(self._carrier.answers_s))
        if self.cut or self._carrier.knows != "asked":
            return None
        self._carrier.take_later()
        if carrier_id in self._carrier.ids:
            return Receipt(carrier_id, ReceiptState.ENROUTE, "enroute")
        self._world.tally["submits that a carrier surely did not have"] += 1
        return NotTaken("404")


class PostedLine(Line):
    """The same, and it is posted to. Now and then the process dies in the middle of a group."""

    def post(self, segment: Segment, answered: Callable[[Outcome | None], None]) -> None:
        carrier, world = self._carrier, self._world
        may_die = not self.cut and not carrier.kind and world.plan.has("kills-at-steps")
        if may_die and carrier.dice.random() < DIES_POSTING:
            if carrier.dice.random() < 0.5:
                carrier.take(segment)
            world.die("kills-at-steps")
        if self._nursery is None:
            answered(Unsent("not running"))
        else:
            self._nursery.start_soon(self._answer, segment, answered)

    async def _answer(self, segment: Segment, answered: Callable[[Outcome | None], None]) -> None:
        try:
            outcome = await self.submit(segment)
        except RuntimeError:
            outcome = None  # it says nothing of use
        answered(outcome)
