"""A simulated modem on the desk: no port, and a clock that goes when it is told to."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from risala.drivers.modem.tpdu.pdu import Direction, Submit, TpAddress, UserData, from_hex, to_hex
from risala.lab.modem.modem import SimulatedModem
from risala.lab.modem.quirks import LineRules, ModemBehaviour, ReportRules
from risala.lab.modem.world.config import ModemConfig
from risala.lab.modem.world.profiles import PROFILES
from risala.sms.alphabet import choose_alphabet

BEGAN = datetime(2026, 11, 20, 12, tzinfo=UTC)
TO = "+22236123456"


class Desk:
    def __init__(
        self, profile="plain", *, echo=False, quirks=(), refusals=(), reports=None, line=None, **it
    ):
        self.now_s = 100.0
        self.events = []
        dice = random.Random(1)
        self.modem = SimulatedModem(
            ModemConfig(profile=PROFILES[profile], **it),
            dice=dice,
            now_s=lambda: self.now_s,
            wall=lambda: BEGAN + timedelta(seconds=self.now_s - 100),
            tell=self.events.append,
            mood=ModemBehaviour(
                dice, quirks, refusals, reports or ReportRules(), line or LineRules()
            ),
        )
        if not echo:
            self.type("ATE0\r")

    def type(self, text, for_s=0.0):
        """What it says to that, within so long."""
        self.modem.receive(text.encode("latin-1"))
        said = self.modem.take_output()
        return (said + self.wait(for_s)).decode("latin-1")

    def wait(self, for_s):
        """What it says while time passes."""
        end_s = self.now_s + for_s
        said = b""
        while True:
            self.modem.advance()
            said += self.modem.take_output()
            due_s = self.modem.due_s
            if due_s is None or due_s > end_s:
                break
            self.now_s = due_s
        self.now_s = end_s
        return said

    def hear(self, for_s):
        return self.wait(for_s).decode("latin-1")

    def ask(self, command):
        """The rows and the result, without the blank lines between them."""
        return [line for line in self.type(f"{command}\r").split("\r\n") if line]

    def rows(self, command):
        *rows, result = self.ask(command)
        assert result == "OK", (command, rows, result)
        return rows

    def send(self, text, *, report=False, to=TO, header=b"", for_s=0.0):
        """+CMGS in PDU mode; the lines that come of it."""
        data = UserData.of_text(text, choose_alphabet(text), header=header)
        pdu, octets = to_hex(Submit(TpAddress.of_number(to), data, status_report=report))
        assert self.type(f"AT+CMGS={octets}\r") == "\r\n> "
        return [line for line in self.type(f"{pdu}\x1a", for_s).split("\r\n") if line]

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def read(self, line):
        """The TPDU of a line in hexadecimal."""
        return from_hex(line, Direction.TO_PHONE)[1]


@pytest.fixture
def desk():
    """A plain modem."""
    return Desk()


@pytest.fixture(scope="session")
def new_desk():
    """``new_desk(profile, quirks=…, pin="1234")``."""
    return Desk
