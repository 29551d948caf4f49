"""The SIM's PIN: typed once, a wrong one never again, whatever crashes in between."""

import pytest
import trio

from risala.drivers.modem.ready.identity import Identity
from risala.drivers.modem.ready.pinmemory import PinMemory
from risala.plugins.contract import HealthState
from risala.plugins.testing.context import RecordingContext

LOCKED = r"AT\+C?CCID|AT\^ICCID\?|AT\+ICCID|AT\+QCCID"
"""What tells a SIM's ICCID."""


def traces(line) -> str:
    return "\n".join(line.context.traces)


class Sim:
    """Wants a PIN."""

    def __init__(self, modem, right: str, retries: int | None = 3, word: str = "SIM PIN") -> None:
        self.right, self.word, self.typed, self.retries = right, word, [], retries
        modem.replies[r"AT\+CPIN\?"] = lambda _: f"+CPIN: {self.word}\r\n\r\nOK"
        modem.replies[r'AT\+CPIN="\d+"'] = self._type
        if retries is not None:
            modem.replies[r"AT\+CPINR=.*"] = self._tries

    def _tries(self, _: str) -> str:
        return f"+CPINR: SIM PIN,{self.retries},3\r\n\r\nOK"

    def _type(self, command: str) -> str:
        self.typed.append(command.split('"')[1])
        if self.typed[-1] != self.right:
            if self.retries is not None:
                self.retries -= 1
            return "+CME ERROR: 16"
        self.word, self.retries = "READY", self.retries and 3
        return "OK"

    def power_cycle(self) -> None:
        self.word = "SIM PIN"


async def test_the_pin_is_typed_once(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234")
    async with new_line(modem, pin="1234").run() as line:
        assert sim.typed == ["1234"]
        assert "1234" not in traces(line)


async def test_a_wrong_pin_is_never_typed_twice(autojump_clock, modem, new_line):
    sim = Sim(modem, "9999")
    async with new_line(modem, pin="1234", sick_wait_s=1).run(HealthState.SICK) as line:
        assert "The PIN is wrong" in line.context.healths[-1].text
        for _ in range(3):
            await trio.sleep(400)
            await modem.hang_up()
        await trio.sleep(400)
        assert line.opened > 1
        assert sim.typed == ["1234"]
        assert "1234" not in traces(line) + str(line.context.healths)


async def test_a_pin_whose_answer_was_lost_is_not_typed_again(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234")
    modem.replies[r'AT\+CPIN="\d+"'] = lambda command: sim.typed.append(command)
    async with new_line(modem, pin="1234").run(HealthState.SICK):
        assert len(sim.typed) == 1


async def test_a_pin_is_not_typed_where_a_try_is_gone(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234", retries=2)
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        assert sim.typed == []
        assert "2 tries are left" in line.context.healths[-1].text


async def test_tries_as_huawei_tells_them(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234", retries=None)
    modem.replies[r"AT\+CGMI"] = "huawei\r\nOK"
    modem.replies[r"AT\^CPIN\?"] = "^CPIN: SIM PIN,,10,1,10,3\r\nOK"
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        assert sim.typed == []
        assert "1 try is left" in line.context.healths[-1].text


async def test_no_pin_in_the_settings(autojump_clock, modem, new_line):
    Sim(modem, "1234")
    async with new_line(modem).run(HealthState.SICK) as line:
        assert "pin_env" in line.context.healths[-1].text


async def test_never_at_puk(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234", word="SIM PUK")
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        assert "PUK" in line.context.healths[-1].text
        assert sim.typed == []


@pytest.mark.parametrize("ready", ['+CPIN: "READY"', "+CPIN:READY", "+CPIN: READY"])
async def test_ready_in_all_its_forms_and_late(autojump_clock, modem, new_line, ready):
    answers = iter(["+CME ERROR: 14", "OK", "+CME ERROR: SIM busy"])
    modem.replies[r"AT\+CPIN\?"] = lambda _: next(answers, f"{ready}\r\nOK")
    async with new_line(modem).run():
        assert modem.count("AT+CPIN?") == 4


async def test_no_sim_and_then_one(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CPIN\?"] = "+CME ERROR: 10"
    async with new_line(modem).run(HealthState.SICK) as line:
        assert "no SIM" in line.context.healths[-1].text
        modem.replies.clear()
        await line.context.wait_health(HealthState.UP)
        assert line.opened == 1


# -- across restarts ---------------------------------------------------------------------------


@pytest.mark.parametrize("iccid", ["told", "not told"])
@pytest.mark.parametrize("retries", [3, None])
async def test_a_refused_pin_is_not_typed_after_a_restart(
    autojump_clock, modem, new_line, retries, iccid
):
    sim = Sim(modem, "9999", retries)
    if iccid == "not told":
        modem.replies[LOCKED] = "+CME ERROR: 11"
    notes = {}
    for _ in range(3):
        async with new_line(modem, notes, pin="1234").run(HealthState.SICK) as line:
            await trio.sleep(1000)
        notes = line.context.notes
    assert sim.typed == ["1234"]
    assert "1234" not in repr(notes)
    # A corrected setting looks no different to us, and the operator says so.
    async with new_line(modem, notes, pin="9999").run(HealthState.SICK) as line:
        assert "retry-pin" in line.context.healths[-1].text
        line.driver.retry_pin()
        await line.context.wait_health(HealthState.UP)
    assert sim.typed == ["1234", "9999"]
    assert not any(key.startswith("pin/") for key in line.context.notes)


async def test_a_crash_while_it_is_typed(autojump_clock, modem, new_line):
    """It was written down before: the next start does not type it again."""
    sim = Sim(modem, "1234", retries=None)
    typing = trio.Event()

    def type_it(command):
        sim.typed.append(command)
        typing.set()

    modem.replies[r'AT\+CPIN="\d+"'] = type_it
    async with new_line(modem, pin="1234").run(state=None) as line:
        await typing.wait()
    async with new_line(modem, line.context.notes, pin="1234").run(HealthState.SICK):
        await trio.sleep(1000)
    assert len(sim.typed) == 1


async def test_a_power_cut_after_the_right_pin(autojump_clock, modem, new_line):
    """Weak hubs: the modem starts anew as soon as its radio draws power."""
    sim = Sim(modem, "1234")
    async with new_line(modem, pin="1234").run() as line:
        for _ in range(3):
            sim.power_cycle()
            await modem.say("RDY")
            await line.context.wait_health(HealthState.DOWN)
            await line.context.wait_health(HealthState.UP)
    sim.power_cycle()
    async with new_line(modem, line.context.notes, pin="1234").run():
        pass
    assert sim.typed == ["1234"] * 5


async def test_ready_that_is_late_after_the_pin(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234")
    late = iter(["SIM PIN"] * 3)
    modem.replies[r"AT\+CPIN\?"] = lambda _: f"+CPIN: {next(late, sim.word)}\r\nOK"
    async with new_line(modem, pin="1234").run():
        assert sim.typed == ["1234"]


async def test_a_sim_that_was_unlocked_elsewhere(autojump_clock, modem, new_line):
    """Its counter was seen at 2 and is at 3 again: somebody typed the right one."""
    sim = Sim(modem, "9999")
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        assert sim.retries == 2
    sim.retries, sim.right = 3, "1234"
    async with new_line(modem, line.context.notes, pin="1234").run():
        assert sim.typed == ["1234", "1234"]


async def test_a_counter_that_always_says_three_is_not_believed(autojump_clock, modem, new_line):
    sim = Sim(modem, "9999")
    modem.replies[r"AT\+CPINR=.*"] = "+CPINR: SIM PIN,3,3\r\n\r\nOK"
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        pass
    async with new_line(modem, line.context.notes, pin="1234").run(HealthState.SICK):
        await trio.sleep(1000)
    assert sim.typed == ["1234"]


async def test_another_sim_is_another_matter(autojump_clock, modem, new_line):
    sim = Sim(modem, "9999", retries=None)
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        pass
    sim.right = "1234"
    modem.replies[LOCKED] = "+CCID: 8922210999999999999\r\nOK"
    async with new_line(modem, line.context.notes, pin="1234").run() as line:
        assert len(sim.typed) == 2
    modem.replies.pop(LOCKED)
    sim.right = "9999"
    sim.power_cycle()
    async with new_line(modem, line.context.notes, pin="1234").run(HealthState.SICK):
        assert len(sim.typed) == 2  # the first one is back, and not forgotten


async def test_the_last_try_is_never_ours(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234", retries=1)
    async with new_line(modem, pin="1234").run(HealthState.SICK) as line:
        line.driver.retry_pin()
        await trio.sleep(1000)
        assert sim.typed == []
        assert "1 try is left" in line.context.healths[-1].text


async def test_it_is_not_typed_where_that_cannot_be_written_down(autojump_clock, modem, new_line):
    sim = Sim(modem, "1234")
    line = new_line(modem, pin="1234")
    line.context.note_refusals = 2
    async with line.run() as line:
        assert any("could not be written down" in it.text for it in line.context.healths)
    assert sim.typed == ["1234"]


# -- whose memory it is ------------------------------------------------------------------------

A, B = "8922210111111111111", "8922210222222222222"


@pytest.mark.parametrize(
    ("then", "now", "forbidden"),
    [
        ((A, "1"), (A, "1"), True),
        ((A, "1"), (A, "2"), True),  # the SIM in another modem
        ((A, "1"), (B, "1"), False),  # another SIM in the modem
        ((A, "1"), ("", "1"), True),  # it may be the same
        (("", "1"), (A, "1"), True),
        (("", "1"), (A, "2"), False),
        (("", "1"), ("", "2"), False),
        (("", ""), (A, "1"), True),  # nobody knows
        ((A, "1"), ("", ""), True),
    ],
)
async def test_to_whom_a_refusal_applies(then, now, forbidden):
    context = RecordingContext()
    first = Identity(iccid=then[0], imei=then[1])
    memory = PinMemory(context)
    await memory.types(first)
    await memory.refused(first, None)
    again = PinMemory(context)
    assert again.forbids(Identity(iccid=now[0], imei=now[1]), 3) is forbidden
    assert A not in repr(context.notes)


async def test_without_notes_it_lasts_as_long_as_the_process():
    memory = PinMemory()
    await memory.types(Identity(imei="1"))
    assert memory.forbids(Identity(imei="1"), None)
    assert not PinMemory().forbids(Identity(imei="1"), None)
