"""Two modems behind one route: weights, paces, quotas; one dies, and the other goes on."""

from contextlib import asynccontextmanager

import pytest
import trio

from risala.engine.model.sentences import sentence

FAST = {"rate_per_s": 10}


class Pair:
    def __init__(self, service, modems) -> None:
        self.service, self.modems = service, modems

    def sent(self) -> tuple[int, int]:
        return tuple(len(modem.submits) for modem in self.modems.values())

    async def send(self, count: int, **fields) -> list[str]:
        return [await self.service.send(**fields) for _ in range(count)]

    async def wait_all(self, ids: list[str], *statuses: str) -> None:
        for message_id in ids:
            await self.service.wait_status(message_id, *(statuses or ("delivered",)))

    async def set_gate(self, name: str, gate: str) -> None:
        await self.service.engine.gateway.perform(f"carriers.{gate}", {"carrier": name})


@pytest.fixture
def open_pair(new_modem, new_line, open_service):
    """``open_pair(own, **settings)``: fields of single carriers, settings of both modems."""

    @asynccontextmanager
    async def open_one(own=None, **settings):
        modems = {"sim-1": new_modem(), "sim-2": new_modem()}
        lines = {name: new_line(modem, **settings) for name, modem in modems.items()}
        async with open_service(lines, own=own, **FAST) as service:
            pair = Pair(service, modems)
            pair.lines = lines
            await trio.sleep(30)
            assert all(service.carrier(name)["state"] == "up" for name in modems)
            yield pair

    return open_one


@pytest.mark.slow
async def test_they_share_by_weight(autojump_clock, open_pair):
    async with open_pair({"sim-1": {"weight": 3}, "sim-2": {"weight": 1}}) as pair:
        for _ in range(40):
            await pair.wait_all(await pair.send(1))
            await trio.sleep(1)
        assert pair.sent() == (30, 10)


@pytest.mark.slow
async def test_each_has_its_own_pace(autojump_clock, open_pair):
    own = {"sim-1": {"rate_per_s": 0.5}, "sim-2": {"rate_per_s": 0.1}}
    async with open_pair(own) as pair:
        ids = await pair.send(60)
        await trio.sleep(100)
        first, second = pair.sent()
        assert first == pytest.approx(50, abs=3)
        assert second == pytest.approx(10, abs=2)
        await pair.wait_all(ids[:10])


@pytest.mark.slow
async def test_each_has_its_own_day(autojump_clock, open_pair):
    """One SIM's day is used up, then the other's; what is left goes tomorrow."""
    async with open_pair(segments_per_day_max=5, check_every_s=600) as pair:
        ids = await pair.send(13)
        await trio.sleep(300)
        assert pair.sent() == (5, 5)
        states = [pair.service.carrier(name) for name in pair.modems]
        assert all("used up" in state["text"] for state in states)
        for line in pair.lines.values():
            line.shift_ms = 24 * 3_600_000
        await trio.sleep(700)
        await pair.wait_all(ids)
        assert sum(pair.sent()) == 13


async def test_each_has_its_own_recipients_of_the_month(autojump_clock, open_pair):
    own = {"sim-1": {"weight": 100}, "sim-2": {"weight": 1}}
    async with open_pair(own, recipients_per_month_max=2) as pair:
        numbers = [f"+2223600000{number}" for number in range(5)]
        ids = [(await pair.send(1, to=number))[0] for number in numbers]
        await trio.sleep(60)
        assert pair.sent() == (2, 2)
        states = {message_id: pair.service.status(message_id) for message_id in ids}
        assert sorted(states.values()) == ["delivered"] * 4 + ["pending"]
        [waiting] = [message_id for message_id, state in states.items() if state == "pending"]
        await trio.sleep(1800)  # looked at again and again
        shown, lines = pair.service.engine.gateway.show_message(waiting)
        assert shown.attempts == 0
        told = [sentence(line) for line in lines]
        words = "The SIM's recipients of this month are used up (recipients_per_month_max = 2)."
        assert told[1] == words
        assert "until 2026-12-01" in told[2]  # what it waits for at this moment: not stored
        assert len(told) == 3
        for line in pair.lines.values():
            line.shift_ms = 11 * 24 * 3_600_000  # the next month
        await trio.sleep(700)
        assert pair.service.status(waiting) == "delivered"
        assert pair.service.engine.gateway.show_message(waiting)[0].attempts == 1


async def test_paused_drained_and_resumed(autojump_clock, open_pair):
    async with open_pair() as pair:
        await pair.set_gate("sim-1", "pause")
        await pair.wait_all(await pair.send(6))
        assert pair.sent() == (0, 6)
        await pair.set_gate("sim-1", "resume")
        await pair.set_gate("sim-2", "drain")
        await pair.wait_all(await pair.send(6))
        assert pair.sent() == (6, 6)
        await pair.set_gate("sim-2", "resume")
        await pair.wait_all(await pair.send(6))
        first, second = pair.sent()
        assert first > 6
        assert second > 6


async def test_one_dies_and_the_other_takes_over_and_it_comes_back(autojump_clock, open_pair):
    async with open_pair() as pair:
        dead = pair.modems["sim-1"]
        pair.lines["sim-1"].plugged = False
        await dead.hang_up()
        await pair.wait_all(await pair.send(10))
        assert pair.sent() == (0, 10)
        await trio.sleep(5)
        assert "unplugged" in pair.service.carrier("sim-1")["text"]
        pair.lines["sim-1"].plugged = True
        await trio.sleep(60)
        await pair.wait_all(await pair.send(10))
        assert dead.submits


async def test_one_hangs_in_the_middle_of_a_send(autojump_clock, open_pair):
    """That message is uncertain and waits as the policy says; all others go the other way."""
    policy = {"on_uncertain_message": {"action": "resend", "after_s": 300}}
    async with open_pair({"sim-1": policy, "sim-2": policy}) as pair:

        def hang(_):
            pair.modems["sim-1"].deaf = True

        pair.modems["sim-1"].cmgs = hang
        ids = await pair.send(10)
        await trio.sleep(200)
        states = [pair.service.status(message_id) for message_id in ids]
        assert sorted(states) == ["delivered"] * 9 + ["processing"]
        await pair.wait_all(ids)
        assert pair.sent() == (0, 10)


async def test_a_long_message_that_has_begun_stays_with_its_sim(autojump_clock, open_pair):
    """Its parts must come from one number; a pause in between does not part them."""
    async with open_pair() as pair:
        (message_id,) = await pair.send(1, body="long text " * 100)
        await trio.sleep(0.25)  # of seven parts, one every tenth of a second
        assert 0 < sum(pair.sent()) < 7
        name = "sim-1" if pair.sent()[0] else "sim-2"
        await pair.set_gate(name, "pause")
        await trio.sleep(60)
        begun = max(pair.sent())
        assert min(pair.sent()) == 0
        await pair.set_gate(name, "resume")
        await pair.wait_all([message_id])
        assert min(pair.sent()) == 0
        assert max(pair.sent()) > begun
