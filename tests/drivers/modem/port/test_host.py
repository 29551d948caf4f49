"""What the machine tells of a port: a made-up tree of /proc and the like, and the true one."""

import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from risala.drivers.modem.port.host import Host

DEVICE = "/dev/ttyUSB7"
SERVICE = ["/opt/risala/.venv/bin/python3", "/opt/risala/.venv/bin/risala", "serve"]


@pytest.fixture
def root(tmp_path) -> Path:
    return tmp_path


def add_process(root: Path, pid: int, name: str, command: list[str], files: list[str]) -> Path:
    place = root / "proc" / str(pid)
    (place / "fd").mkdir(parents=True)
    (place / "fdinfo").mkdir()
    (place / "comm").write_text(f"{name}\n")
    (place / "cmdline").write_text("\0".join(command) + "\0")
    for number, target in enumerate(files):
        (place / "fd" / str(number)).symlink_to(target)
    return place


def test_who_holds_a_port(root):
    add_process(root, 10, "minicom", ["minicom", "-D", DEVICE], ["/dev/null", DEVICE])
    add_process(root, 11, "bash", ["bash"], ["/dev/null", "/dev/ttyUSB70"])
    add_process(root, 12, "risala", SERVICE, [DEVICE])
    add_process(root, 13, "python3", ["python3", "-m", "risala", "serve", "--demo"], [DEVICE])
    add_process(root, 14, "python3", ["python3", "-m", "risala", "tail"], [DEVICE])
    add_process(root, 16, "python3", ["python3", "/srv/risala.pyz", "serve"], [DEVICE])
    add_process(root, os.getpid(), "pytest", ["pytest"], [DEVICE])
    (add_process(root, 15, "gone", ["gone"], [DEVICE]) / "cmdline").unlink()
    titles = {process.title for process in Host(root).holders(DEVICE)}
    assert titles == {
        "minicom (process 10)",
        "the Risala service (process 12)",
        "the Risala service (process 13)",
        "python3 (process 14)",
        "the Risala service (process 16)",
    }


def test_a_process_of_another_user_tells_nothing(root):
    place = add_process(root, 10, "ModemManager", ["ModemManager"], [])
    (place / "fd").rmdir()
    host = Host(root)
    assert host.holders(DEVICE) == []
    assert [process.name for process in host.processes()] == ["ModemManager"]


def test_the_other_end_of_a_terminal_is_the_modem_and_no_holder():
    ours, theirs = pty.openpty()
    code = "import sys; sys.stdin.readline()"
    command = [sys.executable, "-c", code]
    try:
        path = os.ttyname(theirs)
        for passed, holds in (([ours, theirs], False), ([theirs], True)):
            with (
                subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=passed) as child,
                closing(child.stdin),
            ):
                found = {process.pid for process in Host().holders(path)}
                assert (child.pid in found) is holds
    finally:
        os.close(ours)
        os.close(theirs)


CONTAINED = """
mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts || exit 3
exec "$0" -c '
import os, subprocess, sys
ends = [os.openpty()[1] for _ in range(64)]
names = [os.ttyname(end) for end in ends]
child = subprocess.Popen(["cat"], pass_fds=ends)
print(child.pid, *names, flush=True)
child.wait()
'
"""


def test_a_terminal_of_the_same_name_in_a_container_is_another_one():
    """Each mount of devpts has a /dev/pts/0 of its own."""
    ours, theirs = pty.openpty()
    command = ["unshare", "--mount", "sh", "-c", CONTAINED, sys.executable]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as contained:
        try:
            pid, *names = contained.stdout.readline().split() or [""]
            if os.ttyname(theirs) not in names:
                pytest.skip("only root may make a container" if not pid else "no such terminal")
            assert int(pid) not in {each.pid for each in Host().holders(os.ttyname(theirs))}
        finally:
            contained.stdin.close()
            os.close(ours)
            os.close(theirs)


def test_names_and_the_other_ports_of_a_stick(root):
    by_id = root / "dev/serial/by-id"
    by_id.mkdir(parents=True)
    stick = [by_id / f"usb-HUAWEI_Mobile-if0{number}-port0" for number in range(3)]
    other = by_id / "usb-Prolific_Serial-if00-port0"
    for number, name in enumerate([*stick, other]):
        device = root / f"dev/ttyUSB{number}"
        device.write_text("")
        name.symlink_to(device)
    host = Host(root)
    assert host.names()[str(stick[1])] == str(root / "dev/ttyUSB1")
    assert host.siblings(str(root / "dev/ttyUSB1")) == [str(stick[0]), str(stick[2])]
    assert host.siblings(str(other)) == []
    assert host.siblings("/dev/ttyS0") == []
    assert Host(root / "nothing").names() == {}


def test_what_udev_notes_for_modem_manager(root):
    ours, theirs = pty.openpty()
    try:
        path = os.ttyname(theirs)
        device = os.stat(path).st_rdev
        host = Host(root)
        assert not host.is_left_alone(path)
        notes = root / f"run/udev/data/c{os.major(device)}:{os.minor(device)}"
        notes.parent.mkdir(parents=True)
        notes.write_text("E:ID_BUS=usb\nE:ID_MM_DEVICE_IGNORE=1\n")
        assert host.is_left_alone(path)
        notes.write_text("E:ID_MM_DEVICE_IGNORE=0\n")
        assert not host.is_left_alone(path)
    finally:
        os.close(ours)
        os.close(theirs)


def test_who_may_open_it(tmp_path):
    path = tmp_path / "tty"
    path.write_text("")
    path.chmod(0o660)
    access = Host().access(str(path))
    assert access is not None
    assert access.may
    assert access.group
    path.chmod(0o600)
    access = Host().access(str(path))
    assert access is not None
    assert access.group == ""
    assert Host().access(str(tmp_path / "none")) is None
