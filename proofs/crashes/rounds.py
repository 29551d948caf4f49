"""Lives of one service: under load, killed, started again, and its books held against the truth."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from patience import HANG_S
from proofs.crashes.instants import Disturbed, Instant, When, compiled, drawn, load_mark
from proofs.process.books import Begun, Books, Tally, begun
from proofs.process.faces import GONE, Customers, Told, bound
from proofs.process.house import House, in_thread, opened_house
from proofs.process.settled import unsettled

PAUSE_S: Final = 0.05
"""Of each customer between two messages: some hundred messages a second in all."""
STRIKE_S: Final = 2.0
"""A named call that has not come by then does not come under this load: ``kill -9`` it is."""
SETTLE_S: Final = 120.0
"""Where nothing has come to its end for so long, nothing moves it on: waiting times are below a
second here, but for the first repetition of a webhook after five."""
_LOOK_S: Final = 0.1
LAST_LINES: Final = 20
"""Of the service's log, told where a run ends for a reason that nobody has foreseen."""
_AGAIN: Final = 40
"""Accepted requests that careful customers repeat in each round, besides all unanswered ones."""


AT_ANY: Final = Instant(When.ANY)


class Lost(Exception):
    """A promise did not hold; ``str()`` names the seed, the round and where the files are."""


@dataclass
class Result:
    """Of one place."""

    kills: Counter[str] = field(default_factory=Counter)
    """How often the service died at each instant."""
    others: Counter[str] = field(default_factory=Counter)
    tallies: dict[str, Tally] = field(default_factory=dict)
    start_s: list[float] = field(default_factory=list)
    """From a launch after a kill to the first address."""
    faults: list[str] = field(default_factory=list)


@dataclass
class Lives:
    """One service on one file."""

    house: House
    seed: int
    tell: Callable[[int, Instant, Books], None]
    library: Path | None
    pause_s: float = PAUSE_S
    names: tuple[When, ...] | None = None
    """The instants, in turn; None: by chance."""
    told: Told = field(default_factory=Told)
    result: Result = field(default_factory=Result)
    _forgotten: bool = False
    _hooks_killed_s: float = 0.0

    async def run(self, rounds: int) -> Result:
        """
        Raises:
            Lost: a promise did not hold.
        """
        rng = random.Random(self.seed)
        last = AT_ANY
        for number in range(rounds):
            when = self.names[number % len(self.names)] if self.names else None
            instant = drawn(rng, when)
            await self._begin(instant, rng)
            if not number:
                await in_thread(self.house.furnish)
            else:
                await self.judge(number, last)
            await self._load(number + 1, instant)
            last = instant
        await self.start({})
        books = await self.judge(rounds, last)
        self.result.tallies = books.tallies
        status = await in_thread(self.house.service.stop)
        audit = await in_thread(self.house.service.command, "audit")
        if status or audit.returncode:
            raise Lost(f"{self._where(rounds)}: stop {status}, audit: {audit.stdout}")
        return self.result

    # -- a life begins

    async def _begin(self, instant: Instant, rng: random.Random) -> None:
        environment = instant.environment(self.library)
        if self.library is not None:
            load_mark(self.library).unlink(missing_ok=True)
        if instant.when is When.START and self.result.kills:
            await in_thread(self.house.launch)
            await trio.sleep(instant.later_s)
            await self._kill(instant)
        await self.start(environment if self.result.kills else {})

    async def start(self, environment: dict[str, str]) -> None:
        """Start it; where it dies at its named call before it is up, start it without."""
        began_s = time.monotonic()
        try:
            await self.house.start(**environment)
        except AssertionError:
            if not environment or not await self._is_killed():
                raise
            self.result.kills[When.START] += 1
            await self.house.start()
        self.result.start_s.append(time.monotonic() - began_s)

    # -- its books

    async def judge(self, number: int, instant: Instant = AT_ANY) -> Books:
        """Bring all to its end, and look."""
        while True:
            try:
                await self._repeat()
                since = await self._settle()
                break
            except* (*GONE, AssertionError) as gone:
                if not await self._is_killed():
                    raise
                del gone
                # At its named call, while it cleared up.
                self.result.kills[When.START] += 1
                await self.start({})
        look = Books(self.house, self.told, since, self._forgotten).look
        books = await in_thread(look)
        errors = [e for e in self.house.process.errors if "Traceback" in e or '"error"' in e]
        books.faults += errors[:3]
        self.tell(number, instant, books)
        if books.faults:
            self.result.tallies = books.tallies
            told = "\n  ".join(books.faults)
            raise Lost(f"{self._where(number)}:\n  {told}")
        return books

    async def _is_killed(self) -> bool:
        """Whether it has died at its named call; who talked to it may hear of it first."""
        with trio.move_on_after(STRIKE_S):
            while (status := self.house.process.popen.poll()) is None:  # noqa: ASYNC110 -- a process
                await trio.sleep(_LOOK_S)
            return status == -signal.SIGKILL
        return False

    def _where(self, number: int) -> str:
        return f"seed {self.seed}, round {number}, files in {self.house.path}"

    async def _repeat(self) -> None:
        """Careful customers ask again for what was not answered, and for some that was: the answer
        is the same. Stripe calls again until it is answered."""
        told = self.told
        again = Customers(self.house, told, "again")
        async with self.house.client() as client:
            for word in _some(told.begun["api"], told):
                answer = await again.post(client, "/api/sms", again.body(word))
                self._same(word, answer.content)
            words = _some(told.begun["batch"], told)
            for at in range(0, len(words), 5):
                bodies = again.bodies(words[at : at + 5])
                answer = await again.post(client, "/api/sms/batch", {"messages": bodies})
                for word, result in zip(words[at : at + 5], answer.json()["results"], strict=True):
                    self._same(word, json.dumps(result).encode())
            for payment in [each for each in told.payments if each not in told.credited]:
                await again.pay(client, payment)
            for payment in list(told.credited)[-2:]:
                await again.pay(client, payment)

    def _same(self, word: str, answer: bytes) -> None:
        if self.told.taken.setdefault(word, answer) != answer:
            self.told.refused.append(f"{word}: another answer than the first time")

    async def _settle(self) -> Begun:
        """Until all that was begun before has come to its end."""
        since, last = begun(self.house), None
        until_s = time.monotonic() + SETTLE_S
        async with bound(self.house, self.told):
            while (
                open_ := await in_thread(
                    unsettled, self.house, self.told, since, forgotten=self._forgotten
                )
            ) is not None:
                if self.house.process.popen.poll() is not None:
                    raise OSError("it is gone")
                if open_ != last:  # something moves, however slow the machine is
                    last, until_s = open_, time.monotonic() + SETTLE_S
                if time.monotonic() > until_s:
                    break  # the books tell which, and by which face
                self.told.waits = open_
                await trio.sleep(_LOOK_S)
        return since

    # -- its end

    async def _load(self, number: int, instant: Instant) -> None:
        load = Customers(self.house, self.told, str(number), pause_s=self.pause_s)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run)
            if self.library is not None:
                load_mark(self.library).touch()
            with trio.move_on_after(STRIKE_S):
                await load.wait_answers(instant.answers)
            if instant.disturbed is not Disturbed.NOBODY:
                await self._disturb(instant.disturbed)
            await self._strike(instant)
            load.stop()
        self.house.service.close()

    async def _disturb(self, who: Disturbed) -> None:
        self.result.others[who] += 1
        house = self.house
        if who is Disturbed.CARRIER:
            self._forgotten = True
            await in_thread(house.carrier.kill)
        elif who is Disturbed.MODEM:
            self._forgotten = True
            await in_thread(house.modem.kill)
            # What lay in it is gone with it, and was not owed.
            stored = {row[0] for row in house.service.rows("SELECT body FROM inbound")}
            house.phones_sent[:] = [text for text in house.phones_sent if text in stored]
        else:
            await in_thread(house.hooks.kill)

    async def _strike(self, instant: Instant) -> None:
        process = self.house.process
        if instant.when is When.CARRIER:
            await self._wait_submit()
        elif instant.when is When.STOP:
            process.signal(signal.SIGTERM)
            await trio.sleep(instant.later_s)
        elif instant.environment(self.library):
            with trio.move_on_after(STRIKE_S):
                while process.popen.poll() is None:  # noqa: ASYNC110 -- another process
                    await trio.sleep(_LOOK_S)
        else:
            await trio.sleep(instant.later_s)
        await self._kill(instant)

    async def _wait_submit(self) -> None:
        """Until the carrier has got one more segment, which it answers some milliseconds later."""
        carrier = self.house.carrier
        before = len(carrier.told())
        with trio.move_on_after(STRIKE_S):
            while not any(each["event"] == "Submitted" for each in carrier.told()[before:]):  # noqa: ASYNC110 -- another process tells nobody
                await trio.sleep(0.001)

    async def _kill(self, instant: Instant) -> None:
        process = self.house.process
        died_by_itself = process.popen.poll() == -signal.SIGKILL
        named = instant.environment(self.library) and not died_by_itself
        self.result.kills[When.ANY if named else instant.when] += 1
        with suppress(ProcessLookupError):
            os.kill(process.popen.pid, signal.SIGKILL)
        with trio.fail_after(HANG_S):
            await in_thread(process.wait_exit)


def _some(words: list[str], told: Told) -> list[str]:
    """All that were not answered, and the last ones that were."""
    unanswered = [word for word in words if word not in told.taken]
    return unanswered + [word for word in words if word in told.taken][-_AGAIN // 2 :]


async def live(
    path: Path,
    seed: int,
    rounds: int,
    tell: Callable[[int, Instant, Books], None],
    names: tuple[When, ...] | None = None,
    *,
    pause_s: float = PAUSE_S,
) -> Result:
    """One service, killed so many times.

    Raises:
        Lost: a promise did not hold. Whatever else is raised has a note of what the service said.
    """
    action = ("fail", "resend")[seed % 2]
    async with opened_house(path, action=action) as house:
        lives = Lives(house, seed, tell, compiled(path), pause_s, names)
        try:
            return await lives.run(rounds)
        except Exception as error:
            error.add_note(
                "\n".join(["The service said last:", *house.process.errors[-LAST_LINES:]])
            )
            raise
