"""What a step can do with a machine, be it one of qemu or a container."""

from __future__ import annotations

import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, Self, TypeVar

from proofs.machine import tools
from proofs.machine.image import USER

T = TypeVar("T")
ARRIVES_S: Final = 60.0
POLL_S: Final = 0.5
PATIENCE_S: Final = 600.0
"""For one command: the longest downloads and compiles."""


class StepFailed(Exception):
    """The machine did not do what it should; the text says what it did."""


class Gone(StepFailed):
    """The machine ended, or does not answer any more: what follows cannot be tried there."""


class NotTried(Exception):
    """A step cannot be tried on this kind of machine; the text says why."""


class Machine(ABC):
    """A running Debian with its own systemd.

    Attributes:
        boot_s: seconds that its start took.
        times: how many times longer it takes than on a processor of its own.
        has_usb: whether a USB stick can be plugged in.
    """

    name: str
    boot_s: float = 0.0
    times: int = 1
    has_usb: bool = True

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def asked(
        self, verb: str, content: bytes, path: str = "", *, patience_s: float = PATIENCE_S
    ) -> tuple[int, bytes]:
        """Have the machine ``run`` a script, ``put`` a file or ``get`` one.

        Returns:
            The exit code, and what came out.

        Raises:
            Gone: nothing came back in time.
        """

    @abstractmethod
    def await_start(self) -> None:
        """Wait for the agent of a machine that starts. Raises: Gone."""

    def run(self, script: str, *, as_user: bool = False, patience_s: float = PATIENCE_S) -> str:
        """What a shell script prints, run by root, or by the user in his home.

        Raises:
            StepFailed: it ended with an error.
            Gone: nothing came back in time.
        """
        code, said = self.tried(script, as_user=as_user, patience_s=patience_s)
        if code:
            shown = said[-tools.SAID_MAX :].strip()
            raise StepFailed(f"{script.strip()}\n… exit code {code} on {self.name}:\n{shown}")
        return said

    def tried(
        self, script: str, *, as_user: bool = False, patience_s: float = PATIENCE_S
    ) -> tuple[int, str]:
        """The exit code of a script, and what it printed.

        Raises:
            Gone: nothing came back in time.
        """
        if as_user:
            script = f"su - {USER} -c {shlex.quote(f'set -e; {script}')}"
        code, said = self.asked("run", script.encode(), patience_s=patience_s)
        return code, said.decode(errors="replace")

    def order(self, script: str) -> None:
        """Have a script run that may end the machine before it is answered. Raises: Gone."""
        self.tried(script)

    def put(self, path: str, content: bytes) -> None:
        """Write a file. Raises: StepFailed, Gone."""
        code, _ = self.asked("put", content, path)
        if code:
            raise StepFailed(f"{path} could not be written on {self.name}")

    def get(self, path: str) -> bytes:
        """Read a file. Raises: StepFailed, Gone."""
        code, content = self.asked("get", b"", path)
        if code:
            raise StepFailed(f"{path} could not be read on {self.name}")
        return content

    def reboot(self) -> float:
        """Restart in order; returns the seconds until the last of its units has started.

        Raises:
            Gone: it does not come back.
        """
        began = time.monotonic()
        self.order("systemctl reboot --no-block")
        self.await_start()
        self.settle()
        return time.monotonic() - began

    def until(self, what: str, look: Callable[[], T], patience_s: float = ARRIVES_S) -> T:
        """What ``look`` sees as soon as that is something.

        Raises:
            StepFailed: it never was, in this time.
        """
        ends = time.monotonic() + patience_s * self.times
        while not (seen := look()):
            if time.monotonic() > ends:
                raise StepFailed(f"{what}: not in {patience_s * self.times:g} s on {self.name}")
            time.sleep(POLL_S)
        return seen

    def settle(self) -> None:
        """Wait until systemd has started, or failed to start, each unit."""
        self.tried("systemctl is-system-running --wait", patience_s=PATIENCE_S)
