"""A running machine: qemu, and the agent inside that does what it is asked."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Self

from proofs.machine.image import Image
from proofs.machine.machine import PATIENCE_S, Gone, Machine
from proofs.machine.tools import CannotRun, run

MEMORY_MIB: Final = 1024
"""A small machine; two run at once."""
BUILD_MEMORY_MIB: Final = 2048
PROCESSORS: Final = 2
BOOT_S: Final = 120.0
EMULATED: Final = 10
"""How many times longer everything takes without KVM."""
CPU: Final = "host,arch-capabilities=off"
"""A machine that is one itself may not be allowed to name those."""
KERNEL_S: Final = 30.0
"""A kernel says its first line within a second, where KVM works."""
SOCKET_S: Final = 30.0
"""qemu makes its sockets before it starts the machine."""


@cache
def has_kvm(image: Image) -> bool:
    """Whether the processor itself can run the machines: a kernel comes up.

    That the device opens says little: a machine that is a virtual one itself may have it in vain.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-m", "512"]
    command += ["-accel", "kvm", "-cpu", CPU, "-display", "none", "-serial", "stdio"]
    command += ["-kernel", str(image.kernel), "-append", "console=ttyS0 panic=-1"]
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=KERNEL_S,
        )
        return b"Linux version" in done.stdout
    return False


class Guest(Machine):
    """A machine in qemu; ``with`` starts and ends it."""

    def __init__(
        self, image: Image, place: Path, name: str, *, memory_mib: int = MEMORY_MIB, modem: int = 0
    ) -> None:
        """
        Args:
            image: what it starts from.
            place: where its disk, its sockets and its console's log go.
            name: names them.
            memory_mib: how much memory it has.
            modem: a TCP port of this machine with a simulated modem, which becomes a USB stick
                with a serial port; 0: no stick.
        """
        self.name = name
        self.console = place / f"{name}.console"
        self._image = image
        self._disk = place / f"{name}.qcow2"
        self._socket = place / f"{name}.sock"
        self.times = 1 if has_kvm(image) else EMULATED
        self._memory_mib = memory_mib
        self._modem = modem
        self._stack = contextlib.ExitStack()
        self._wire: socket.socket | None = None
        self._heard = b""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            began = time.monotonic()
            backing = str(self._image.disk.absolute())
            create = ("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", backing)
            run(*create, str(self._disk))
            stack.callback(self._disk.unlink, missing_ok=True)
            stack.enter_context(self._qemu())
            self._wire = stack.enter_context(self._connected())
            self.await_start()
            self.settle()
            self.boot_s = time.monotonic() - began
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # -- the wire ---------------------------------------------------------------------------------

    def asked(
        self, verb: str, content: bytes, path: str = "", *, patience_s: float = PATIENCE_S
    ) -> tuple[int, bytes]:
        self._send(verb, content, path, patience_s)
        while not (line := self._line()).startswith("done "):
            pass  # the agent was restarted
        _, code, size = line.split()
        return int(code), self._read(int(size))

    def order(self, script: str) -> None:
        # Emulated, the agent is often ended before it says "done". No later call must wait for it.
        self._send("run", script.encode(), "", PATIENCE_S)

    def _send(self, verb: str, content: bytes, path: str, patience_s: float) -> None:
        assert self._wire is not None, "the machine is not started"
        self._wire.settimeout(patience_s * self.times)
        self._wire.sendall(f"{verb} {len(content)} {path}\n".encode() + content)

    def await_start(self) -> None:
        assert self._wire is not None
        self._wire.settimeout(BOOT_S * self.times)
        while not self._line().startswith("ready "):
            pass

    def _line(self) -> str:
        while b"\n" not in self._heard:
            self._more()
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode(errors="replace")

    def _read(self, size: int) -> bytes:
        while len(self._heard) < size:
            self._more()
        content, self._heard = self._heard[:size], self._heard[size:]
        return content

    def _more(self) -> None:
        assert self._wire is not None
        try:
            heard = self._wire.recv(1 << 20)
        except TimeoutError:
            heard = b""
        if not heard:
            raise Gone(f"{self.name} does not answer; its console: {self.console}")
        self._heard += heard

    # -- qemu -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _qemu(self) -> Iterator[None]:
        self._socket.unlink(missing_ok=True)
        process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            process.wait()
            self._socket.unlink(missing_ok=True)

    def _command(self) -> list[str]:
        accel, cpu = ("kvm", CPU) if self.times == 1 else ("tcg", "max")
        drive = f"file={self._disk},if=virtio,format=qcow2,cache=unsafe"
        agent = f"socket,id=agent,path={self._socket},server=on,wait=off"
        options = {
            "-accel": accel,
            "-cpu": cpu,
            "-smp": str(PROCESSORS),
            "-m": str(self._memory_mib),
            "-kernel": str(self._image.kernel),
            "-initrd": str(self._image.initrd),
            "-append": "root=/dev/vda rw console=ttyS0 net.ifnames=0 no_timer_check panic=-1",
            "-drive": drive,
            "-serial": f"file:{self.console}",
            "-netdev": "user,id=net",
            "-display": "none",
            "-monitor": "none",
        }
        devices = ["virtio-net-pci,netdev=net", "virtio-rng-pci", "virtio-serial-pci"]
        devices.append("virtserialport,chardev=agent,name=risala.machine")
        chardevs = [agent]
        if self._modem:
            chardevs.append(f"socket,id=modem,host=127.0.0.1,port={self._modem},reconnect=1")
            devices += ["qemu-xhci", "usb-serial,chardev=modem,always-plugged=on"]
        command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config"]
        command += [word for pair in options.items() for word in pair]
        command += [word for each in chardevs for word in ("-chardev", each)]
        return command + [word for each in devices for word in ("-device", each)]

    def _connected(self) -> socket.socket:
        wire = socket.socket(socket.AF_UNIX)
        ends = time.monotonic() + SOCKET_S
        while True:
            try:
                wire.connect(str(self._socket))
            except (FileNotFoundError, ConnectionRefusedError) as error:
                if time.monotonic() > ends:
                    raise CannotRun(f"qemu did not start: {' '.join(self._command())}") from error
                time.sleep(0.05)
            else:
                return wire
