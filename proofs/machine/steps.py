"""The package arrives: installed, started, fenced in; messages by SMPP and by a USB stick."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from typing import Final

from openpyxl import Workbook

from proofs.machine.image import USER
from proofs.machine.machine import NotTried
from proofs.machine.world import (
    CLI,
    MAKE_SHIPPED,
    PASSWORD,
    TEXT,
    URL,
    World,
    asked,
    call,
    install,
    paths,
    settled,
    status,
    wants,
)

EXPOSED_MAX: Final = 2.0
"""Of ten, by `systemd-analyze security`; ``tests/deploy`` holds the units to it without systemd."""
REFUSED_CALL: Final = "type=1326"
"""How the kernel's audit names a system call that seccomp refused."""
UNITS: Final = ("risala.service", "risala-backup.service", "risala-standby.service")
USB: Final = "/dev/ttyUSB0"
RATE: Final = "rate_per_s = 50"
SETTINGS: Final = f"""
[[carriers]]
name = "lab"
driver = "smpp"
prefixes = ["+2223"]
{RATE}

[carriers.smpp]
host = "127.0.0.1"
port = 2775
system_id = "risala"
password_env = "LAB_PASSWORD"
"""
STICK: Final = f"""
[[carriers]]
name = "stick"
driver = "modem"
prefixes = ["+2224"]
rate_per_s = 5

[carriers.modem]
port = "{USB}"
"""
SHIPPED: Final = 'directory = "/mnt/standby/shipped"\n'
LAB: Final = f"""\
[Unit]
Description=The simulated carrier
[Service]
User={USER}
ExecStart=/usr/bin/risala simulate smsc --lines --system-id risala --password {PASSWORD}
[Install]
WantedBy=multi-user.target
"""


def boot(world: World) -> str:
    """A bare Debian starts"""
    world.first.run("apt-get update -q; apt-get install -q -y curl")
    settled(world.first)
    release = world.first.run(". /etc/os-release; echo $PRETTY_NAME; uname -r").split("\n")
    world.paths = paths(world.first)
    return f"{release[0]}, Linux {release[1]}, after {world.first.boot_s:.0f} s"


def installed(world: World) -> str:
    """The package of the commit before is installed"""
    guest = world.first
    install(guest, world.packages.before)
    guest.run("dpkg --verify risala; dpkg --audit")
    wants("risala" in guest.run("id -nG risala"), "there is no user risala")
    seen = guest.run(
        "stat -c '%a %U %G %n' /etc/risala /etc/risala/* /var/lib/risala /var/backups/risala"
    )
    for line in (
        "750 root risala /etc/risala",
        "600 root root /etc/risala/secrets",
        "700 risala risala /var/lib/risala",
        "700 risala risala /var/backups/risala",
    ):
        wants(line in seen, f"{line!r} is not in:\n{seen}")
    enabled = guest.run("systemctl is-enabled risala.service risala-backup.timer").split()
    wants(enabled == ["enabled"] * 2, f"not enabled: {enabled}")
    guest.reboot()  # it is skipped at a start of the machine too
    _, active = guest.tried("systemctl is-active risala.service risala-backup.timer")
    wants(active.split() == ["inactive", "active"], f"before there are settings: {active}")
    _, told = guest.tried("systemctl status --no-pager risala")
    wants("condition" in told.lower(), f"systemctl status does not name the condition: {told}")
    settled(guest)
    return guest.run("risala --version; dpkg-query -W -f '${Version}' risala").replace("\n", ", ")


def started(world: World) -> str:
    """systemd starts it, with settings"""
    guest = world.first
    guest.put("/etc/systemd/system/lab.service", LAB.encode())
    guest.run("systemctl daemon-reload; systemctl enable --now lab")
    guest.run("risala init /etc/risala/risala.toml")
    written = guest.get("/etc/risala/risala.toml")
    settings = SETTINGS + (STICK if guest.has_usb else "")
    shipping = written.replace(b"[standby]\n", b"[standby]\n" + SHIPPED.encode())
    guest.put("/etc/risala/risala.toml", shipping + settings.encode())
    guest.put("/etc/risala/secrets", f"LAB_PASSWORD={PASSWORD}\n".encode())
    guest.run(MAKE_SHIPPED)
    guest.run("systemctl start risala")
    guest.until("readyz", lambda: guest.tried(f"curl -sf {URL}/readyz")[0] == 0)
    carriers = 1 + guest.has_usb
    guest.until("carriers are up", lambda: _up(world) == carriers)
    settled(guest)
    return f"ready, {carriers} up"


def _up(world: World) -> int:
    return world.first.run(f"cd /; {CLI} carriers").count(" up ")


def sent(world: World) -> str:
    """A message by SMPP, to the laboratory's carrier"""
    guest = world.first
    asked(guest, "org", "create", "School")
    asked(guest, "topup", "School", "100")
    world.key = _secret(guest.run(f"cd /; {CLI} key create --json"))
    world.message = _send(world, "+22236123456", TEXT)
    later = {"to": "+22236123457", "body": TEXT, "sendAt": _tomorrow(guest.run("date +%s"))}
    world.scheduled = str(call(guest, "/api/sms", world.key, later)["messageId"])
    return _delivered(world, world.message)


def by_stick(world: World) -> str:
    """A message by a USB stick's serial port"""
    if not world.first.has_usb:
        raise NotTried("a container has no USB")
    said = _delivered(world, _send(world, "+22246123456", TEXT))
    kind = world.first.run(f"udevadm info -q property -n {USB} | grep -E '^ID_(MODEL|USB_DRIVER)='")
    return f"{said}; {kind.strip()}".replace("\n", ", ")


def by_table(world: World) -> str:
    """A workbook is read, and a report written, by child processes"""
    guest = world.first
    guest.put("/run/people.xlsx", _workbook())
    guest.run("chmod 644 /run/people.xlsx")
    words = "--text 'Dear {{name}}, school begins.' --yes --wait --hours 0-24"
    guest.run(f"cd /; {CLI} mailing send --file /run/people.xlsx {words}")
    (mailing,) = asked(guest, "mailing", "list")["mailings"]
    report = "/var/lib/risala/report.xlsx"
    guest.run(f"cd /; {CLI} mailing report {mailing['id']} {report}; rm {report}")
    return "two people have their message; a report in a workbook"


def fenced(world: World) -> str:
    """The unit's fences hold in the running process"""
    guest = world.first
    pid = guest.run("systemctl show -P MainPID risala").strip()
    status_lines = dict(
        line.split(":\t", 1) for line in guest.run(f"cat /proc/{pid}/status").splitlines()
    )
    for name, value in (
        ("CapEff", "0" * 16),
        ("CapBnd", "0" * 16),
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
    ):
        wants(status_lines[name] == value, f"{name} is {status_lines[name]}")
    wants(guest.run(f"stat -c %U /proc/{pid}/mem").strip() == "root", "its memory can be dumped")
    inside = f"nsenter -t {pid} -m setpriv --reuid risala --regid risala --clear-groups"
    for path in ("/usr/x", "/etc/risala/x", "/home/x", "/var/x", "/root/x"):
        code, _ = guest.tried(f"{inside} touch {path}")
        wants(code != 0, f"the service could write {path}")
    guest.run(f"{inside} touch /var/lib/risala/x; rm /var/lib/risala/x")
    _, seen = guest.tried(f"{inside} ls /home 2>/dev/null")
    wants(not seen.strip(), "the service sees what is in /home")
    exposed = {}
    for unit in UNITS:
        said = guest.run(f"systemd-analyze security --no-pager {unit}")
        exposed[unit] = float(re.findall(r"exposure level for \S+: ([\d.]+)", said)[0])
        wants(exposed[unit] <= EXPOSED_MAX, f"{unit} is exposed: {exposed[unit]}")
    return ", ".join(f"{unit} {level}" for unit, level in exposed.items())


def reloaded(world: World) -> str:
    """A reload reads the settings again, in the same process"""
    guest = world.first
    before = guest.run("systemctl show -P MainPID risala")
    guest.run(f"sed -i 's/^{RATE}$/{RATE}0/' /etc/risala/risala.toml; systemctl reload risala")
    guest.until("the change is in the journal", lambda: "settings.changed" in _journal(world))
    wants(guest.run("systemctl show -P MainPID risala") == before, "another process runs")
    return _delivered(world, _send(world, "+22236123458", TEXT))


def quiet(world: World) -> str:
    """The journal has no secret, no text and no whole number"""
    journal = _journal(world)
    for what, secret in (
        ("the password", PASSWORD),
        ("the key", world.key),
        ("a text", TEXT),
        ("a number", "22236123456"),
    ):
        wants(secret not in journal, f"{what} is in the journal")
    for word in ("Traceback", '"level":"error"', '"level": "error"'):
        at = journal.find(word)
        wants(at < 0, f"the journal has an error: {journal[max(at - 300, 0) : at + 700]}")
    kernel = world.first.run("journalctl -b -k --no-pager")
    for word in ("segfault", REFUSED_CALL, "Out of memory"):
        wants(word not in kernel, f"the kernel says {word}")
    return f"{len(journal.splitlines())} lines"


def _journal(world: World) -> str:
    units = " ".join(f"-u {unit}" for unit in UNITS)
    return world.first.run(f"journalctl -b --no-pager -o cat {units}")


def _send(world: World, number: str, body: str) -> str:
    answer = call(world.first, "/api/sms", world.key, {"to": number, "body": body})
    return str(answer["messageId"])


def _delivered(world: World, message: str) -> str:
    world.first.until(
        f"{message} is delivered",
        lambda: status(world.first, world.key, message) == "delivered",
    )
    return "delivered"


def _secret(said: str) -> str:
    return str(re.findall(r"sk_live_\w+", said)[0])


def _tomorrow(seconds: str) -> str:
    return f"{datetime.fromtimestamp(int(seconds) + 36 * 3600, UTC):%Y-%m-%dT%H:%M:%S.000Z}"


def _workbook() -> bytes:
    book = Workbook()
    for row in (("name", "phone"), ("Aminata", "+22236123461"), ("Sidi", "+22236123462")):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
