"""What is owned by an actor is decided by it: shown by counters, and by whatever crashes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
import trio

from cases import seeds
from risala.config.model import LimitsSection
from risala.engine.actors.supervisor import RestartPolicy
from risala.engine.billing.claims import Release, Reserve
from risala.engine.limits.claims import TakeSms
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.errors import EngineError, Forbidden, InsufficientBalance
from risala.engine.verify.sessions import Judge

NUMBERS = ("+22236000001", "+22236000002")
STEPS = 120
SMS_PER_S = 5
CODES_OF_A_NUMBER = 3
CODES_OF_ALL = 5
CAP = 1200
ACTORS = ("limits", "billing", "sessions")
CRASHES = 5
"""Of all three: a supervisor gives up an actor after more of them."""
EXPIRY_MIN = 1
POLICY = RestartPolicy()


class Chaos:
    """Customers, an operator and bugs, each doing something at any moment."""

    def __init__(self, house: Any, seed: int) -> None:
        self.house = house
        self.random = Random(seed)
        self.accepted_ms: list[int] = []
        self.ids: list[str] = []
        self.approvals: Counter[str] = Counter()
        """How often a guess at a session was told to be right."""

    async def send(self) -> None:
        now_ms = self.house.gateway.services.recorder.clock.now_ms()
        later = now_ms + 86_400_000 * 2
        command = SendMessage(self.random.choice(NUMBERS), "hello", send_at=later)
        answer = await self.house.gateway.send_message(self.house.principal, command)
        self.ids.append(json.loads(answer)["messageId"])

    async def batch(self) -> None:
        texts = [self.random.choice(("one", "two", "x" * 300)) for _ in range(4)]
        keys = [self.random.choice((None, "key-0001", "key-0002")) for _ in texts]
        commands = [
            SendMessage(NUMBERS[0], text, idempotency_key=key)
            for text, key in zip(texts, keys, strict=True)
        ]
        await self.house.gateway.send_batch(self.house.principal, commands)

    async def code(self) -> None:
        command = SendCode(self.random.choice(NUMBERS))
        await self.house.gateway.send_code(self.house.principal, command)

    async def check(self) -> None:
        """Guess at a session, rightly where its code has come, twice at once or not."""
        read = self.house.gateway.services.repositories._store.reader.execute
        known = read("SELECT id, message_id FROM verifications").fetchall()
        if not known:
            return
        session, message_id = self.random.choice(known)
        texts = [each.text for each in self.house.driver.submitted if each.message_id == message_id]
        right = texts and self.random.random() < 0.6
        code = re.findall(r"\d{6}", texts[0])[0] if right else "no code"

        async def guess() -> None:
            with suppress(EngineError):
                principal = self.house.principal
                approved = await self.house.gateway.check_code(principal, session, code)
                assert right or not approved
                self.approvals[session] += approved

        async with trio.open_nursery() as nursery:
            for _ in range(self.random.choice((1, 1, 2))):
                nursery.start_soon(guess)

    async def refund(self) -> None:
        if self.ids:
            message_id = self.ids.pop(self.random.randrange(len(self.ids)))
            await self.house.gateway.perform("message.cancel", {"message_id": message_id})

    async def top_up(self) -> None:
        await self.house.gateway.perform(
            "topup",
            {"organization_id": self.house.principal.organization_id, "amount": "1.00"},
        )

    async def pause(self) -> None:
        """What is reserved meanwhile is refused by the transaction."""
        where = {"organization_id": self.house.principal.organization_id}
        await self.house.gateway.perform("org.suspend", where)
        for _ in range(self.random.randrange(10)):
            await trio.lowlevel.checkpoint()
        with trio.CancelScope(shield=True):
            await self.house.gateway.perform("org.resume", where)

    async def hangs_up(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it, and be cancelled after so many steps of the loop, or not at all."""
        async with trio.open_nursery() as nursery:
            with suppress(EngineError):
                nursery.start_soon(self.cancel, nursery.cancel_scope, self.random.randrange(12))
                with suppress(EngineError):
                    await work()
                nursery.cancel_scope.cancel()

    async def cancel(self, scope: trio.CancelScope, steps: int) -> None:
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        if steps < 6:
            scope.cancel()

    def crash(self, actor: str) -> None:
        """A message that no actor can take: what a bug would come to."""
        services = self.house.gateway.services
        match actor:
            case "limits":
                services.limits.tell_nowait(TakeSms(services.ids.new("org"), "fast"))
            case "billing":
                services.billing.tell_nowait(Release((None,)))
            case "sessions":
                services.sessions.tell_nowait(Judge(None, "ver_x", "000000"))

    async def live(self) -> None:
        works = (self.send,) * 4 + (self.check,) * 3
        works += (self.batch, self.code, self.refund, self.top_up, self.pause)
        more = self.random.choices(ACTORS, k=CRASHES - len(ACTORS))
        steps = self.random.sample(range(STEPS), CRASHES)
        crashes = dict(zip(steps, [*ACTORS, *more], strict=True))
        await self.code()  # while the money lasts, whatever the dice say
        async with trio.open_nursery() as nursery:
            for step in range(STEPS):
                nursery.start_soon(self.hangs_up, self.random.choice(works))
                if step in crashes:
                    self.crash(crashes[step])
                await trio.sleep(self.random.choice((0, 0, 0, 0.05, 0.4)))


def most_within(times: list[int], span_ms: int) -> int:
    """The most events in any span of this length."""
    return max((sum(at <= each < at + span_ms for each in times) for at in times), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, 6))
async def test_whatever_crashes_and_whoever_hangs_up_no_limit_is_passed(open_house, quick, seed):
    async with open_house(balance="9", limits=LimitsSection(sms_per_s=SMS_PER_S)) as house:
        organization_id = house.principal.organization_id
        where = {"organization_id": organization_id}
        await house.gateway.perform("org.set", {**where, "spend_cap": f"{CAP // 100}.00"})
        await house.gateway.perform(
            "verify.config",
            {
                **where,
                "per_phone_per_hour": CODES_OF_A_NUMBER,
                "per_organization_per_hour": CODES_OF_ALL,
                "expiry_minutes": EXPIRY_MIN,
            },
        )
        chaos = Chaos(house, seed)
        await chaos.live()
        await trio.sleep(10)  # whoever crashed is up again
        await house.gateway.perform("org.resume", where)

        services = house.gateway.services
        actors = services.delivery.statistics()["actors"]
        crashed = {each["name"]: each["restarts"] for each in actors if each["restarts"]}
        assert crashed.keys() == {*ACTORS}
        read = services.repositories._store.reader.execute
        (charged,) = read("SELECT -sum(amount) FROM ledger WHERE kind = 'charge'").fetchone()
        assert 0 < charged <= CAP
        assert read("SELECT sum(amount) FROM spending").fetchone() == (charged,)
        assert read("SELECT min(balance_after) FROM ledger").fetchone()[0] >= 0
        sends = [row[0] for row in read("SELECT created_at FROM messages WHERE kind = 'sms'")]
        assert sends
        # A message is dated before its token is taken: it may have waited for limits to restart.
        waited_s = sum(POLICY.first_wait_s * POLICY.factor**n for n in range(crashed["limits"]))
        for span_s in (1, 2, 5):
            assert most_within(sends, span_s * 1000) <= SMS_PER_S * (span_s + 1 + waited_s)
        codes = read("SELECT recipient FROM messages WHERE kind = 'code'").fetchall()
        assert codes
        assert len(codes) <= CODES_OF_ALL
        assert all(codes.count((number,)) <= CODES_OF_A_NUMBER for number in NUMBERS)
        assert (await house.gateway.perform("audit", {}))["clean"]
        await nothing_is_held(services, organization_id)
        await trio.sleep(60 * EXPIRY_MIN)
        each_session_ends_once(read, chaos.approvals)


def each_session_ends_once(read: Any, approvals: Counter[str]) -> None:
    """Whoever guessed, crashed or hung up meanwhile: and each end is told, once."""
    sessions = {
        name: (status, attempts, attempts_max)
        for name, status, attempts, attempts_max in read(
            "SELECT id, status, attempts, attempts_max FROM verifications"
        )
    }
    assert sessions
    told = Counter(read("SELECT subject, type FROM events WHERE type LIKE 'verify.%'").fetchall())
    for name, (status, attempts, attempts_max) in sessions.items():
        assert status in ("approved", "canceled", "expired")
        end = "verify.approved" if status == "approved" else "verify.failed"
        assert told[name, "verify.approved"] + told[name, "verify.failed"] == told[name, end] == 1
        assert attempts <= attempts_max
        assert approvals[name] <= (status == "approved")


async def nothing_is_held(services: Any, organization_id: str) -> None:
    """All of the balance can be reserved, and not more."""
    balance = services.accounts.fresh_organization(organization_id).balance
    if balance == 0:
        return
    with pytest.raises(InsufficientBalance):
        await services.billing.ask(Reserve(organization_id, balance + 1, 0, None))
    held = await services.billing.ask(Reserve(organization_id, balance, 0, None))
    services.billing.tell_nowait(Release((held,)))


async def test_what_the_journal_refuses_is_given_back(open_house, quick):
    async with open_house(balance="0.50", limits=LimitsSection(sms_per_s=1)) as house:
        where = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("verify.config", {**where, "per_phone_per_hour": 1})
        await house.gateway.perform("org.suspend", where)
        with pytest.raises(Forbidden):
            await house.send()
        with pytest.raises(Forbidden):
            await house.gateway.send_code(house.principal, SendCode(NUMBERS[0]))
        commands = [SendMessage(NUMBERS[0], "hello")]
        (refused,) = await house.gateway.send_batch(house.principal, commands)
        assert isinstance(refused, Forbidden)
        await house.gateway.perform("org.resume", where)
        await nothing_is_held(house.gateway.services, where["organization_id"])
        await house.gateway.perform("topup", {**where, "amount": "0.50"})
        await house.send()
        await house.gateway.send_code(house.principal, SendCode(NUMBERS[0]))


# -- counters


class Counters:
    """How many messages each actor took since the last look."""

    def __init__(self, house: Any) -> None:
        self._house = house
        self._last = self._read()

    def _read(self) -> dict[str, int]:
        actors = self._house.gateway.services.delivery.statistics()["actors"]
        return {each["name"]: each["handled"] for each in actors}

    def news(self) -> dict[str, int]:
        now = self._read()
        found = {
            name: now[name] - self._last[name]
            for name in ("limits", "billing", "sessions")
            if now[name] > self._last[name]
        }
        self._last = now
        return found


async def test_each_decision_passes_through_the_actor_that_owns_it(open_house, quick):
    async with open_house() as house:
        gateway, principal = house.gateway, house.principal
        counters = Counters(house)
        at = gateway.services.recorder.clock.now_ms() + 3_600_000
        message_id = await house.send(send_at=at)
        # A token; the price reserved, then settled.
        assert counters.news() == {"limits": 1, "billing": 2}
        await gateway.perform("message.cancel", {"message_id": message_id})
        assert counters.news() == {"billing": 1}
        session = await gateway.send_code(principal, SendCode(NUMBERS[0]))
        assert counters.news() == {"sessions": 1, "limits": 1, "billing": 2}
        await gateway.check_code(principal, session, "no code")
        assert counters.news()["sessions"] >= 1
        organization_id = principal.organization_id
        amount = {"organization_id": organization_id, "amount": "5.00"}
        await gateway.perform("topup", amount)
        assert counters.news() == {"billing": 1}
        await gateway.perform("adjust", {**amount, "amount": "-1", "reason": "a slip"})
        assert counters.news() == {"billing": 1}


async def test_a_balance_of_which_billing_missed_the_news_is_read_before_a_refusal(open_house):
    async with open_house(balance="0.50") as house:
        await house.send()
        journal = house.gateway.services.recorder.journal
        organization_id = house.principal.organization_id
        from risala.engine.journal.accounts.ledger import top_up

        # Behind billing's back, as if the news of it had got lost.
        await journal.commit(lambda conn: top_up(conn, organization_id, 50, "pay_1", 0))
        await house.send()
        with pytest.raises(InsufficientBalance):
            await house.send()
