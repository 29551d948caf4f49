"""A call tells its number, is hung up before anybody answers, and is one call however it rings.

The lines are those that public programs for modems write down of theirs: an SIM800L and an M590
(``+CLIP: …,145,"",,"",0``), a Siemens TC35 with ``AT+CRC=1`` (``+CRING``), the Neo Freerunner
(``…,145,,,,0``), a Quectel (``…,161,,,,0``), a Huawei stick (no blank behind the colon), and the
forms of 3GPP TS 27.007 §7.11 for numbers that are held back.
"""

from __future__ import annotations

from functools import partial

import pytest
import trio

from risala.drivers.modem.inbound.calls import CALLER_S, QUIET_S
from risala.plugins.contract import Accepted
from risala.plugins.testing.conformance import segment

RINGS_S = 5


@pytest.fixture
def calls(modem, new_line):
    """A line that reports calls; the modem tells that it hung one up."""
    return partial(new_line, modem, calls=True)


def hung_up(modem) -> int:
    return modem.count("AT+CHUP") + modem.count("ATH")


async def rest() -> None:
    await trio.sleep(CALLER_S + QUIET_S + 1)


@pytest.mark.parametrize(
    ("line", "caller"),
    [
        ('+CLIP: "+22236123456",145', "+22236123456"),
        ('+CLIP: "22236123456",145', "+22236123456"),
        ('+CLIP: "+22236123456",145,"",,"",0', "+22236123456"),
        ('+CLIP: "+22236123456",145,,,,0', "+22236123456"),
        ('+CLIP: "+22236123456",145,"",128,"",0', "+22236123456"),
        ('+CLIP: "36123456",161,,,,0', "36123456"),
        ('+CLIP:"36123456",129,,,"Nour",0', "36123456"),
        ('+CLIP: "0022236123456",129', "0022236123456"),
        ('+CLIP: "",128,,,,2', None),
        ('+CLIP: "",128', None),
        ("+CLIP: ,128,,,,1", None),
        ('+CLIP: "+22236123456",145,,,,1', None),
    ],
)
@pytest.mark.parametrize("ring", ["RING", "+CRING: VOICE"])
async def test_a_call_is_reported_once_and_hung_up(
    autojump_clock, modem, calls, ring, line, caller
):
    async with calls().run() as opened:
        assert modem.count("AT+CLIP=1") == 1
        await modem.say(ring)
        await modem.say(line)
        await rest()
        assert opened.context.calls == [caller]
        assert hung_up(modem) == 1
        tail = "…3456" if caller else "a number that is withheld"
        assert opened.context.traces[-1] == f"A call from {tail} was hung up."


async def test_a_number_before_the_ring_is_of_the_same_call(autojump_clock, modem, calls):
    async with calls().run() as opened:
        await modem.say('+CLIP: "+22236123456",145')
        await modem.say("RING")
        await rest()
        assert opened.context.calls == ["+22236123456"]


async def test_a_call_without_a_number_is_hung_up_soon(autojump_clock, modem, calls):
    async with calls().run() as opened:
        await modem.say("RING")
        await trio.sleep(CALLER_S + 0.5)
        assert hung_up(modem) == 1
        assert opened.context.calls == [None]
        await modem.say('+CLIP: "+22236123456",145')  # a network that tells it late
        await rest()
        assert opened.context.calls == [None, "+22236123456"]


async def test_who_hangs_up_first_has_called(autojump_clock, modem, calls):
    async with calls().run() as opened:
        await modem.say('RING\r\n\r\n+CLIP: "+22236123456",145\r\n\r\nNO CARRIER')
        await rest()
        assert opened.context.calls == ["+22236123456"]


async def test_a_modem_that_does_not_hang_up_is_told_again(autojump_clock, modem, calls):
    """The call stays one, and the other command is tried too."""
    modem.replies[r"AT\+CHUP|ATH"] = "ERROR"
    async with calls().run() as opened:
        for _ in range(3):
            await modem.say('RING\r\n\r\n+CLIP: "+22236123456",145')
            await trio.sleep(RINGS_S)
        await rest()
        assert opened.context.calls == ["+22236123456"]
        assert modem.count("AT+CHUP") == modem.count("ATH") == 3


async def test_the_next_caller_is_another_call(autojump_clock, modem, calls):
    async with calls().run() as opened:
        for number in ("+22236123456", "+22246123401", "+22246123401"):
            await modem.say(f'RING\r\n\r\n+CLIP: "{number}",145')
            await trio.sleep(0.5)
        await rest()
        await modem.say('RING\r\n\r\n+CLIP: "+22246123401",145')
        await rest()
        assert opened.context.calls == ["+22236123456", "+22246123401", "+22246123401"]


async def test_what_the_disk_refuses_is_reported_again(autojump_clock, modem, calls):
    async with calls().run() as opened:
        opened.context.refusals = 3
        await modem.say('RING\r\n\r\n+CLIP: "+22236123456",145')
        await trio.sleep(60)
        assert opened.context.calls == ["+22236123456"]


async def test_a_call_and_a_text_do_not_disturb_each_other_nor_a_send(
    autojump_clock, modem, calls, deliver_pdu
):
    modem.cmgs = lambda _: 'RING\r\n\r\n+CLIP: "+22236123456",145\r\n\r\n+CMGS: 5\r\n\r\nOK'
    async with calls().run() as opened:
        assert isinstance(await opened.driver.submit(segment()), Accepted)
        await modem.receive_sms(deliver_pdu("Nour 7K3MX9QD"))
        await opened.context.wait_until(lambda it: bool(it.inbounds and it.calls))
        assert [each.text for each in opened.context.inbounds] == ["Nour 7K3MX9QD"]
        assert opened.context.calls == ["+22236123456"]


async def test_without_the_setting_calls_ring_as_ever(autojump_clock, modem, new_line):
    async with new_line(modem).run() as opened:
        await modem.say('RING\r\n\r\n+CLIP: "+22236123456",145')
        await rest()
        assert (opened.context.calls, hung_up(modem), modem.count("AT+CLIP=1")) == ([], 0, 0)
        assert not opened.driver.capabilities.calls
        assert "calls" not in {name for name, value in opened.details.items() if value}


async def test_a_modem_that_cannot_tell_callers_says_so(autojump_clock, modem, calls):
    modem.replies[r"AT\+CLIP=1"] = "ERROR"
    async with calls().run() as opened:
        assert opened.details["calls"] is None
        await modem.say("RING")
        await rest()
        assert opened.context.calls == []
