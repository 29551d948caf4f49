"""``init``: commands that one modem needs besides, at each start."""

import pytest
from pydantic import ValidationError

from risala.drivers.modem.settings import ModemSettings
from risala.plugins.contract import Accepted, HealthState
from risala.plugins.testing.conformance import segment

INIT = ["AT^CURC=0", 'AT+QCFG="nwscanmode",1']


async def test_they_are_said_at_each_start_before_ours(autojump_clock, modem, new_line):
    async with new_line(modem, init=INIT).run() as line:
        first = modem.commands.index(INIT[0])
        assert modem.commands[first : first + 2] == INIT
        assert modem.commands.index("ATZ") < first < modem.commands.index("AT+CMGF=0")
        await modem.say("RDY")
        await line.context.wait_health(HealthState.DOWN)
        await line.context.wait_health(HealthState.UP)
        assert modem.count(INIT[0]) == 2


async def test_what_is_not_taken_is_told_and_hinders_nothing(autojump_clock, modem, new_line):
    modem.replies[r"AT\^CURC=0"] = "COMMAND NOT SUPPORT"
    async with new_line(modem, init=INIT).run() as line:
        told = "init: the modem does not take AT^CURC=0 (COMMAND NOT SUPPORT)."
        assert told in line.context.traces
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_one_that_is_silent_hinders_nothing(autojump_clock, modem, new_line):
    modem.replies[r"AT\^CURC=0"] = None
    async with new_line(modem, init=INIT).run() as line:
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert any("AT^CURC=0 (no answer)" in text for text in line.context.traces)


@pytest.mark.parametrize(
    "command",
    ["AT^CURC=0", "ATE0V1", "AT&D2", "ATS0=0", "AT&F0&C1&D2", "AT+CNMI=1,1;+CMEE=1", "ATQ0&D0"],
)
def test_what_may_be_said(command):
    assert ModemSettings(port="/dev/x", init=[command]).init == (command,)


@pytest.mark.parametrize(
    "command",
    [
        *("^CURC=0", "AT", "AT+X\r", "AT+é", "AT" + "x" * 300, 'AT+CPIN="1234"', "AT+CMGS=20"),
        *("ATE0;+CMSS=1", "ATD123", "ATE0DT123", "AT&C1D123", "ATA", "at+cpin=1234"),
    ],
)
def test_what_may_not_be_said(command):
    with pytest.raises(ValidationError) as refused:
        ModemSettings(port="/dev/x", init=[command])
    assert "1234" not in str(refused.value)
