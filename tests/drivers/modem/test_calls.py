"""A call that rings, is hung up or missed in the middle of a send is no answer to the send."""

import pytest
import trio

from risala.drivers.modem.at.engine import Answer, AtEngine, Command, Late, Prompt, Urc
from risala.plugins.contract import Accepted, HealthState, Uncertain, Unsent
from risala.plugins.testing.conformance import segment

CALLS = (
    *("RING", "NO CARRIER", "BUSY", "NO ANSWER", "NO DIALTONE", "NO DIAL TONE", "CONNECT"),
    *("CONNECT 9600", "NO CARRIER: 16", "RINGING", "DELAYED", "VOICE CALL: END: 000017"),
    *(
        "MISSED_CALL: 02:23AM 36123456",
        '+CLIP: "+22236123456",145',
        "+CRING: VOICE",
        "^CEND:1,0,16",
    ),
)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("command", ["AT", "AT+CSQ", "AT+CNMA", "ATI"])
def test_a_call_ends_no_command(command, call):
    engine = AtEngine()
    engine.start(Command(command))
    found = engine.receive(f"\r\n{call}\r\n\r\nOK\r\n".encode())
    assert [type(event) for event in found] == [Urc, Answer]
    assert found[0].text == call
    assert found[1].rows == ()


@pytest.mark.parametrize("digit", "123678")
def test_nor_do_the_numbers_of_calls_after_atv0(digit):
    engine = AtEngine()
    engine.start(Command("AT+CSQ"))
    assert [type(it) for it in engine.receive(f"{digit}\r\n0\r\n".encode())] == [Urc, Answer]


@pytest.mark.parametrize("call", CALLS)
async def test_a_call_before_the_prompt(autojump_clock, modem, new_line, call):
    modem.replies[r"AT\+CMGS=.*"] = f"{call}\r\n\r\n> "
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert len(modem.submits) == 1
        assert line.context.healths[-1].state is HealthState.UP


@pytest.mark.parametrize("call", CALLS)
async def test_a_call_between_the_text_and_its_reference(autojump_clock, modem, new_line, call):
    modem.cmgs = lambda _: f"{call}\r\n\r\n+CMGS: 5\r\n{call}\r\n\r\nOK"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert (type(outcome), outcome.raw) == (Accepted, "+CMGS: 5")
        await trio.sleep(100)
        assert all(health.state is HealthState.UP for health in line.context.healths[-3:])


async def test_the_prompt_does_not_come_after_a_call(autojump_clock, modem, new_line):
    """Nothing was sent; a modem that sits in text entry all the same is taken out of it."""
    modem.replies[r"AT\+CMGS=.*"] = "NO CARRIER"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Unsent)
        assert outcome.text.endswith("; nothing was sent.")
        await line.context.wait_health(HealthState.DOWN)
        modem.replies.clear()
        await line.context.wait_health(HealthState.UP)
        assert modem.escapes == 1
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_the_reference_does_not_come_after_a_call(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: "NO CARRIER"
    async with new_line(modem).run() as line:
        began_s = trio.current_time()
        outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        assert trio.current_time() - began_s >= 45  # the network's own timer
        assert "lost" not in outcome.text


def test_a_prompt_after_the_refusal_is_seen():
    engine = AtEngine()
    engine.start(Command("AT+CMGS=24", prompts=True))
    found = engine.receive(b"\r\nERROR\r\n\r\n> ")
    assert [type(event) for event in found] == [Answer, Late]
    assert not engine.in_sync
    assert Prompt() not in found


async def test_a_modem_that_refuses_and_asks_for_the_text_all_the_same(
    autojump_clock, modem, new_line
):
    """What is asked next would be typed into a message: it is escaped from first."""
    modem.replies[r"AT\+CMGS=.*"] = "+CMS ERROR: 302\r\n\r\n> "
    async with new_line(modem, check_every_s=5).run() as line:
        await line.driver.submit(segment())
        asked = len(modem.commands)
        assert modem.escapes == 0
        await trio.sleep(10)
        assert modem.escapes == 1
        assert len(modem.commands) > asked
        modem.replies.clear()
        assert isinstance(await line.driver.submit(segment()), Accepted)
