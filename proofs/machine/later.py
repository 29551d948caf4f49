"""The package's life: a reboot, an upgrade, a backup, the other machine, and its end."""

from __future__ import annotations

import re
from typing import Final

from proofs.machine.machine import Machine
from proofs.machine.world import (
    CLI,
    MAKE_SHIPPED,
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

LEFT: Final = re.compile(
    # What the package says that it keeps, and what systemd keeps of any user.
    r"/var/backups(/risala(/.*)?)?|/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?"
    r"|/mnt/standby(/.*)?|/etc/\.pwd\.lock"
)
"""Paths that may be there after a purge and were not before the package came."""
BACKUP: Final = "/var/backups/risala/moved.db"
ROOM: Final = "/etc/systemd/system/risala-backup.timer.d"
"""Where `systemctl edit` puts what an operator changes."""


def rebooted(world: World) -> str:
    """After a reboot the service and the messages are there"""
    guest = world.first
    world.balance = _balance(guest)
    took_s = guest.reboot()
    ready(guest)
    there(world, guest)
    settled(guest)
    return f"ready {took_s:.0f} s after the order; delivered, scheduled and balance as before"


def upgraded(world: World) -> str:
    """An upgrade to the package of this commit"""
    guest = world.first
    before = guest.run("systemctl show -P MainPID risala")
    guest.run(f"touch /run/watched; nohup sh -c '{_WATCH}' >/run/failed 2>/dev/null &")
    install(guest, world.packages.now)
    guest.run("dpkg --verify risala")
    ready(guest)
    wants(guest.run("systemctl show -P MainPID risala") != before, "the old process runs on")
    down_s = _down_s(guest)
    there(world, guest)
    sent_again(world, guest)
    guest.run("systemctl stop risala; systemctl disable -q risala-backup.timer")
    install(guest, world.packages.now, again=True)
    _, active = guest.tried("systemctl is-active risala")
    wants(active.strip() == "inactive", f"an upgrade started what was stopped: {active}")
    _, enabled = guest.tried("systemctl is-enabled risala-backup.timer")
    wants(enabled.strip() == "disabled", f"an upgrade made the timer {enabled}")
    guest.run("systemctl start risala; systemctl enable -q --now risala-backup.timer")
    ready(guest)
    settled(guest)
    version = guest.run("dpkg-query -W -f '${Version}' risala")
    return f"{version}; the service was down for {down_s:.0f} s; what was stopped stayed so"


def _down_s(guest: Machine) -> float:
    """From the first answer that failed to the last one, since it is watched."""
    guest.run("rm /run/watched")
    failed = [float(line) for line in guest.run("cat /run/failed").splitlines()]
    return failed[-1] - failed[0] if failed else 0.0


def timed(world: World) -> str:
    """The backup of a night that was missed, by its timer"""
    guest = world.first
    guest.run(f"install -d {ROOM}")
    guest.put(f"{ROOM}/at-once.conf", b"[Timer]\nRandomizedDelaySec=0\n")
    guest.run("systemctl stop risala-backup.timer; systemctl daemon-reload")
    guest.run("touch -d '2 days ago' /var/lib/systemd/timers/stamp-risala-backup.timer")
    guest.run("systemctl start risala-backup.timer")
    guest.until("a backup", lambda: "done" in guest.tried(_BACKED_UP)[1])
    settled(guest)
    (line,) = guest.run("stat -c '%a %U %s' /var/backups/risala/*T*.db").splitlines()
    wants(line.startswith("600 risala "), f"the backup's file is {line}")
    guest.run(f"rm -r {ROOM}; systemctl daemon-reload")  # no purge takes what an operator wrote
    ready(guest)
    return f"{int(line.split()[2]) / 1000:.0f} kB, and only its owner can read it"


_WATCH: Final = (
    f"while test -e /run/watched; do curl -sf -m 2 -o /dev/null {URL}/readyz"
    " || date +%s.%N; sleep 0.5; done"
)
_BACKED_UP: Final = (
    "ls /var/backups/risala/*T*.db.sha256"
    " && systemctl show -P Result -P ActiveState risala-backup | grep -q inactive && echo done"
)


def standing_by(world: World) -> str:
    """risala-standby.service follows, on the second machine"""
    first, second = world.first, world.second
    # 1: a file was changed meanwhile. It ships on, and a piece that is not whole has no name yet.
    first.run("tar -C /mnt -cf /run/shipped.tar standby || test $? = 1")
    second.put("/run/shipped.tar", first.get("/run/shipped.tar"))
    second.run("systemctl stop risala; rm -r /mnt/standby")  # it has shipped too, since it served
    second.run("tar -C /mnt -xf /run/shipped.tar; systemctl start risala-standby")
    second.until("healthz", lambda: second.tried(f"curl -sf {URL}/healthz")[0] == 0)
    _, ready_said = second.tried(f"curl -s -o /dev/null -w '%{{http_code}}' {URL}/readyz")
    wants(ready_said == "503", f"readyz of a standby answers {ready_said}")
    told = second.run(f"cd /; {CLI} standby status /mnt/standby/shipped").splitlines()
    second.run("systemctl stop risala-standby")
    settled(second)
    return f"healthz 200, readyz 503; {told[0]}"


def moved_settings(world: World) -> None:
    """The second machine gets the package, the settings and the passwords."""
    first, second = world.first, world.second
    second.run("apt-get update -q; apt-get install -q -y curl")
    install(second, world.packages.now)
    for path in (
        "/etc/risala/risala.toml",
        "/etc/risala/secrets",
        "/etc/systemd/system/lab.service",
    ):
        second.put(path, first.get(path))
    second.run(MAKE_SHIPPED)
    second.run("systemctl daemon-reload; systemctl enable --now lab")


def restored(world: World) -> str:
    """A backup goes to the second machine, which restores it and serves"""
    first, second = world.first, world.second
    moved_settings(world)
    first.run(f"cd /; {CLI} backup {BACKUP}")
    world.balance = _balance(first)
    for path in (BACKUP, f"{BACKUP}.sha256"):
        second.put(path, first.get(path))
    second.run(f"chown risala: {BACKUP}*; chmod 600 {BACKUP}*")
    second.run(f"cd /; {CLI} restore {BACKUP}; {CLI} audit")
    second.run("systemctl start risala")
    ready(second)
    there(world, second, scheduled=None)
    sent_again(world, second)
    settled(second)
    return "message and balance are there; the next message is delivered"


def removed(world: World) -> str:
    """A removal leaves settings and data, and nothing that runs"""
    guest = world.first
    guest.run("systemctl disable --now lab; rm /etc/systemd/system/lab.service")
    guest.run("apt-get remove -q -y risala; systemctl daemon-reload")
    _, running = guest.tried("pgrep -u risala -l")
    wants(not running, f"still running: {running}")
    guest.run("test -s /etc/risala/risala.toml; test -s /var/lib/risala/risala.db")
    wants(guest.tried("test -e /usr/lib/risala")[0] != 0, "/usr/lib/risala is still there")
    guest.reboot()
    settled(guest)
    return "risala.toml and risala.db stay; the machine starts without a failed unit"


def purged(world: World) -> str:
    """A purge leaves the backups and their user alone"""
    guest = world.first
    guest.run("apt-get purge -q -y risala; apt-get autoremove -q -y --purge; dpkg --audit")
    left = sorted(each for each in paths(guest) - world.paths if not LEFT.fullmatch(each))
    wants(not left, f"left behind: {' '.join(left[:10])}")
    guest.run("id risala >/dev/null; ls /var/backups/risala/*.db")
    found = guest.run("find / -xdev -user risala -not -path '/var/backups/*' -not -path '/mnt/*'")
    wants(not found, f"of the user risala: {found}")
    settled(guest)
    return "no other file, no unit, no link is left"


# -- what several steps look at ------------------------------------------------------------------


def ready(guest: Machine) -> None:
    guest.until("readyz", lambda: guest.tried(f"curl -sf {URL}/readyz")[0] == 0)


def there(world: World, guest: Machine, scheduled: str | None = "pending") -> None:
    """
    Raises:
        StepFailed: a message or the balance is another than before.
    """
    seen = status(guest, world.key, world.message)
    wants(seen == "delivered", f"the message is {seen}")
    if scheduled is not None:
        seen = status(guest, world.key, world.scheduled)
        wants(seen == scheduled, f"the scheduled message is {seen}")
    balance = _balance(guest)
    wants(balance == world.balance, f"the balance is {balance}, and was {world.balance}")


def sent_again(world: World, guest: Machine) -> None:
    body = {"to": "+22236123459", "body": TEXT}
    message = str(call(guest, "/api/sms", world.key, body)["messageId"])
    guest.until("delivered", lambda: status(guest, world.key, message) == "delivered")
    world.balance = _balance(guest)


def _balance(guest: Machine) -> str:
    return str(asked(guest, "org", "show", "School")["balance"])
