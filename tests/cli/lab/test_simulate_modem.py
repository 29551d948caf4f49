"""``risala simulate modem`` as a process, with a client that we did not write."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import serial

from patience import HANG_S
from processes import Process

COMMAND = [sys.executable, "-m", "risala", "simulate", "modem"]


@pytest.fixture
def modem(tmp_path):
    """Starts one with options; ``modem.stdin`` is its console."""
    started = []

    def start(*arguments):
        link = ("--link", str(tmp_path / "modem"))
        process = Process([*COMMAND, *link, *arguments], tmp_path, typed=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.end()


def type_to(process, line):
    process.popen.stdin.write(f"{line}\n")
    process.popen.stdin.flush()


def ask(port, command, until=b"OK\r\n"):
    port.write(command)
    answer = port.read_until(until)
    assert answer.endswith(until), answer
    return answer


def end(process):
    process.signal(signal.SIGINT)
    assert (process.wait_exit(), process.errors) == (0, [])
    return process.lines


@pytest.mark.slow
def test_lines_tell_what_a_client_sent_and_what_was_typed_is_done(modem, tmp_path):
    process = modem("--report-delay-s", "0", "--number", "+22236000077")
    assert f"which {tmp_path}/modem leads to" in process.wait_line(bool)
    with serial.Serial(str(tmp_path / "modem"), timeout=HANG_S) as port:
        ask(port, b"ATE0;+CMGF=1;+CNMI=2,1,0,1\r")
        ask(port, b'AT+CMGS="+22236123456"\r', b"> ")
        assert b"+CMGS: 0" in ask(port, b"Hello there\x1a")
        type_to(process, "sms Mauritel Welcome")
        assert b'+CMTI: "SM",1' in port.read_until(b'SM",1\r\n')
        type_to(process, "signal 7")
        while b"+CSQ: 7,99" not in ask(port, b"AT+CSQ\r"):
            pass
        type_to(process, "sing")
        process.popen.stdin.close()
        assert b"READY" in ask(port, b"AT+CPIN?\r")  # the end of its console is not its end
    lines = end(process)
    output = "\n".join(lines)
    assert "+22236000077 → +22236123456: Hello there" in output
    assert "from Mauritel by SM: Welcome" in output
    assert "There is no 'sing'; help tells what there is." in output
    assert lines[-1] == ("Total: 1 segments, 1 messages, 0 reports, 1 inbound parts, 0 troubles.")
    assert not os.path.lexists(tmp_path / "modem")


@pytest.mark.slow
def test_json_has_one_object_a_line(modem, tmp_path):
    process = modem("--json", "--commands", "--pin", "1234")
    first = json.loads(process.wait_line(bool))
    assert first["event"] == "PortOpened"
    assert first["link"] == str(tmp_path / "modem")
    with serial.Serial(first["path"], timeout=HANG_S) as port:
        ask(port, b'AT+CPIN="1234"\r')
        type_to(process, "help")
        answer = json.loads(process.wait_line(lambda line: json.loads(line)["event"] == "Answer"))
        assert "sms FROM TEXT" in answer["text"]
    lines = [json.loads(line) for line in end(process)]
    assert all("1234" not in json.dumps(line) for line in lines)


@pytest.mark.slow
def test_a_scenario_is_played_and_a_port_by_tcp(modem, tmp_path):
    scenario = tmp_path / "scenario.toml"
    scenario.write_text("[[refusals]]\nerror = 38\n[modem]\nfirst_reference = 9\n")
    listen = ("--listen", "127.0.0.1:0")
    process = Process([*COMMAND, "--scenario", str(scenario), *listen], tmp_path)
    try:
        path = process.wait_line(bool).split()[-1]
        with serial.serial_for_url(path, timeout=HANG_S) as port:
            ask(port, b"ATE0+CMGF=1\r")
            ask(port, b'AT+CMGS="+22236123456"\r', b"> ")
            assert b"+CMS ERROR: 38\r\n" in ask(port, b"Hi\x1a", b"38\r\n")
        output = "\n".join(end(process))
    finally:
        process.end()
    assert "reference 9, not taken: +CMS ERROR: 38" in output


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--scenario", "/nowhere.toml"), 1, "/nowhere.toml cannot be read"),
        (("--scenario", "x", "--profile", "plain"), 2, "cannot be used with a scenario"),
        (("--quirk", "sulk"), 2, "There is no quirk 'sulk'"),
        (("--quirk", "hang=x"), 2, "'x' is no percentage"),
        (("--listen", "here"), 2, "--listen needs HOST:PORT"),
        (("--link", "/"), 1, "is there already, and is no link"),
        (("--link", "/nowhere/modem"), 1, "cannot be created"),
        (("--listen", "192.0.2.1:1"), 1, "The port cannot be opened"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(risala, arguments, code, sentence):
    done = risala("simulate", "modem", *arguments)
    assert done.exit_code == code
    assert sentence in done.stderr


@pytest.mark.slow
def test_a_terminal_gets_a_picture_and_what_is_typed_is_in_it(tmp_path):
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "--link", str(tmp_path / "modem"), "--profile", "huawei"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "120", "LINES": "40", "TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    try:
        deadline = time.monotonic() + HANG_S
        typed = False
        while b"from Ami" not in seen and b"Ami: Bonjour" not in seen:
            assert time.monotonic() < deadline, seen
            seen += os.read(ours, 4096)
            if not typed and b"Network:" in seen:
                typed = True
                os.write(ours, b"sms Ami Bonjouq\x7fr\r")
        process.send_signal(signal.SIGINT)
        while process.poll() is None:
            try:
                seen += os.read(ours, 4096)
            except OSError:
                process.wait(HANG_S)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert process.returncode == 0
    assert "▁▃▅".encode() in seen
    assert b"1 inbound parts" in seen
