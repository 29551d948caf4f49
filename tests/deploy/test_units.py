"""The units and tables in deploy/: what systemd says of them, and what they must say."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "deploy/systemd"
STUBS = (
    "sysinit",
    "basic",
    "shutdown",
    "network-online",
    "remote-fs",
    "multi-user",
    "timers",
    "time-sync",
)
EXPOSED_MAX = 20
"""Tenths of `systemd-analyze security`, where 100 is a service without any fence: now 16."""


class Unit(configparser.ConfigParser):
    """A unit: names stay as they are written, the last value of a name wins."""

    def __init__(self, name: str) -> None:
        super().__init__(strict=False, interpolation=None, delimiters="=", comment_prefixes="#")
        self.optionxform = str
        self.text = (UNITS / name).read_text()
        self.read_string(self.text)

    def all(self, name: str) -> list[str]:
        return [
            line.partition("=")[2] for line in self.text.splitlines() if line.startswith(f"{name}=")
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A file system with the units, and with what they start."""
    place = tmp_path / "etc/systemd/system"
    place.mkdir(parents=True)
    for unit in UNITS.iterdir():
        shutil.copy(unit, place)
    for stub in STUBS:
        (place / f"{stub}.target").write_text(f"[Unit]\nDescription={stub}\n")
    for name in ("opt/risala/bin/risala", "bin/kill", "bin/sh", "usr/bin/find"):
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    return tmp_path


def analyzed(machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    verb, *rest = arguments
    return subprocess.run(
        ["systemd-analyze", verb, f"--root={machine}", "--no-pager", *rest],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_systemd_understands_each_unit(machine):
    if shutil.which("systemd-analyze") is None:
        return  # the tests below look at what matters most
    names = [unit.name for unit in UNITS.iterdir()]
    done = analyzed(machine, "verify", *names)
    faults = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if any(name in line for name in names)
    ]
    assert faults == []
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted(unit.name for unit in UNITS.iterdir() if unit.suffix == ".service")
)
def test_services_are_fenced_in(machine, name):
    if shutil.which("systemd-analyze") is None:
        return
    done = analyzed(machine, "security", "--offline=true", f"--threshold={EXPOSED_MAX}", name)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr


def test_the_service_reaches_serial_ports_and_leaves_no_dump():
    unit = Unit("risala.service")
    service = unit["Service"]
    assert service["LimitCORE"] == "0"
    assert "PrivateDevices" not in service  # it hides them all
    assert service["DevicePolicy"] == "closed"
    assert {"char-ttyUSB rw", "char-ttyACM rw"} <= set(unit.all("DeviceAllow"))
    assert "dialout" in service["SupplementaryGroups"].split()
    assert (service["User"], service["Group"]) == ("risala", "risala")


def test_a_stop_has_longer_than_the_service_takes():
    from risala.config.model import Settings

    settings = Settings()
    watchdog_s = 10
    patience_s = settings.http.graceful_stop_s + settings.engine.drain_s + watchdog_s
    assert int(Unit("risala.service")["Service"]["TimeoutStopSec"]) > patience_s


def test_what_is_old_is_removed_only_after_a_new_backup():
    service = Unit("risala-backup.service")["Service"]
    assert "risala backup" in service["ExecStart"]
    assert "-delete" in service["ExecStartPost"]
    assert Unit("risala-backup.timer")["Timer"]["Persistent"] == "true"


@pytest.mark.slow
def test_the_user_and_the_directories_are_made(tmp_path):
    users = ROOT / "deploy/sysusers.d/risala.conf"
    files = ROOT / "deploy/tmpfiles.d/risala.conf"
    if shutil.which("systemd-sysusers") is None or shutil.which("systemd-tmpfiles") is None:
        assert "u risala " in users.read_text()
        assert "d /var/lib/risala 0700 risala risala" in files.read_text()
        return
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/group").write_text("root:x:0:\ndialout:x:20:\n")
    (tmp_path / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}", str(users)], check=True)
    passwd = (tmp_path / "etc/passwd").read_text()
    assert "risala:x:" in passwd
    assert ":/var/lib/risala:/usr/sbin/nologin" in passwd
    assert "dialout:x:20:risala" in (tmp_path / "etc/group").read_text()
    subprocess.run(
        ["systemd-tmpfiles", "--create", f"--root={tmp_path}", str(files)],
        check=False,  # without root it cannot give files away, but for that it makes them
        capture_output=True,
    )
    for name, mode in (("etc/risala", 0o750), ("var/lib/risala", 0o700)):
        assert (tmp_path / name).stat().st_mode & 0o777 == mode
