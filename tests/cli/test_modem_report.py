"""``risala modem report``: what a maintainer needs, and nothing that is somebody's."""

import json
import os
import pty
import re
import socket
import sys
import threading
import tty
from getpass import getuser

import pytest
from click.testing import CliRunner

from processes import Process
from risala.cli.commands.upkeep.modem_report import DEFAULT_FILE
from risala.cli.main import cli
from risala.cli.show.redacted import Redaction

pytestmark = pytest.mark.slow

RISALA = [sys.executable, "-m", "risala"]
PIN = "4815"
PLANTED = {
    "PIN": PIN,
    "PUK": "90817263",
    "own number": "22236000001",
    "another's number": "36123456",
    "IMEI": "861234567890124",
    "IMSI": "609101234567890",
    "ICCID": "8922210123456789012",
    "service centre": "22236990000",
    "text": "Rendez-vous",
    "USSD": "solde",
    "area": "1A2B",
    "cell": "01C3D4E5",
    "contact": "Mariam",
    "host": "dakar-7",
    "user": "sidi-amar",
}
SAID = {
    "ATI": ["Manufacturer: huawei", f"IMEI: {PLANTED['IMEI']}"],
    "AT+CGMI": ["huawei"],
    "AT+CGMM": [f"E1752 {PLANTED['IMEI']}"],
    "AT+CGMR": ["11.126.85.00.209 +222 36 12 34 56"],
    "AT+CGSN": [PLANTED["IMEI"]],
    "AT+CIMI": [PLANTED["IMSI"]],
    "AT+CCID": [f"+CCID: {PLANTED['ICCID']}"],
    "AT+CNUM": [f'+CNUM: "Mariam","+{PLANTED["own number"]}",145'],
    "AT+CSCA?": [f'+CSCA: "+{PLANTED["service centre"]}",145'],
    "AT+CREG?": ['+CREG: 2,1,"1A2B","01C3D4E5",7'],
    "AT+CGREG?": ["+CGREG: 2,1,1A2B,01C3D4E5"],
    "AT+CEREG?": [f'+CEREG: 0,{PLANTED["PUK"]},"Mariam"'],
    "AT+COPS?": ['+COPS: 0,0,"Mauritel 36123456",7'],
    "AT+CSQ": ["+CSQ: 20,99", f'+CUSD: 0,"Votre solde: 1250",{PLANTED["PUK"]}'],
    "AT+CESQ": [f"+CESQ: 99,99,255,255,{PLANTED['PUK']},40"],
    "AT+CPMS?": ['+CPMS: "ME",2,23,"ME",2,23,"ME",2,23'],
    "AT+CPMS=?": ['+CPMS: ("SM","ME"),("SM","ME"),("SM","ME")'],
    "AT+CSCS=?": ['+CSCS: ("GSM","8859-1","UCS2","Mariam36123456")'],
    "AT+CNMI=?": ["+CNMI: (0-2),(0-3),(0,2),(0,1),(0,1)"],
    "AT+CLAC": ["AT+CSCA", f'AT+CPIN="{PIN}"', "Rendez-vous"],
    "AT^SYSCFGEX?": ['^SYSCFGEX: "03",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF'],
}
UNASKED = (
    '+CMT: "+22236123456",,"26/11/30,21:00:00+00"',
    "Rendez-vous a 8 h, code 4815",
    "RING",
    '+CLIP: "+22236123456",145',
    '+CUSD: 0,"Votre solde: 1250",15',
)


class Talkative:
    """A modem that tells everything, also in between and in the wrong place."""

    def __init__(self) -> None:
        self._ours, self._theirs = pty.openpty()
        tty.setraw(self._theirs)
        self.path = os.ttyname(self._theirs)
        self.asked: list[str] = []
        self._word = "SIM PIN"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        typed = b""
        while True:
            try:
                typed += os.read(self._ours, 256)
            except OSError:
                return
            *lines, typed = re.split(rb"\r\n?", typed)
            for line in filter(None, lines):
                self._answer(line.strip(b"\x1b \n").decode())

    def _answer(self, line: str) -> None:
        self.asked.append(line)
        rows, result = SAID.get(line, []), "OK"
        if line == "AT+CPIN?":
            rows = [f"+CPIN: {self._word}"]
        elif line.startswith("AT+CPIN="):
            self._word = "READY"
        elif line.startswith("AT+CPINR") or line in ("AT+C5GREG?", "AT+CIREG?"):
            result = "+CME ERROR: Mariam 36123456"
        unasked = UNASKED if line in ("AT+CNMI=?", "AT+GCAP") else ()
        said = "".join(f"\r\n{each}\r\n" for each in (*rows, *unasked, result))
        os.write(self._ours, said.encode())

    def close(self) -> None:
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def talkative():
    modem = Talkative()
    yield modem
    modem.close()


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """A user of its own, on a machine with a name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LOGNAME", PLANTED["user"])
    monkeypatch.setattr(socket, "gethostname", lambda: f"{PLANTED['host']}.example.mr")
    assert getuser() == PLANTED["user"]
    return tmp_path


def report(*arguments: str, **environment: str):
    return CliRunner(env=environment).invoke(
        cli, ["modem", "report", *arguments], prog_name="risala", catch_exceptions=False
    )


def assert_clean(text: str) -> None:
    found = [name for name, each in PLANTED.items() if each.lower() in text.lower()]
    assert not found, f"{found} in {text}"
    squeezed = re.sub(r"[ ()/-]", "", text)
    found = [name for name, each in PLANTED.items() if each.isdigit() and each in squeezed]
    assert not found, f"{found}, written apart, in {text}"


def test_a_port_s_report_has_the_modem_and_nothing_of_its_owner(talkative, here):
    done = report(talkative.path, "--pin-env", "SIM_PIN", SIM_PIN=PIN)
    assert done.exit_code == 0, done.output
    text = (here / DEFAULT_FILE).read_text("utf-8")
    assert_clean(text)
    assert_clean(done.output)
    told = json.loads(text)
    assert told["canSend"], told["checks"]
    assert (told["report"], told["driver"]) == (1, "modem")
    assert told["tells"] == ["imei", "imsi", "iccid", "smsc"]
    assert told["modem"]["manufacturer"] == "huawei"
    assert told["modem"]["model"].startswith("E1752")
    assert told["modem"]["firmware"].startswith("11.126.85.00.209")
    assert told["modem"]["chip"] == "Huawei"
    assert told["modem"]["network"]["circuit"] == "home"
    answers = {each["asked"]: each for each in told["answers"]}
    assert answers["AT+CREG?"]["answer"] == ["+CREG: 2,1,…,…,7"]
    assert answers["AT+CGREG?"]["answer"] == ["+CGREG: 2,1,…,…"]
    assert answers["AT+COPS?"]["answer"] == ["+COPS: 0,0,…,7"]
    assert answers["AT+CPMS?"]["answer"] == ['+CPMS: "ME",2,23,"ME",2,23,"ME",2,23']
    assert answers["AT+CSCS=?"]["answer"] == ['+CSCS: ("GSM","8859-1","UCS2",…)']
    assert answers["AT^SYSCFGEX?"]["answer"] == ['^SYSCFGEX: "03",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF']
    assert answers["AT+C5GREG?"]["result"] == "CME"
    assert answers["AT+CLAC"]["answer"] == ["+CSCA", "+CPIN"]
    assert {each["name"] for each in told["checks"]} >= {"answers", "PIN", "registration"}


def test_a_report_changes_nothing_and_reads_no_message(talkative):
    done = report(talkative.path, "--json", "--pin-env", "SIM_PIN", SIM_PIN=PIN)
    assert_clean(done.stdout)
    assert json.loads(done.stdout)["canSend"], done.stdout
    asked = talkative.asked[talkative.asked.index("AT+CESQ") :]
    sets = [each for each in asked if "=" in each and not each.endswith("=?")]
    assert not sets
    names = {re.split(r"[=?]", each)[0] for each in talkative.asked if not each.endswith("=?")}
    assert not names & {"AT+CMGR", "AT+CMGL", "AT+CMGD", "AT+CMGS", "AT+CPBR", "AT+CUSD"}


def test_what_is_there_is_not_written_over(here):
    (here / DEFAULT_FILE).write_text("mine")
    done = report("/dev/null")
    assert (done.exit_code, (here / DEFAULT_FILE).read_text()) == (1, "mine")
    assert "--to" in done.stderr


def test_a_modem_that_says_nothing_has_a_report_of_that(here):
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    done = report(os.ttyname(theirs), "--to", "mute.json", "--timeout-s", "1")
    os.close(ours)
    os.close(theirs)
    assert done.exit_code == 0, done.output
    told = json.loads((here / "mute.json").read_text("utf-8"))
    assert (told["canSend"], told["answers"]) == (False, [])


def test_a_stick_s_report(here):
    command = ["simulate", "hilink", "--port", "0", "--pin", PIN, "--json"]
    stick = Process([*RISALA, *command], here, typed=True)
    try:
        url = re.search(r"http://[0-9.]+:[0-9]+", stick.wait_error(lambda line: "http://" in line))[
            0
        ]
        stick.popen.stdin.write("sms +22236123456 Rendez-vous\n")
        stick.popen.stdin.flush()
        stick.wait_line(lambda line: "Rendez-vous" in line)
        done = report(url, "--pin-env", "SIM_PIN", SIM_PIN=PIN)
    finally:
        stick.end()
    assert done.exit_code == 0, done.output
    text = (here / DEFAULT_FILE).read_text("utf-8")
    assert_clean(text)
    for each in (
        "861234050000017",
        "609100000000017",
        "8922210000000000017",
        "36000017",
        "127.0.0",
    ):
        assert each not in text
    told = json.loads(text)
    assert (told["driver"], told["modem"]["model"]) == ("hilink", "E3372h-320")
    answers = {each["asked"]: each for each in told["answers"]}
    assert answers["sms/sms-count"]["answer"]["LocalInbox"] == "1"
    assert answers["net/net-mode"]["result"] == "100002"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("call +222 36 12 34 56 now", "call … now"),
        ("(222) 36-12-34-56", "(…"),
        ("firmware 11.126.85.00.209", "firmware 11.126.85.00.209"),
        ("MPSS.HE.1.0.c8-00012", "MPSS.HE.1.0.c8-00012"),
        ("sidi may open it", "… may open it"),
        ("besides", "besides"),
        ("/dev/serial/by-id/usb-HUAWEI_861234567890124-if00-port0: no", "/dev/serial/by-id/…: no"),
        ("see http://stick.home:8080/x", "see http://…"),
        ("in /home/sidi/risala.toml", "in /home/…"),
        (12345678, "…"),
        (-73, -73),
        (True, True),
        ({"imei": ["861234567890124", 5]}, {"imei": ["…", 5]}),
    ],
)
def test_the_second_fence(given, shown):
    assert Redaction(["sidi", "4815", "x"]).of(given) == shown
