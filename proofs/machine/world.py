"""What the steps of one Debian share: two machines, the packages, and what was sent."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from proofs.machine.machine import Machine, StepFailed
from proofs.machine.packages import Packages

CLI: Final = (
    "sudo -u risala env RISALA_DATA=/var/lib/risala RISALA_CONFIG=/etc/risala/risala.toml risala"
)
"""As ``README.Debian`` tells the operator to type it."""
PASSWORD: Final = "s3cret-9f"
TEXT: Final = "Salam from a real machine"
MAKE_SHIPPED: Final = "install -d -o risala -g risala -m 700 /mnt/standby/shipped"
"""Where the service ships its copy for a standby: Risala does not make it."""
URL: Final = "http://127.0.0.1:8080"


@dataclass
class World:
    """Two machines with the same Debian. ``second`` starts when the first step needs it."""

    debian: str
    first: Machine
    packages: Packages
    start_second: Callable[[], Machine]
    key: str = ""
    message: str = ""
    scheduled: str = ""
    balance: str = ""
    paths: set[str] = field(default_factory=set)
    is_gone: bool = False
    _second: Machine | None = None

    @property
    def second(self) -> Machine:
        if self._second is None:
            self._second = self.start_second()
        return self._second


def wants(condition: bool, said: str) -> None:
    """
    Raises:
        StepFailed: the condition does not hold; ``said`` is what was seen instead.
    """
    if not condition:
        raise StepFailed(said)


def install(guest: Machine, package: Path, *, again: bool = False) -> str:
    """Install by apt, which asks nothing; ``again``: though this version is there. What it says."""
    path = f"/var/tmp/{package.name}"
    guest.put(path, package.read_bytes())
    options = "--reinstall" if again else ""
    return guest.run(f"apt-get install -q -y {options} {path}; rm {path}")


def asked(guest: Machine, *arguments: str) -> dict[str, Any]:
    """The JSON of a command for the running service, typed as its user."""
    said = guest.run(f"cd /; {CLI} {shlex.join(arguments)} --json")
    return dict(json.loads(said))


def call(guest: Machine, path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
    """The API's answer."""
    guest.put("/run/body.json", json.dumps(body).encode())
    said = guest.run(
        f"curl -sS {URL}{path} -H 'x-api-key: {key}' -H 'content-type: application/json'"
        " --data @/run/body.json"
    )
    answer = json.loads(said)
    if "error" in answer:
        raise StepFailed(f"{path}: {said}")
    return dict(answer)


def status(guest: Machine, key: str, message: str) -> str:
    return str(call(guest, "/api/sms/get", key, {"messageId": message})["status"])


def settled(guest: Machine) -> None:
    """No unit failed.

    Raises:
        StepFailed: one did.
    """
    failed = guest.run("systemctl list-units --failed --plain --no-legend").split()
    wants(not failed, f"failed on {guest.name}: {' '.join(failed[:1])}")


def paths(guest: Machine) -> set[str]:
    """Each path of the disk that an uninstalled package must not leave behind."""
    said = guest.run(
        "find / -xdev \\( -path /root -o -path /tmp -o -path /var/tmp -o -path /var/cache"
        " -o -path /var/log -o -path '/var/lib/apt' -o -path /var/lib/dpkg"
        " -o -path /var/lib/systemd -o -path /home \\) -prune -o -print"
    )
    return set(said.splitlines())
