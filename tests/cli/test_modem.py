"""``risala modem`` on a real pseudo-terminal, with a simulated modem on its other end."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import tty
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from patience import HANG_S
from processes import Process
from processes import run as run_process
from risala.cli.main import cli
from risala.drivers.modem.port.host import MODEM_MANAGER, Host
from risala.drivers.modem.port.serial import PortSeen

pytestmark = pytest.mark.slow

RISALA = [sys.executable, "-m", "risala"]


class Modem:
    """``risala simulate modem``; what is typed to it is done."""

    def __init__(self, link: Path, *options: str) -> None:
        self.port = str(link)
        command = [*RISALA, "simulate", "modem", "--link", self.port, "--json", "--commands"]
        self.process = Process([*command, *options], link.parent, typed=True)
        self.process.wait_line(bool)  # it says where it is

    def type(self, line: str) -> None:
        self.process.popen.stdin.write(f"{line}\n")
        self.process.popen.stdin.flush()

    def end(self) -> list[str]:
        """The commands that it heard."""
        self.process.signal(signal.SIGINT)
        self.process.wait_exit()
        events = [json.loads(line) for line in self.process.lines]
        return [event["line"] for event in events if event["event"] == "Heard"]


@pytest.fixture
def simulated(tmp_path):
    started = []

    def start(*options: str) -> Modem:
        started.append(Modem(tmp_path / "usb-modem", *options))
        return started[-1]

    yield start
    for each in started:
        each.process.end()


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    """Each test is a user of its own, as to refused PINs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture(autouse=True)
def no_modem_manager(monkeypatch):
    """What a machine runs besides is no matter of these tests: ModemManager, where it runs, is a
    warning. Other tests run it, perhaps at the same time."""
    every = Host.processes
    monkeypatch.setattr(
        Host, "processes", lambda host: (it for it in every(host) if it.name != MODEM_MANAGER)
    )


def run(*arguments: str, **environment: str):
    return CliRunner(env=environment).invoke(
        cli, ["modem", *arguments], prog_name="risala", catch_exceptions=False
    )


def test_a_process_says_that_the_modem_can_send(simulated, tmp_path):
    found = run_process([*RISALA, "modem", "probe", simulated().port], tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    *rows, sentence = found.stdout.splitlines()
    assert sentence == "This modem can send."
    told = dict(re.split(r"\s{2,}", row.strip(), maxsplit=1) for row in rows[1:])
    assert told["Operator"] == "Testnet"
    assert told["Signal"] == "●●●●● -73 dBm, excellent"
    assert told["IMSI"] == "…7890"
    assert told["Status reports"] == "yes"
    assert told["Announced by"] == "CNMI 2,1,0,1,0, CSMS 1"


def test_probe_in_json(simulated):
    done = run("probe", simulated("--profile", "huawei").port, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["canSend"], found["verdict"]) == (True, "This modem can send.")
    assert set(found) == {"port", "canSend", "verdict", "modem", "checks"}
    facts = found["modem"]
    assert facts["manufacturer"] == "huawei"
    assert facts["registration"] == "home"
    assert (facts["signalDbm"], facts["signalBars"]) == (-73, 5)
    assert re.fullmatch(r"\d{15}", facts["imei"])
    assert re.fullmatch(r"…\d{4}", facts["imsi"])
    assert re.fullmatch(r"…\d{4}", facts["iccid"])
    assert not [check for check in found["checks"] if check["state"] != "ok"]


def test_doctor_says_what_is_wrong_and_skips_what_depends_on_it(simulated):
    modem = simulated("--pin", "4711")
    done = run("doctor", modem.port)
    assert done.exit_code == 1
    rows = {row.split("  ")[0].strip(): row for row in done.stdout.splitlines()}
    assert re.search(r"fail +The SIM needs its PIN\. 3 tries are left\.", rows["PIN"])
    assert re.search(r"skipped +Not looked at: “PIN” comes first\.", rows["registration"])
    assert re.search(r" ok ", rows["answers"])
    assert done.stderr == "Failed: PIN.\n"


def test_a_wrong_pin_is_typed_once_and_no_secret_is_shown(simulated):
    modem = simulated("--pin", "4711")
    shown = ""
    for command in ("probe", "doctor", "probe"):
        done = run(command, modem.port, "--pin-env", "SIM_PIN", SIM_PIN="90210")
        assert done.exit_code == 1
        assert "2 tries are left" in done.output
        shown += done.output
    assert "90210" not in shown
    right = run("probe", modem.port, "--pin-env", "SIM_PIN", "--json", SIM_PIN="4711")
    assert right.exit_code == 1  # not ours to try again
    heard = modem.end()
    assert sum(line.upper().startswith("AT+CPIN=") for line in heard) == 1


def test_the_right_pin_is_typed(simulated):
    modem = simulated("--pin", "4711")
    done = run("probe", modem.port, "--pin-env", "SIM_PIN", SIM_PIN="4711")
    assert done.exit_code == 0, done.output
    assert "4711" not in done.output


def test_a_denied_sim(simulated):
    modem = simulated()
    modem.type("register denied")
    done = run("probe", modem.port)
    assert done.exit_code == 1
    assert done.stderr.startswith("This modem cannot send. The network denies this SIM")
    assert "denied" in done.stdout


@pytest.mark.long
def test_a_modem_that_hangs_ends_in_time(simulated):
    modem = simulated()
    modem.type("hang")
    done = run("doctor", modem.port, "--timeout-s", "2")
    assert done.exit_code == 1
    assert "did not end within 2 s" in done.stdout


def test_who_has_the_port_is_named(simulated):
    modem = simulated()
    code = (
        "import fcntl, sys\n"
        f"port = open({modem.port!r}, 'rb+', buffering=0)\n"
        "fcntl.flock(port, fcntl.LOCK_EX)\n"
        "print('has it', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "has it\n"
        done = run("doctor", modem.port)
        assert f"(process {holder.pid}) has the port: stop it." in done.stdout
        assert done.stderr == "Failed: port is free.\n"


@pytest.mark.long
def test_a_service_that_has_the_port_is_as_it_should_be(simulated, tmp_path, monkeypatch):
    port = simulated().port
    config = tmp_path / "risala.toml"
    config.write_text(f'[[carriers]]\nname = "sim-1"\ndriver = "modem"\nmodem.port = "{port}"\n')
    place = ["--data", str(tmp_path / "data"), "--config", str(config)]
    with subprocess.Popen(
        [*RISALA, "serve", "--port", "0", *place], stdout=subprocess.PIPE, text=True
    ) as service:
        try:
            until_s = time.monotonic() + HANG_S
            while "is ready on" not in run_carriers(place):
                assert time.monotonic() < until_s
                time.sleep(0.1)
            done = run("doctor", "sim-1", *place)
            probed = run("probe", port)
            with monkeypatch.context() as patch:
                patch.setattr(
                    "risala.drivers.modem.port.serial.ports_seen",
                    lambda: [PortSeen(port, "a stick")],
                )
                patch.setattr("risala.drivers.modem.port.host.Host.names", lambda _: {})
                listed = run("probe")
        finally:
            service.terminate()
            service.communicate(timeout=HANG_S)
    for each in (done, probed, listed):
        assert each.exit_code == 0, each.output
    assert f"the Risala service (process {service.pid}) has the port" in done.stdout
    assert f"In use by the Risala service (process {service.pid}), as it should be" in probed.stdout
    assert (
        f"In use by the Risala service (process {service.pid}), as it should be." in listed.stdout
    )


def run_carriers(place: list[str]) -> str:
    return CliRunner().invoke(cli, ["carriers", *place], prog_name="risala").output


def test_a_carrier_of_the_settings_by_its_name(simulated, tmp_path):
    port = simulated("--pin", "4711").port
    config = tmp_path / "risala.toml"
    config.write_text(
        '[[carriers]]\nname = "sim-1"\ndriver = "modem"\n'
        f'[carriers.modem]\nport = "{port}"\npin_env = "SIM_PIN"\n'
    )
    done = run("probe", "sim-1", "--config", str(config), "--json", SIM_PIN="4711")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["port"] == port

    unknown = run("probe", "sim-2", "--config", str(config))
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "those are: sim-1" in unknown.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "says"),
    [
        (["/dev/x", "--pin-env", "NOT_SET"], {}, "NOT_SET"),
        (["/dev/x", "--pin-env", "SIM_PIN"], {"SIM_PIN": "12ab"}, "4 to 8 digits"),
        (["telnet://x"], {}, "socket://host:port"),
    ],
)
def test_what_is_refused(arguments, environment, says):
    done = run("doctor", *arguments, **environment)
    assert (done.exit_code, done.stdout) == (1, "")
    assert says in done.stderr
    assert "12ab" not in done.stderr


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda path: path.write_text("x"), "is a file"),
        (lambda path: path.mkdir(), "is a directory"),
        (os.mkfifo, "is a pipe"),
    ],
    ids=["file", "directory", "pipe"],
)
@pytest.mark.parametrize("command", ["probe", "doctor"])
def test_what_is_no_serial_port(tmp_path, command, make, kind):
    make(tmp_path / "port")
    done = run(command, str(tmp_path / "port"))
    assert done.exit_code == 1
    assert f"{kind}, and no serial port. `risala modem probe` without a port" in done.output


def test_a_device_that_is_no_serial_port():
    done = run("doctor", "/dev/null")
    assert done.exit_code == 1
    assert "/dev/null is a device, but no serial port." in done.stdout


def test_warnings_stand_in_the_probe(simulated):
    modem = simulated("--profile", "huawei")
    modem.type("fill SM")
    modem.type("fill ME")
    done = run("probe", modem.port)
    assert done.exit_code == 0, done.output
    assert re.search(r"Warning +storage: ME: 100 of 100 places are taken", done.stdout)


def test_a_text_entry_that_somebody_left_is_ended_by_the_list_too(simulated, monkeypatch):
    port = simulated().port
    with open(port, "rb+", buffering=0) as line:
        line.write(b"AT+CMGS=20\r")
        heard = b""
        while b"> " not in heard:
            heard += line.read(1)
    monkeypatch.setattr("risala.drivers.modem.port.serial.ports_seen", lambda: [PortSeen(port, "")])
    monkeypatch.setattr("risala.drivers.modem.port.host.Host.names", lambda _: {})
    done = run("probe")
    assert done.exit_code == 0, done.output
    assert " yes " in done.stdout


def test_a_port_that_is_not_there(tmp_path):
    done = run("doctor", str(tmp_path / "ttyUSB9"))
    assert done.exit_code == 1
    assert "does not exist" in done.stdout


@contextmanager
def mute_terminal():
    """A port behind which nobody is."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    try:
        yield os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.long
def test_which_ports_are_modems(simulated, monkeypatch):
    port = simulated().port
    with mute_terminal() as mute:
        seen = [PortSeen(port, "a stick"), PortSeen(mute, "")]
        monkeypatch.setattr("risala.drivers.modem.port.serial.ports_seen", lambda: seen)
        monkeypatch.setattr("risala.drivers.modem.port.host.Host.names", lambda _: {})
        done = run("probe")
        assert done.exit_code == 0, done.output
        rows = done.stdout.splitlines()
        assert re.search(r" yes +Risala Simulated modem +\d{15} ", rows[1])
        assert re.search(r" no .* It does not answer AT\.", rows[2])

        found = json.loads(run("probe", "--json").stdout)["ports"]
        assert [each["answers"] for each in found] == [True, False]

        seen.pop(0)
        none = run("probe")
        assert none.exit_code == 1
        assert "No modem answers" in none.stderr
