"""``make one-line``: from a bare system to the first message by one line, and back to nothing.

Each system is a container of systemd-nspawn, with its own systemd and this machine's kernel. The
release is what ``make packages`` left in ``dist/``, signed by a key that is thrown away, and a web
server of this machine serves it. The carrier is the laboratory's.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.release import sign
from deploy.release.installer import Published
from deploy.release.packages import SCRIPT
from deploy.release.signing import ReleaseKey, release_key
from deploy.release.systems import SYSTEMS, System

from proofs import evidence
from proofs.machine import image, tools
from proofs.machine.container import Container
from proofs.machine.machine import Machine, StepFailed
from proofs.machine.tools import CannotRun, run

SECTION: Final = "one-line"
COMMAND: Final = "make one-line"
HOST: Final = "10.0.2.2"
"""What a container of slirp4netns calls the machine that it runs on."""
INCLUDED: Final = "systemd-sysv,curl,sudo,ca-certificates,iproute2"
"""What a server has from the first day, and debootstrap's smallest system has not."""
ANSWERS: Final = """\
country = "KE"
payer = "customers"
price = "1.00"
carrier = "trial"
operator = "me@example.org"
organization = "My shop"
phone = "0712 123456"
"""
OLD_ANSWERS: Final = """\
country = "MR"
carrier = "trial"
operator = "me@example.mr"
organization = "My shop"
phone = "36 12 34 56"
"""
LEFT: Final = "find / -xdev -iname '*risala*' -not -path '/home/*' -not -path '/var/log/journal/*'"
KEPT: Final = "came.json"
"""What a run saw on a system, for the table that the next one writes."""
PAGE_S: Final = 900
"""Long enough to install and to print the page's address, on a machine that has other work."""


@dataclass(frozen=True)
class Served:
    """A release that is served: the line that people type, and the folder."""

    folder: Path
    host: str
    line: str


def release(dist: Path, key: ReleaseKey, place: Path) -> tuple[str, list[Path]]:
    """The packages of a folder, as a release that is signed."""
    debs = sorted(dist.glob("risala_*.deb"))
    if not debs:
        raise CannotRun(f"There are no packages in {dist}: sudo make packages")
    version = debs[0].name.split("_")[1].partition("-")[0].replace("~", ".")
    files = [Path(shutil.copy(each, place)) for each in debs]
    files += sign.begun(place, Published(version), key)
    sign.signed(place, version, files, key, datetime.now(UTC))
    return version, files


class Quiet(http.server.SimpleHTTPRequestHandler):
    """It does not say what it serves."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path, host: str) -> Iterator[Served]:
    """Serve a folder to machines that call this one so, for as long as this is open."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://{host}:{server.server_port}"
        digest = hashlib.sha256((folder / "install.sh").read_bytes()).hexdigest()
        checked = f'echo "{digest}  install.sh" | sha256sum -c'
        line = f"curl -fsSO {address}/install.sh && {checked} && sh install.sh --from {address}"
        yield Served(folder, host, line)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def bare(system: System, folder: Path, keyring: str | None) -> image.Image:
    """The image of a bare system, made once and kept.

    Raises:
        CannotRun: debootstrap failed.
    """
    root, archive = folder / f"{system.codename}-bare", folder / f"{system.codename}-bare.tar"
    made = image.Image(system.codename, root, root, root, root, archive)
    if archive.exists():
        return made
    is_ubuntu = "ubuntu" in system.mark
    if not root.exists():
        keys = (is_ubuntu and keyring) or system.keyring
        told = ("--variant=minbase", f"--keyring={keys}", f"--components={system.components}")
        what = (system.codename, str(root), system.archive, *((SCRIPT,) if is_ubuntu else ()))
        run("debootstrap", *told, f"--include={INCLUDED}", *what)
    (root / "etc/network").mkdir(exist_ok=True)
    image.told(system.codename, root)
    image.packed(made)
    return made


class Walk:
    """What a person does on one system, with a clock."""

    def __init__(
        self, machine: Machine, served: Served, system: System, before: Path | None
    ) -> None:
        self._machine, self._served, self._system = machine, served, system
        self._before = sorted(before.glob(f"*+{system.mark}_amd64.deb")) if before else []

    def delivered(self) -> str:
        """Nothing to the first delivered message, by one line."""
        self._machine.run(f"cat >answers.toml <<'END'\n{ANSWERS}END", as_user=True)
        told = self._machine.run(f"{self._served.line} --answers answers.toml", as_user=True)
        found = re.search(r".*[Dd]elivered.*", told)
        if not found:
            raise StepFailed(f"no word of a delivered message:\n{told[-1500:]}")
        active = self._machine.run("systemctl is-active risala").strip()
        words = len(self._served.line.split()) + 2
        return f"one line of {words} words; the service is {active}; {found[0].strip(' !.')}"

    def again(self) -> str:
        """The same line once more."""
        told = self._machine.run(self._served.line, as_user=True)
        if "is installed already" not in told:
            raise StepFailed(told[-1500:])
        return "it is installed already, and nothing changed"

    def listed(self) -> str:
        """The folder of apt, read by the system's own apt."""
        address = self._served.line.rpartition(" ")[2]
        source = f"deb [signed-by=/tmp/key.gpg] {address}/apt {self._system.codename} main"
        alone = "-o Dir::Etc::sourcelist=/tmp/it.list -o Dir::Etc::sourceparts=-"
        alone += " -o APT::Get::List-Cleanup=0"
        script = (
            f"curl -fsS {address}/{sign.KEYRING} -o /tmp/key.gpg;"
            f" echo '{source}' >/tmp/it.list; apt-get {alone} -q update;"
            f" apt-cache {alone} madison risala; rm /tmp/key.gpg /tmp/it.list"
        )
        told = self._machine.run(script)
        found = re.search(rf"risala \| (\S+) \| {re.escape(address)}/apt ", told)
        if not found:
            raise StepFailed(told[-1500:])
        return f"it has the signature of the key, and {found[1]}"

    def uninstalled(self) -> str:
        """Away, with the data left; then back, with the data there."""
        self._machine.run("sh install.sh --uninstall", as_user=True)
        self._machine.run("test -e /var/lib/risala/risala.db && test ! -e /usr/bin/risala")
        self._machine.run(self._served.line, as_user=True)
        told = self._shop()
        return f"the data stayed, and serve again: {' '.join(told.split()[1:6])}"

    def refused(self) -> str:
        """A mirror with a package that was changed."""
        with tempfile.TemporaryDirectory() as folder:
            mirror = Path(folder)
            for path in self._served.folder.iterdir():
                if path.is_file():
                    os.link(path, mirror / path.name) if path.suffix != ".deb" else None
            (deb,) = self._served.folder.glob(f"*+{self._system.mark}_amd64.deb")
            (mirror / deb.name).write_bytes(deb.read_bytes()[:-1] + b"?")
            with served(mirror, self._served.host) as hostile:
                code, told = self._machine.tried(hostile.line, as_user=True)
        if not code or "Nothing was changed" not in told:
            raise StepFailed(f"a changed package: {told[-1500:]}")
        stopped = next(line for line in told.splitlines() if "Stopped" in line)
        return stopped.partition(": its checksum")[0]

    def purged(self) -> str:
        """Everything away, after a question."""
        code, told = self._machine.tried("echo Shop | sh install.sh --purge", as_user=True)
        if not code:
            raise StepFailed(f"purged without the organization's name: {told}")
        self._machine.run("echo 'My shop' | sh install.sh --purge", as_user=True)
        left = self._machine.run(f"{LEFT}; getent passwd risala || true").split()
        if left:
            raise StepFailed(f"left: {left}")
        return "no file, no unit, no user is left"

    def asked(self) -> str:
        """Without answers the line ends with the address of a page."""
        line = self._served.line.rpartition(" && ")[2]
        # It waits for whoever answers on the page: nobody will.
        begun = f"setsid timeout {PAGE_S} {line} >told 2>&1 </dev/null & echo $!"
        process = self._machine.run(begun, as_user=True).split()[-1]
        told = f"cat ~{image.USER}/told"
        address = re.compile(r"http://127\.0\.0\.1:\d+/first-run/\S+")
        self._machine.until(
            "the address of a page", lambda: address.search(self._machine.run(told)), PAGE_S
        )
        self._machine.run(f"kill {process}")
        return "the address of the page with the first questions"

    def upgraded(self) -> str:
        """An upgrade from 1.0, which apt installed."""
        (before,) = self._before or (None,)
        if before is None:
            return "not tried: there is no package of 1.0 for it here"
        self._machine.run("uname -n | sh install.sh --purge", as_user=True)
        self._machine.put(f"/root/{before.name}", before.read_bytes())
        self._machine.run(f"apt-get install -q -y /root/{before.name}")
        self._machine.run(f"cat >old.toml <<'END'\n{OLD_ANSWERS}END", as_user=True)
        first = "sudo risala init --yes --file old.toml /etc/risala/risala.toml"
        self._machine.run(first, as_user=True)
        shop, came = self._shop(), self._machine.run("risala --version").strip()
        self._machine.run(self._served.line, as_user=True)
        now = self._machine.run("risala --version").strip()
        if self._shop().split()[:5] != shop.split()[:5] or now == came:
            raise StepFailed(f"{came}, {shop}; then {now}, {self._shop()}")
        active = self._machine.run("systemctl is-active risala").strip()
        return f"from {came} to {now}, the organization and its balance are there; {active}"

    def _shop(self) -> str:
        env = "RISALA_DATA=/var/lib/risala RISALA_CONFIG=/etc/risala/risala.toml"
        return self._machine.run(f"runuser -u risala -- env {env} risala org list").split("\n")[1]


STEPS: Final[tuple[Callable[[Walk], str], ...]] = (
    Walk.refused,
    Walk.delivered,
    Walk.again,
    Walk.listed,
    Walk.uninstalled,
    Walk.purged,
    Walk.asked,
    Walk.upgraded,
)


def walked(
    system: System, bare_image: image.Image, folder: Path, before: Path | None
) -> list[tuple[str, str]]:
    """What came of each step on a system: its words, with the seconds."""
    came = []
    with (
        served(folder, HOST) as here,
        tempfile.TemporaryDirectory(prefix="one-line-") as place,
        Container(bare_image, Path(place), system.codename) as machine,
    ):
        walk = Walk(machine, here, system, before)
        for step in STEPS:
            began = time.monotonic()
            said = " ".join(step(walk).split())
            took_s = time.monotonic() - began
            title = (step.__doc__ or "").partition("\n")[0].rstrip(".")
            came.append((title, f"{said} ({took_s:.0f} s)"))
            print(f"{system.codename}: {title}: {came[-1][1]}", flush=True)
    return came


def main() -> None:
    parser = argparse.ArgumentParser(prog="make one-line", description=__doc__)
    names = [each.codename for each in SYSTEMS]
    parser.add_argument("--only", action="append", default=[], choices=names)
    parser.add_argument("--dist", type=Path, default=evidence.ROOT / "dist")
    parser.add_argument("--folder", type=Path, default=evidence.ROOT / "build/roots")
    parser.add_argument("--ubuntu-keyring", help="the keys of Ubuntu's archive, for other places")
    parser.add_argument("--before", type=Path, help="a folder with packages of 1.0")
    parser.add_argument("--write", action="store_true", help="into the page of evidence")
    given = parser.parse_args()
    tools.check(in_container=True)
    systems = [each for each in SYSTEMS if not given.only or each.codename in given.only]
    with tempfile.TemporaryDirectory(prefix="one-line-") as folder:
        place, home = Path(folder) / "release", Path(folder) / "keys"
        place.mkdir()
        home.mkdir(mode=0o700)
        os.environ["GNUPGHOME"] = str(home)
        release(given.dist, throw_away_key(), place)
        for system in systems:
            made = bare(system, given.folder, given.ubuntu_keyring)
            came = dict(walked(system, made, place, given.before))
            kept = given.folder / f"{system.codename}-{KEPT}"
            kept.write_text(json.dumps({"commit": evidence.commit(), "came": came}), "utf-8")
    if given.write:
        write(given.folder)


def write(folder: Path) -> None:
    """Put what came of each system into the page of evidence: of this commit, also earlier."""
    came: dict[str, dict[str, str]] = {}
    for system in SYSTEMS:
        kept = folder / f"{system.codename}-{KEPT}"
        if kept.exists():
            told = json.loads(kept.read_text("utf-8"))
            if told["commit"] == evidence.commit():
                came[system.codename] = told["came"]
    titles = [(step.__doc__ or "").rstrip(".") for step in STEPS]
    rows = [(title, *(each.get(title, "not tried") for each in came.values())) for title in titles]
    evidence.write(SECTION, ("What is done", *came), rows, command=COMMAND)


def throw_away_key() -> ReleaseKey:
    made = ("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "Trial", "ed25519")
    subprocess.run((*made, "sign", "never"), check=True, capture_output=True)
    listed = run("gpg", "--list-secret-keys", "--with-colons")
    return release_key(next(line.split(":")[9] for line in listed.splitlines() if "fpr" in line))


if __name__ == "__main__":
    main()
