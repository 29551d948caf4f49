"""What an operator sees of the line to a modem: no PIN, no text, no PDU, no whole number."""

from __future__ import annotations

import pytest

from risala.drivers.modem.at.engine import AtEngine, Command
from risala.drivers.modem.at.events import Urc
from risala.drivers.modem.at.wiretap import (
    answer_text,
    body_text,
    command_text,
    line_text,
    urc_text,
)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("AT", "AT"),
        ("ATE0", "ATE0"),
        ("AT&F", "AT&F"),
        ("AT+CSQ", "AT+CSQ"),
        ("AT+CPIN?", "AT+CPIN?"),
        ('AT+CPIN="1234"', "AT+CPIN=…"),
        ("AT+CPIN=1234", "AT+CPIN=…"),
        ('AT+CLCK="SC",1,"1234"', "AT+CLCK=…"),
        ('AT+CPWD="SC","1234","4321"', "AT+CPWD=…"),
        ('AT+CUSD=1,"*141*1234567890#",15', "AT+CUSD=…"),
        ("ATD*141*1234#;", "AT…"),
        ("AT+CMGS=23", "AT+CMGS=23"),
        ('AT+CMGS="+22236123456"', 'AT+CMGS="+…3456"'),
        ('AT+CSCA="+22200000001"', 'AT+CSCA="+…0001"'),
        ("AT+CNMI=2,1,0,1,0", "AT+CNMI=2,1,0,1,0"),
        ("AT+COPS=?", "AT+COPS=?"),
        ("AT^WEIRD=secret", "AT^WEIRD=…"),
        ("AT^WEIRD=a=b", "AT^WEIRD=…"),
        ("AT^WEIRD=secret?", "AT^WEIRD=…"),
        ("AT^WEIRD=?", "AT^WEIRD=?"),
        ("AT^WEIRD?", "AT^WEIRD?"),
        ("ATS0=0", "ATS0=…"),
        ("ATD22236123456=", "ATD…3456=…"),
        ("ATS7?", "AT…"),
        ('AT+CREG=2;+CPIN="1234"', "AT+CREG=…"),
        ('AT+CSQ;+CPIN="1234"', "AT+CSQ;+CPIN=…"),
    ],
)
def test_a_command(command, line):
    assert command_text(command) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("OK", "OK"),
        ("+CSQ: 17,99", "+CSQ: 17,99"),
        ("+CMS ERROR: 38", "+CMS ERROR: 38"),
        ("+CME ERROR: SIM PIN required", "+CME ERROR: SIM PIN required"),
        ("+CPIN: SIM PIN", "+CPIN: SIM PIN"),
        ("+CPIN: 1234", "+CPIN: …"),
        ("+CPIN: 1234: READY", "+CPIN: …"),
        ("ERROR", "ERROR"),
        ("RING", "RING"),
        ("NO CARRIER", "NO CARRIER"),
        ("BUSY", "BUSY"),
        ("NO ANSWER", "NO ANSWER"),
        ("+CMGS: 12", "+CMGS: 12"),
        ('+CMT: "+22236123456",,"26/11/22"', "+CMT: …"),
        ('+CUSD: 0,"Your balance is 12.50 MRU, code 4711",15', "+CUSD: …"),
        ('+CNUM: "Own","+22236000001",145', "+CNUM: …"),
        ("609010123456789", "(15 characters)"),
        ("Salam, the code is 4711", "(23 characters)"),
    ],
)
def test_a_line_of_the_modem(text, line):
    assert line_text(text) == line


def test_a_message_that_comes_is_told_by_its_length():
    urc = Urc("+CMT", "+CMT: ,30", "0791" + "00" * 28)
    assert urc_text(urc) == "+CMT: … (PDU of 30 octets)"
    assert body_text("0011" * 10) == "(PDU of 20 octets)"


def test_an_answer_with_its_rows():
    engine = AtEngine()
    engine.start(Command("AT+CSQ"))
    (answer,) = engine.receive(b"\r\n+CSQ: 9,99\r\n\r\nOK\r\n")
    assert answer_text(answer) == "+CSQ: 9,99 | OK"


def test_a_row_with_its_pdu():
    pdu = "0791" + "00" * 28
    engine = AtEngine()
    engine.start(Command("AT+CMGR=1"))
    (answer,) = engine.receive(f"+CMGR: 1,,22\r\n{pdu}\r\nOK\r\n".encode())
    assert answer_text(answer) == "+CMGR: … (PDU of 30 octets) | OK"
