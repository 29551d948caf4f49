"""No command that changes a modem's mode is sent unless the operator asks for it."""

import ast
import re
from pathlib import Path

import pytest

from risala.drivers import modem as package
from risala.drivers.modem.at.modes import UnaskedModeError, mode_changed_by
from risala.drivers.modem.network.chips import CHIPS
from risala.drivers.modem.network.lte import ANY_WAY, ANY_WAY_COMMAND
from risala.lab.modem.world.profiles import PROFILES
from risala.plugins.contract import CommandRefusedError, HealthState, Refused
from risala.plugins.testing.conformance import segment
from sources import trees

SOURCE = Path(package.__file__).parent
BY_THE_OPERATOR = {ANY_WAY_COMMAND, *(each for chip in CHIPS for each in chip.modes.values())}
_written = re.compile(r"^\s*(AT[A-Z0-9+^*$%#&!].*)", re.IGNORECASE | re.DOTALL).match

CHANGE = (
    *("AT+CNMP=2", "AT+CNMP=38", "AT+CMNB=1", "AT+COPS=0", "AT+COPS=2", 'AT+COPS=1,2,"60901"'),
    *('AT^SYSCFGEX="02",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF,,', "AT^SYSCFG=13,1,3FFFFFFF,2,4"),
    *('AT+QCFG="nwscanmode",0,1', 'AT^SETPORT="A1,A2"', "AT#USBCFG=0", "AT+USBCFG=0"),
    *("AT+CFUN=0", "AT+CFUN=4", "AT+CFUN=7", "AT+ZSNT=0,0,0", "AT!SELRAT=00", "AT+WS46=25"),
    *("AT+CGSMS=1", "AT&F", "AT&F0", "ATE0&F", "AT&D2&W", "ATE0V1+CNMP=2", "at+cnmp=2"),
    *("AT+CMGF=0;+COPS=0", " AT+CNMP = 2", "\rAT+COPS=0\r", "AT^RESET", "AT+IPR=9600"),
)
KEEP = (
    *("AT", "ATZ", "ATE0", "ATV1", "AT&D2", "AT+CNMP?", "AT+CNMP=?", "AT+COPS?", "AT+COPS=3,0"),
    *("AT+CFUN?", "AT+CFUN=1", "AT+CFUN=1,1", "AT+CGSMS?", "AT+CIREG?", "AT+CMGF=0"),
    *('AT+CUSD=1,"*100#"', 'AT+CSCA="+COPS=0;+CNMP=2"', "AT+CGMI;+CNMP?", "AT^CURC=0"),
)


@pytest.mark.parametrize("line", CHANGE)
def test_it_changes_the_mode(line):
    assert mode_changed_by(line)


@pytest.mark.parametrize("line", KEEP)
def test_it_does_not(line):
    assert mode_changed_by(line) is None


@pytest.mark.parametrize("command", sorted(BY_THE_OPERATOR))
def test_each_command_of_the_table_of_chips_is_guarded(command):
    assert mode_changed_by(command)


def commands_in_the_source():
    """Each text in the driver's source that is written to a modem, or would read like one."""
    for path, tree in trees(sorted(SOURCE.rglob("*.py")), "AT"):
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            text = text.decode() if isinstance(text, bytes) else text
            if isinstance(text, str) and (found := _written(text)):
                yield path.name, found[1]


def test_the_source_has_no_other_command_that_changes_a_mode():
    found = list(commands_in_the_source())
    assert len(found) > 50
    assert ("ladder.py", "AT+CFUN=1,1\r") in found
    changing = {(name, text) for name, text in found if mode_changed_by(text)}
    assert {text for _, text in changing} == BY_THE_OPERATOR
    assert {name for name, _ in changing} == {"chips.py", "lte.py"}


def identities():
    for profile in PROFILES.values():
        yield profile.manufacturer, profile.model
    yield from (("SIMCOM INCORPORATED", "SIMCOM_SIM7600G-H"), ("SIMCOM", "SIM7000E"))
    yield from (("ZTE", "MF831"), ("Sierra Wireless, Incorporated", "MC7455"), ("Telit", "LE910"))


@pytest.mark.parametrize(("maker", "model"), list(identities()))
async def test_none_is_sent_by_itself(autojump_clock, modem, new_line, maker, model):
    """Whatever the modem and its trouble: starts, sends, refusals, a hang, a new start."""
    modem.replies |= {
        r"AT\+CGMI": f"{maker}\r\n\r\nOK",
        r"AT\+CGMM": f"{model}\r\n\r\nOK",
        r"AT\+COPS\?": '+COPS: 0,0,"Mauritel",7\r\n\r\nOK',
        r"AT\+CGSMS\?": "+CGSMS: 0\r\n\r\nOK",
        r"AT\+CREG\?": "+CREG: 0,3\r\n\r\nOK",
        r"AT\+CEREG\?": "+CEREG: 0,1\r\n\r\nOK",
        r"AT\+CFUN\?": "+CFUN: 4\r\n\r\nOK",
    }
    async with new_line(modem).run() as line:
        for error in ("+CMS ERROR: 500", "+CMS ERROR: 38", "+CMS ERROR: 331", "ERROR"):
            modem.cmgs = lambda _, error=error: error
            assert isinstance(await line.driver.submit(segment()), Refused)
        modem.deaf = True
        await line.context.wait_health(HealthState.DOWN)
        modem.deaf = False
        await line.context.wait_health(HealthState.UP)
    assert modem.count("AT+CFUN=1") > 0
    assert [each for each in modem.commands if mode_changed_by(each)] == []


async def test_the_link_refuses_one_of_our_own(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        link = line.driver._session._asker.link
        with pytest.raises(UnaskedModeError):
            await link.ask("AT+CNMP=38")
        with pytest.raises(UnaskedModeError):
            await link.poke(b"\rAT+COPS=2\r")
    assert "AT+CNMP=38" not in modem.commands


async def test_the_operator_may(autojump_clock, modem, new_line):
    modem.replies[r"AT\+CGMM"] = "SIMCOM_SIM7600G-H\r\n\r\nOK"
    modem.replies[r"AT\+CNMP\?"] = "+CNMP: 2\r\n\r\nOK"
    async with new_line(modem, init=["AT+CNMP=2"]).run() as line:
        assert modem.count("AT+CNMP=2") == 1
        command = line.driver.command
        assert await command("network", ("3g",)) == {"command": "AT+CNMP=14", "text": "OK"}
        assert await command("network", ()) == {"command": "AT+CNMP?", "text": "+CNMP: 2"}
        await command("network", (ANY_WAY,))
        assert modem.count("AT+CNMP=14") == modem.count(ANY_WAY_COMMAND) == 1
        modem.replies[r"AT\+CNMP=38"] = "+CME ERROR: 3"
        with pytest.raises(CommandRefusedError, match=r"does not take AT\+CNMP=38: \+CME ERROR: 3"):
            await command("network", ("4g",))
        with pytest.raises(CommandRefusedError, match="auto, 2g, 3g, 4g, sms-any-way"):
            await command("network", ("5g",))
