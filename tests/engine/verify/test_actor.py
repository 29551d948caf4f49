"""The sessions' actor: who is judged when, and that no crash or cancellation bends a judgement."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio

from cases import seeds
from risala.engine.journal.messages import verifications
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import Overloaded, Unavailable
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode, SessionState
from risala.engine.rules.verification import Trigger
from risala.engine.verify.sessions import LINE_MAX, Judge, Withdraw

TO = "+22236123456"
RIGHT, WRONG = "000000", "xxxxxx"

Commit = Callable[[Any], Any]


class Disk:
    """Stands before the journal: each commit waits as long as a test says, before or after it."""

    def __init__(self, house, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = house.gateway.services.recorder.journal
        self._stock: Commit = journal.commit
        self.waits_s: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0)
        shielded: Commit = journal.commit_shielded
        monkeypatch.setattr(journal, "commit", self.commit)
        monkeypatch.setattr(journal, "commit_shielded", partial(self._commit, shielded))

    async def commit(self, unit: Any) -> Any:
        return await self._commit(self._stock, unit)

    async def _commit(self, stock: Commit, unit: Any) -> Any:
        before_s, after_s = self.waits_s()
        with trio.CancelScope(shield=stock != self._stock):
            await trio.sleep(before_s)
            answer = await stock(unit)
            await trio.sleep(after_s)
        return answer

    async def at_once(self, unit: Any) -> Any:
        return await self._stock(unit)


@pytest.fixture
def disk_of(monkeypatch):
    return lambda house: Disk(house, monkeypatch)


def asker(house) -> Principal:
    """A test key: its codes are zeros and meet no hour limit."""
    return Principal(house.principal.organization_id, "key", KeyType.SECRET, Mode.TEST)


async def send(house) -> str:
    return await house.gateway.send_code(asker(house), SendCode(TO))


async def check(house, verification_id: str, code: str = WRONG) -> bool:
    return await house.gateway.check_code(asker(house), verification_id, code)


def row(house, verification_id: str):
    return verifications.of_operator(
        house.gateway.services.repositories._store.reader, verification_id
    )


def sessions_of(house):
    return house.gateway.services.sessions


async def crash(house) -> None:
    """Make the actor stumble over a message that only a bug could send."""
    with pytest.raises(Unavailable):
        await sessions_of(house).ask(Judge(None, "ver_any", ""))


async def endings(house) -> Counter[str]:
    """How many events tell of the end of each session."""
    events = await house.events()
    return Counter(
        event["verificationId"]
        for event in events
        if event["type"] in ("verify.approved", "verify.failed")
    )


async def test_guesses_at_one_session_wait_for_each_other_and_for_no_other(
    open_house, quick, disk_of
):
    async with open_house() as house:
        one, other = await send(house), await send(house)
        disk_of(house).waits_s = lambda: (1.0, 0.0)
        began_s = trio.current_time()
        answered: list[tuple[str, float]] = []

        async def guess(verification_id: str) -> None:
            await check(house, verification_id)
            answered.append((verification_id, round(trio.current_time() - began_s)))

        async with trio.open_nursery() as nursery:
            for verification_id in (one, one, other, one):
                nursery.start_soon(guess, verification_id)
        assert sorted(answered) == sorted([(one, 1), (one, 2), (one, 3), (other, 1)])
        assert (row(house, one).attempts, row(house, other).attempts) == (3, 1)


async def test_a_full_line_is_refused_with_a_word_and_drains(open_house, quick, disk_of):
    async with open_house() as house:
        verification_id = await send(house)
        disk_of(house).waits_s = lambda: (1.0, 0.0)
        answers: Counter[str] = Counter()

        async def guess() -> None:
            try:
                answers[str(await check(house, verification_id))] += 1
            except Overloaded as refusal:
                answers[str(refusal)] += 1

        async with trio.open_nursery() as nursery:
            for _ in range(LINE_MAX + 3):
                nursery.start_soon(guess)
        refusal = "Too many checks of this code are already waiting. Try again in a moment."
        assert answers == {"False": LINE_MAX, refusal: 3}
        assert row(house, verification_id).attempts == 5


async def test_what_changed_between_judgement_and_commit_is_judged_again(
    open_house, quick, disk_of
):
    async with open_house() as house:
        verification_id = await send(house)
        disk = disk_of(house)
        disk.waits_s = lambda: (1.0, 0.0)
        answers: list[bool] = []

        async def guess() -> None:
            answers.append(await check(house, verification_id, RIGHT))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(guess)
            await trio.sleep(0.5)
            judged, stamp = row(house, verification_id), house.gateway.services.recorder.stamp()
            await disk.at_once(
                lambda conn: verifications.settle(conn, judged, Trigger.WITHDRAWN, stamp)
            )
        assert answers == [False]
        assert row(house, verification_id).status is SessionState.CANCELED
        assert (await endings(house))[verification_id] == 1


async def test_a_session_that_is_over_is_denied_without_a_commit(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        await sessions_of(house).ask(Withdraw(verification_id))
        commits = house.gateway.services.recorder.journal.statistics().units
        before = sessions_of(house).statistics().handled
        assert not await check(house, verification_id, RIGHT)
        assert house.gateway.services.recorder.journal.statistics().units == commits
        assert sessions_of(house).statistics().handled == before + 1


async def test_deadlines_are_kept_after_a_crash(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        expires_at = row(house, verification_id).expires_at
        await trio.sleep(599.7)
        await crash(house)
        await trio.sleep(1.2)
        ended = row(house, verification_id)
        assert ended.status is SessionState.EXPIRED
        assert ended.updated_at - expires_at < 1000
        assert (await endings(house))[verification_id] == 1


CRASHES_MAX = 6
"""The supervisor gives up beyond eight of them in five minutes."""


class Assault:
    """Guesses, withdrawals, crashes and cancellations at moments that a seed chooses."""

    def __init__(self, house, seed: int) -> None:
        self.house = house
        self.chance = random.Random(seed)
        self.ids: list[str] = []
        self.approved: Counter[str] = Counter()
        self.denied: Counter[str] = Counter()

    def disk_s(self) -> tuple[float, float]:
        """Now and then longer than a crashed actor's last commits may take."""
        longest_s = 8.0 if self.chance.random() < 0.05 else 0.3
        return self.chance.uniform(0, longest_s), self.chance.uniform(0, longest_s)

    async def one_guess(self, verification_id: str) -> None:
        await trio.sleep(self.chance.uniform(0, 20))
        patience_s = self.chance.choice([0.1, 0.5, 60.0, 60.0])
        code = RIGHT if self.chance.random() < 0.15 else WRONG
        with trio.move_on_after(patience_s):
            try:
                approved = await check(self.house, verification_id, code)
            except Unavailable:
                return
            if approved:
                assert code == RIGHT
                self.approved[verification_id] += 1
                assert row(self.house, verification_id).status is SessionState.APPROVED
            elif code == WRONG:
                self.denied[verification_id] += 1
            now = row(self.house, verification_id)
            counted = self.denied[verification_id]
            assert now.status is not SessionState.PENDING or now.attempts >= counted

    async def one_withdrawal(self, verification_id: str) -> None:
        await trio.sleep(self.chance.uniform(5, 25))
        try:
            await sessions_of(self.house).ask(Withdraw(verification_id))
        except Unavailable:
            return

    async def crashes(self) -> None:
        for _ in range(CRASHES_MAX):
            await trio.sleep(self.chance.uniform(0, 5))
            await crash(self.house)

    async def run(self) -> None:
        self.ids = [await send(self.house) for _ in range(8)]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.crashes)
            for verification_id in self.ids:
                for _ in range(self.chance.randrange(2, 14)):
                    nursery.start_soon(self.one_guess, verification_id)
            for verification_id in self.chance.sample(self.ids, 2):
                nursery.start_soon(self.one_withdrawal, verification_id)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, 6))
async def test_no_crash_or_cancellation_bends_a_judgement(open_house, quick, disk_of, seed):
    async with open_house() as house:
        assault = Assault(house, seed)
        disk = disk_of(house)
        disk.waits_s = assault.disk_s
        await assault.run()
        disk.waits_s = lambda: (0.0, 0.0)
        await trio.sleep(700)
        ended = await endings(house)
        for verification_id in assault.ids:
            session = row(house, verification_id)
            assert session.status is not SessionState.PENDING
            assert session.attempts <= session.attempts_max
            assert assault.approved[verification_id] <= 1
            if assault.approved[verification_id]:
                assert session.status is SessionState.APPROVED
            if session.status is SessionState.EXPIRED:
                assert session.updated_at - session.expires_at < 1000
            assert ended[verification_id] == 1
        assert (await house.gateway.perform("audit", {}))["clean"]
