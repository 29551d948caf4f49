"""A mailing to thousands of people, in the middle of which the service is killed, again and again.

The rows come by the control socket, as the command ``risala mailing send`` gives them. After each
kill the service is started again; in the end each mailing goes on until it is done or stopped, and
the books are held against what phones have got.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import trio

from patience import HANG_S
from proofs.crashes.instants import Instant, When, compiled, drawn, load_mark
from proofs.crashes.mailing_books import (
    TEXT,
    MailingBooks,
    MailingTally,
    Person,
    file_of,
    people,
    unnoted,
)
from proofs.crashes.rounds import LAST_LINES, SETTLE_S, STRIKE_S, Lost
from proofs.process.books import FINAL
from proofs.process.house import EVERYTHING, House, in_thread, opened_house
from risala.cli.reach.client import NotListening, connect
from risala.cli.reach.refused import CommandRefused

PEOPLE: Final = 5000
"""Of one mailing; where it is done before the kills are over, there is a next one."""
STOPPED_PEOPLE: Final = 300
"""Of the mailing that is stopped in its middle."""
TAKEN: Final = (5, 150)
"""So many more messages phones get between two kills: some fifty of them fall into one mailing."""
_LOOK_S: Final = 0.02
_GONE: Final = (CommandRefused, NotListening)


class Strike(StrEnum):
    """What goes on with a mailing when the service is killed."""

    READING = "while the file comes in and is read"
    CHECKING = "while its rows are checked and stored"
    SENDING = "while it sends, at any instant"
    PAUSE = "while it is paused"
    GO_ON = "while it is told to go on"
    STOP = "while it is stopped"


_CALLS: Final = (
    When.BEFORE_SYNC,
    When.AFTER_SYNC,
    When.HALF_WRITE,
    When.BEFORE_SEND,
    When.AFTER_SEND,
    When.START,
)
"""Further ones while it sends, as in the load of all faces."""
_ORDERED: Final = {Strike.PAUSE: "mailing.pause", Strike.GO_ON: "mailing.go_on"}


@dataclass
class MailingResult:
    """Of one house."""

    kills: Counter[str] = field(default_factory=Counter)
    tally: MailingTally = field(default_factory=MailingTally)
    mailings: int = 0
    unnoted: list[int] = field(default_factory=list)
    """Rows that were accepted and not noted at a kill, where there were some."""


def plan(rng: random.Random, kills: int) -> list[Strike | When]:
    """What is struck at, in order: a mailing is read and checked first, and one stopped last."""
    sending = (*[Strike.SENDING] * 3, Strike.PAUSE, Strike.GO_ON, *_CALLS, When.AFTER_SYNC)
    around = 2 if kills >= len(Strike) * 3 else 1
    first: list[Strike | When] = [*[Strike.READING] * around, *[Strike.CHECKING] * around]
    last = [Strike.STOP] * around
    drawn_ = [rng.choice(sending) for _ in range(kills - len(first) - len(last))]
    return [*first, *drawn_, *last][:kills]


@dataclass
class MailingLives:
    """One service with its mailings, on one file."""

    house: House
    seed: int
    tell: Callable[[int, str, str], None]
    library: Path | None
    size: int = PEOPLE
    taken: tuple[int, int] = TAKEN
    mailings: dict[str, list[Person]] = field(default_factory=dict)
    result: MailingResult = field(default_factory=MailingResult)
    _organization_id: str = ""
    _now: str | None = None
    """The mailing that is sent at present."""
    _asked: dict[str, list[Person]] = field(default_factory=dict)
    """The people of mailings whose making was not answered, by the names of their files."""
    _people: int = 0

    async def run(self, kills: int) -> MailingResult:
        """
        Raises:
            Lost: a promise did not hold.
        """
        rng = random.Random(self.seed)
        await self.house.start()
        account = await in_thread(self.house.service.organization, f"{EVERYTHING // 100}")
        self._organization_id = account.organization_id
        await in_thread(self.house.service.stop)
        for number, strike in enumerate(plan(rng, kills), 1):
            await self._round(strike, rng)
            found = await in_thread(unnoted, self.house)
            self.result.unnoted += [found] if found else []
            self.tell(number, str(strike), f"{found} rows accepted and not noted")
        await self._start({})
        await self._finish()
        await self._judge()
        return self.result

    # -- one kill

    async def _round(self, strike: Strike | When, rng: random.Random) -> None:
        """Bring it to where it is to be struck, and kill it."""
        instant = drawn(rng, strike if isinstance(strike, When) else When.ANY)
        later_s = rng.uniform(0, 0.05)
        if strike is When.START:
            await in_thread(self.house.launch)
            await trio.sleep(instant.later_s)
            await self._kill(strike)
            return
        await self._start(self._environment(instant))
        match strike:
            case Strike.READING:
                await self._killed_during(self._make, rng.uniform(0, 0.6), strike)
            case Strike.CHECKING:
                await self._mailing()
                await trio.sleep(rng.uniform(0, 0.3))
                await self._kill(strike)
            case Strike.STOP:
                await self._killed_in_stop(later_s, rng)
            case Strike.PAUSE | Strike.GO_ON:
                await self._killed_in_order(strike, later_s, rng)
            case _:
                await self._sending()
                if self.library is not None:
                    load_mark(self.library).touch()
                await self._until_taken(rng)
                if instant.environment(self.library):
                    await self._until_dead()
                await self._kill(strike)

    def _environment(self, instant: Instant) -> dict[str, str]:
        """Calls are counted from when it sends."""
        if self.library is None:
            return {}
        load_mark(self.library).unlink(missing_ok=True)
        environment = instant.environment(self.library)
        mark = {"DIE_FROM": str(load_mark(self.library))}
        return {**environment, **mark} if environment else {}

    async def _killed_in_order(self, strike: Strike, later_s: float, rng: random.Random) -> None:
        """What a caller was answered holds after the kill."""
        mailing_id = await self._sending()
        await self._until_taken(rng)
        if strike is Strike.GO_ON:
            with suppress(CommandRefused):  # it may be done
                await self._ask("mailing.pause", mailing_id=mailing_id)

        async def order() -> None:
            await self._ask(_ORDERED[strike], mailing_id=mailing_id)

        was_answered = await self._killed_during(order, later_s, strike)
        await self._start({})
        state = (await self._show(mailing_id))["state"]
        expected = ("paused",) if strike is Strike.PAUSE else ("sending", "done")
        if was_answered and state not in expected:
            raise Lost(f"{self._where}: {_ORDERED[strike]} was answered, and it is {state}")
        await in_thread(self.house.service.stop)

    async def _killed_in_stop(self, later_s: float, rng: random.Random) -> None:
        """A mailing of its own is stopped in the middle."""
        before, self._now = self._now, None
        mailing_id = await self._mailing(STOPPED_PEOPLE)
        await self._sending()
        await self._until_taken(rng)

        async def order() -> None:
            await self._ask("mailing.stop", mailing_id=mailing_id)

        await self._killed_during(order, later_s, Strike.STOP)
        self._now = before

    async def _killed_during(
        self, work: Callable[[], Awaitable[object]], later_s: float, strike: Strike
    ) -> bool:
        """Kill it while it is asked for something; whether that was answered."""
        answered = False

        async def ask() -> None:
            nonlocal answered
            with suppress(*_GONE):
                await work()
                answered = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.sleep(later_s)
            await self._kill(strike)
        return answered

    async def _start(self, environment: dict[str, str]) -> None:
        await self.house.start(**environment)

    async def _kill(self, strike: Strike | When) -> None:
        self.result.kills[strike] += 1
        process = self.house.process
        with suppress(ProcessLookupError):
            os.kill(process.popen.pid, signal.SIGKILL)
        with trio.fail_after(HANG_S):
            await in_thread(process.wait_exit)
        self.house.service.close()

    # -- mailings

    async def _ask(self, name: str, **given: object) -> dict[str, Any]:
        async with connect(self.house.service.data) as gateway:
            return await gateway.perform(name, given)

    async def _show(self, mailing_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = (await self._ask("mailing.show", mailing_id=mailing_id))["mailing"]
        return shown

    async def _make(self, count: int | None = None) -> str:
        """A mailing to people who are in no other one."""
        persons = people(self._people, count or self.size)
        name = f"people-{self._people}.csv"
        self._people += len(persons)
        self._asked[name] = persons
        async with connect(self.house.service.data) as gateway:
            upload = await gateway.upload(self._organization_id, name, file_of(persons))
            made = await gateway.perform(
                "mailing.create",
                {"organization_id": self._organization_id, "upload": upload, "text": TEXT},
            )
        return self._known(made)

    def _known(self, mailing: dict[str, Any]) -> str:
        mailing_id = str(mailing["id"])
        self.mailings[mailing_id] = self._asked.pop(mailing["name"])
        self._now = mailing_id
        return mailing_id

    async def _mailing(self, count: int | None = None) -> str:
        """The mailing of the moment; one whose making was not answered may be there."""
        await self._look()
        return self._now or await self._make(count)

    async def _look(self) -> None:
        """Look for mailings whose making was not answered."""
        if not self._asked:
            return
        listed = await self._ask("mailing.list", organization_id=self._organization_id)
        for mailing in listed["mailings"]:
            if mailing["id"] in self.mailings:
                continue
            if mailing["name"] not in self._asked:
                raise Lost(f"{self._where}: {mailing['id']} is a second one of one request")
            self._known(mailing)

    async def _sending(self) -> str:
        """A mailing that sends; the next one where the last is done."""
        while True:
            mailing_id = await self._mailing()
            match await self._checked(mailing_id):
                case "draft" | "paused" as state:
                    await self._send(mailing_id, state)
                case "sending":
                    return mailing_id
                case _:
                    self._now = None

    async def _send(self, mailing_id: str, state: str) -> None:
        if state == "draft":
            hours = {"from_hour": 0, "to_hour": 24}
            await self._ask("mailing.set", mailing_id=mailing_id, **hours)
            await self._ask("mailing.start", mailing_id=mailing_id)
        else:
            await self._ask("mailing.go_on", mailing_id=mailing_id)

    async def _checked(self, mailing_id: str) -> str:
        """Its state, once its rows are checked."""
        with trio.fail_after(HANG_S):
            while (state := (await self._show(mailing_id))["state"]) == "checking":  # noqa: ASYNC110 -- another process
                await trio.sleep(_LOOK_S)
        return str(state)

    async def _until_taken(self, rng: random.Random) -> None:
        """Until phones have got some more messages."""
        wanted = len(self.house.carrier.told()) + rng.randint(*self.taken)
        with trio.move_on_after(STRIKE_S):
            while len(self.house.carrier.told()) < wanted:  # noqa: ASYNC110 -- another process
                await trio.sleep(_LOOK_S)

    async def _until_dead(self) -> None:
        with trio.move_on_after(STRIKE_S):
            while self.house.process.popen.poll() is None:  # noqa: ASYNC110 -- another process
                await trio.sleep(_LOOK_S)

    # -- the end

    async def _finish(self) -> None:
        """Until each mailing has ended, and each message."""
        last, until_s = None, time.monotonic() + SETTLE_S
        while (open_ := await self._open()) is not None:
            if open_ != last:
                last, until_s = open_, time.monotonic() + SETTLE_S
            if time.monotonic() > until_s:
                raise Lost(f"{self._where}: nothing moves on: {open_}")
            await trio.sleep(_LOOK_S * 5)

    async def _open(self) -> str | None:
        """What has not ended, after it was told to go on; None: nothing."""
        await self._look()
        for mailing_id in [*self.mailings]:  # more of them may come meanwhile
            shown = await self._show(mailing_id)
            match shown["state"]:
                case "draft" if mailing_id != self._now:
                    continue  # one that nobody has started: each row is there, and not sent
                case "draft" | "paused" as state:
                    await self._send(mailing_id, state)
                    return f"{mailing_id} goes on"
                case "checking" | "sending":
                    return f"{mailing_id}: {shown['accepted']} of {shown['rows']} accepted"
        query = f"SELECT count(*) FROM messages WHERE status NOT IN {FINAL}"
        (count,) = (await in_thread(self.house.service.rows, query))[0]
        return f"{count} messages are open" if count else None

    async def _judge(self) -> None:
        books = await in_thread(MailingBooks(self.house, self.mailings).look)
        self.result.tally, self.result.mailings = books.tally, len(self.mailings)
        errors = [e for e in self.house.process.errors if "Traceback" in e or '"error"' in e]
        faults = [*books.faults, *errors[:3]]
        status = await in_thread(self.house.service.stop)
        audit = await in_thread(self.house.service.command, "audit")
        if status or audit.returncode:
            faults.append(f"stop {status}, audit: {audit.stdout}")
        if faults:
            told = "\n  ".join(faults)
            raise Lost(f"{self._where}:\n  {told}")

    @property
    def _where(self) -> str:
        return f"seed {self.seed}, files in {self.house.path}"


async def live_mailings(
    path: Path,
    seed: int,
    kills: int,
    tell: Callable[[int, str, str], None],
    *,
    size: int = PEOPLE,
    taken: tuple[int, int] = TAKEN,
) -> MailingResult:
    """One service with its mailings, killed so many times.

    Raises:
        Lost: a promise did not hold. Whatever else is raised has a note of what the service said.
    """
    action = ("fail", "resend")[seed % 2]
    async with opened_house(path, action=action, inbound=1) as house:
        lives = MailingLives(house, seed, tell, compiled(path), size, taken)
        try:
            return await lives.run(kills)
        except Exception as error:
            last = house.process.errors[-LAST_LINES:]
            error.add_note("\n".join(["The service said last:", *last]))
            raise


HEADER: Final = ("What", "How many")


def table(result: MailingResult) -> list[tuple[str, str]]:
    """What the page of evidence tells."""
    tally, strikes = result.tally, (*Strike, *_CALLS)
    return [
        ("mailings, and people in them", f"{result.mailings}, {tally.people:,}"),
        ("kills", f"{result.kills.total():,}"),
        *((f"… {strike}", f"{result.kills[strike]:,}") for strike in strikes),
        ("… between the acceptance of some rows and their note", f"{len(result.unnoted):,}"),
        ("people who have a message, each one", f"{tally.messages:,}"),
        ("… of them twice at their phone, as the timeline says", f"{tally.twice:,}"),
        ("… whose message was in the carrier's hands at a kill, and says so", f"{tally.uncertain}"),
        ("lost", f"{tally.lost:,}"),
        ("doubled without a word", f"{tally.doubled:,}"),
        ("mis-charged", f"{tally.mischarged:,}"),
        ("rows that the report tells otherwise", f"{tally.misreported:,}"),
    ]
