"""What comes in is lost by no crash and doubled by none: at each step of a scripted modem."""

from contextlib import asynccontextmanager

import pytest
import trio

from risala.plugins.testing.context import RecordingContext
from risala.sms.segment import split, user_data_header

TEXT = "long text " * 40
WAIT_S = 100


class Doomed(RecordingContext):
    """Crashes before or after the so-manieth time that something is stored."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.crashed = trio.Event()

    async def step(self) -> None:
        self.steps -= 1
        if self.steps == 0:
            self.crashed.set()
            await trio.sleep_forever()

    async def inbound(self, message, *, forget=()):
        await self.step()
        await super().inbound(message, forget=forget)
        await self.step()

    async def remember(self, notes):
        await self.step()
        await super().remember(notes)
        await self.step()


@pytest.fixture
def pdus(deliver_pdu):
    cut = split(TEXT)
    assert len(cut) == 3
    return [
        deliver_pdu(part, header=user_data_header(9, len(cut), number))
        for number, part in enumerate(cut, 1)
    ]


class Life:
    """One modem and a service that dies once; ``stored`` as the engine stores: each id once."""

    def __init__(self, modem, new_line, steps: int) -> None:
        self.modem = modem
        self.new_line = new_line
        self.context = Doomed(steps)
        self.dies_at_command = ""
        self.stored: dict[tuple[str, ...], str] = {}

    @asynccontextmanager
    async def run(self):
        line = self.new_line(self.modem, self.context.notes)
        self.context.notes = dict(line.context.notes)
        line.context = self.context
        async with line.run():
            yield line
        for message in self.context.inbounds:
            self.stored.setdefault(message.carrier_ids, message.text)

    def restart(self) -> None:
        notes = self.context.notes
        self.context = Doomed(0)
        self.context.notes = notes


async def wait_for_crash(life) -> bool:
    with trio.move_on_after(WAIT_S):
        await life.context.crashed.wait()
    return life.context.crashed.is_set()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
async def test_parts_in_the_storage_and_a_crash_at_each_step(
    autojump_clock, new_modem, new_line, pdus, order
):
    crashes = 0
    for steps in range(1, 40):
        life = Life(new_modem(), new_line, steps)
        async with life.run():
            for index in order:
                await life.modem.receive_sms(pdus[index])
            crashed = await wait_for_crash(life)
        life.restart()
        async with life.run():
            await trio.sleep(WAIT_S)
        assert list(life.stored.values()) == [TEXT]
        assert life.modem.storage == {}
        assert life.context.recall("part/") == {}
        if not crashed:
            break
        crashes += 1
    assert crashes == 8  # before and after each of three parts and the message


async def test_parts_that_the_modem_does_not_delete_before_the_crash(
    autojump_clock, new_modem, new_line, pdus
):
    """The whole is stored, and its parts still lie in the modem: nothing comes twice."""
    life = Life(new_modem(), new_line, 0)
    life.modem.replies[r"AT\+CMGD=.*"] = None
    async with life.run():
        for pdu in pdus:
            await life.modem.receive_sms(pdu)
        await life.context.wait_until(lambda it: bool(it.inbounds))
    assert len(life.modem.storage) == 3
    life.modem.replies.clear()
    life.restart()
    async with life.run() as line:
        line.shift_ms = 7 * 3_600_000  # longer than parts are waited for
        await trio.sleep(WAIT_S)
    assert list(life.stored.values()) == [TEXT]
    assert life.modem.storage == {}


class Network:
    """Brings parts by ``+CMT``, and again what was not acknowledged."""

    def __init__(self, modem, pdus) -> None:
        self.modem, self.left = modem, list(pdus)
        self.acknowledged = trio.Event()
        modem.replies["AT[+]CNMA"] = self._acknowledge

    def _acknowledge(self, _: str) -> str:
        self.left.pop(0)
        self.acknowledged.set()
        return "OK"

    async def bring(self) -> None:
        while self.left:
            self.acknowledged = trio.Event()
            pdu = self.left[0]
            await self.modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
            await self.acknowledged.wait()


@pytest.mark.slow
async def test_parts_from_the_network_and_a_crash_at_each_step(
    autojump_clock, new_modem, new_line, pdus
):
    crashes = 0
    for steps in range(1, 40):
        life = Life(new_modem(), new_line, steps)
        network = Network(life.modem, pdus)
        async with life.run():
            with trio.move_on_after(WAIT_S):
                await network.bring()
            crashed = life.context.crashed.is_set()
        life.restart()
        async with life.run() as line:
            with trio.move_on_after(WAIT_S):
                await network.bring()
            await trio.sleep(WAIT_S)
            line.shift_ms = 7 * 3_600_000
            await trio.sleep(WAIT_S)
        assert network.left == []
        assert list(life.stored.values()) == [TEXT]
        assert life.context.recall("part/") == {}
        if not crashed:
            break
        crashes += 1
    assert crashes == 8


async def test_a_part_that_is_acknowledged_late_comes_twice(autojump_clock, modem, new_line, pdus):
    async with new_line(modem).run() as line:
        for pdu in (pdus[0], pdus[0], pdus[1], pdus[1], pdus[2], pdus[2]):
            await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
            await trio.sleep(1)
        line.shift_ms = 7 * 3_600_000
        await trio.sleep(WAIT_S)
        assert [message.text for message in line.context.inbounds] == [TEXT]
        assert modem.count("AT+CNMA") == 6


async def test_a_port_that_is_lost_while_a_message_is_being_stored(
    autojump_clock, modem, new_line, pdus
):
    async with new_line(modem).run() as line:
        for pdu in pdus[:2]:
            await modem.say(f"+CMT: ,{len(pdu) // 2 - 8}\r\n{pdu}")
            await trio.sleep(1)
        line.context.refusals = 2
        await modem.say(f"+CMT: ,{len(pdus[2]) // 2 - 8}\r\n{pdus[2]}")
        await line.context.wait_until(lambda it: it.refused == 1)
        await modem.hang_up()
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(WAIT_S)
        assert [message.text for message in line.context.inbounds] == [TEXT]


async def test_parts_that_cannot_be_written_down_stay_with_the_modem(
    autojump_clock, modem, new_line, pdus
):
    async with new_line(modem).run() as line:
        line.context.note_refusals = 4
        await modem.receive_sms(pdus[0])
        await trio.sleep(1)
        assert len(modem.storage) == 1
        for pdu in pdus[1:]:
            modem.store(pdu)
        await line.context.wait_until(lambda it: bool(it.inbounds))
        await trio.sleep(1)
        assert modem.storage == {}
