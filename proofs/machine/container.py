"""A machine for where no processor can be lent: systemd-nspawn.

Debian's own systemd is the first process there, with its units, users and disk; the kernel is this
machine's, and there is no USB. It takes a fiftieth of the time of an emulated machine.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

from proofs.machine.image import ENVIRONMENT, Image
from proofs.machine.machine import PATIENCE_S, Gone, Machine
from proofs.machine.tools import run

START_S: Final = 120.0
POLL_S: Final = 0.2
RESTARTS: Final = 133
"""The exit code of systemd-nspawn when what ran in it wants to be started again."""
AGENT: Final = "etc/systemd/system/multi-user.target.wants/machine-agent.service"
ENVIRON: Final = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
"""Control groups of the second version, also where this machine has the first: systemd has needed
them since 258."""
INTERFACES: Final = "auto lo\niface lo inet loopback\n"
"""The network's other interface is set up from outside."""


class Container(Machine):
    """``with`` starts and ends it."""

    times = 3  # it shares processors and disk with everything else here
    has_usb = False

    def __init__(self, image: Image, place: Path, name: str) -> None:
        self.name = name
        self.console = place / f"{name}.console"
        self._image = image
        self._root = place / name
        self._stack = contextlib.ExitStack()
        self._network: subprocess.Popen[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._leader = 0

    def __enter__(self) -> Self:
        began = time.monotonic()
        with contextlib.ExitStack() as stack:
            self._root.mkdir()
            stack.callback(shutil.rmtree, self._root, ignore_errors=True)
            _unpacked(self._image.archive, self._root)
            (self._root / "etc/network/interfaces").write_text(INTERFACES)
            (self._root / "etc/fstab").write_text("")  # its disk is a folder
            (self._root / AGENT).unlink()  # it listens to qemu
            stack.enter_context(self._running())
            self.await_start()
            self.settle()
            self.boot_s = time.monotonic() - began
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def asked(
        self, verb: str, content: bytes, path: str = "", *, patience_s: float = PATIENCE_S
    ) -> tuple[int, bytes]:
        script = {"run": "sh -e /run/machine.sh", "put": f"cat >{path}", "get": f"cat {path}"}[verb]
        if verb == "run":
            self.asked("put", content, "/run/machine.sh")
            content = b""
        inside = ["nsenter", "-t", str(self._leader), "-m", "-u", "-i", "-n", "-p", "-r", "-w"]
        command = [*inside, "env", "-i", *ENVIRONMENT.split(), "sh", "-c", script]
        try:
            done = subprocess.run(
                command,
                input=content,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=patience_s * self.times,
            )
        except subprocess.TimeoutExpired as error:
            raise Gone(f"{self.name} does not answer; its console: {self.console}") from error
        return done.returncode, done.stdout

    def await_start(self) -> None:
        before, self._leader = self._leader, 0
        ends = time.monotonic() + START_S
        while not self._leader or self._leader == before or not self._answers():
            if time.monotonic() > ends:
                raise Gone(f"{self.name} does not start; its console: {self.console}")
            time.sleep(POLL_S)
            assert self._process is not None
            if self._process.poll() == RESTARTS:
                self._process = self._started()
            self._leader = self._first_process()
        self._connect()

    def _answers(self) -> bool:
        return self.tried("test -S /run/systemd/private")[0] == 0

    def _first_process(self) -> int:
        assert self._process is not None
        pid = self._process.pid
        try:
            told = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return 0  # it has ended
        return int(told[0]) if told else 0

    def _connect(self) -> None:
        """A network for the container alone; a restart has a new one."""
        self._disconnect()
        command = ["slirp4netns", "--configure", "--mtu=1500", str(self._leader), "eth0"]
        self._network = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.until("a network", lambda: "10.0.2." in self.run("ip -4 address"))

    def _disconnect(self) -> None:
        if self._network is not None:
            self._network.terminate()
            self._network.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        command = ["systemd-nspawn", "--quiet", "--boot", "--keep-unit", "--register=no"]
        command += ["--private-network", "--resolv-conf=off", f"--directory={self._root}"]
        with self.console.open("ab") as console:
            return subprocess.Popen(
                [*command, "--console=pipe"],
                env=os.environ | ENVIRON,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
            )

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        self._process = self._started()
        try:
            yield
        finally:
            self._disconnect()
            self._process.terminate()
            self._process.wait()


def _unpacked(archive: Path, root: Path) -> None:
    """The files of the image, with owners and modes."""
    run("tar", "-C", str(root), "-xpf", str(archive), "--numeric-owner")
