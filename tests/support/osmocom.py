"""Osmocom's core network as processes: a real MSC with its SMSC, HLR and STP, without a radio."""

from __future__ import annotations

import os
import random
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from patience import HANG_S, until

PROGRAMS: Final = ("osmo-hlr", "osmo-stp", "osmo-msc", "osmo-mgw")
_SCTP: Final = 132
_PRELOAD: Final = Path(__file__).with_name("sctp_as_tcp.c")
_SETTINGS: Final = {
    "osmo-hlr": """
line vty
 bind {ip}
ctrl
 bind {ip}
hlr
 gsup
  bind ip {ip}
""",
    "osmo-stp": """
line vty
 no login
 bind {ip}
ctrl
 bind {ip}
cs7 instance 0
 xua rkm routing-key-allocation dynamic-permitted
 listen m3ua 2905
  accept-asp-connections dynamic-permitted
  local-ip {ip}
""",
    "osmo-mgw": """
line vty
 bind {ip}
ctrl
 bind {ip}
mgcp
 bind ip {ip}
 bind port 2427
 rtp bind-ip {ip}
 number endpoints 4
""",
    "osmo-msc": """
line vty
 no login
 bind {ip}
ctrl
 bind {ip}
network
 network country code 1
 mobile network code 1
 short name Test
 long name Test
 encryption a5 0
cs7 instance 0
 point-code 0.23.1
 asp stp 2905 0 m3ua
  local-ip {ip}
  remote-ip {ip}
  role asp
sgs
 local-ip {ip}
hlr
 remote-ip {ip}
msc
 mncc internal
 mgw remote-ip {ip}
 mgw local-ip {ip}
smpp
 local-tcp-ip {ip} {smpp}
 system-id OSMO-SMPP
 policy closed
 esme risala
  password secret
  default-route
  osmocom-extensions
""",
}


def missing() -> str:
    """Why there can be no such network here; empty where there can."""
    absent = [name for name in PROGRAMS if _found(name) is None]
    if absent:
        return f"{', '.join(absent)} are not installed: make peers gets them"
    if not _has_sctp() and shutil.which("gcc") is None:
        return "neither SCTP in this kernel, nor gcc to do without it"
    return ""


def _found(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def _has_sctp() -> bool:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, _SCTP).close()
    except OSError:
        return False
    return True


class CoreNetwork:
    """A network that runs.

    Its programs have ports that cannot all be set, so each network has a loopback address of its
    own.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        rng = random.Random()
        self.host = ".".join(["127", *(str(rng.randint(1, 254)) for _ in range(3))])
        self.port = 2775

    def add_subscriber(self, imsi: str, number: str) -> None:
        """Make a number known to the HLR."""
        commands = (
            "enable",
            f"subscriber imsi {imsi} create",
            f"subscriber imsi {imsi} update msisdn {number}",
            "disable",
            "exit",
        )
        with socket.create_connection((self.host, 4258), timeout=HANG_S) as vty:
            for command in commands:
                vty.sendall(f"{command}\r\n".encode())
            while vty.recv(65536):
                pass  # until it closes: all was done

    def numbers(self) -> list[str]:
        """The numbers in the HLR's database."""
        return [row[0] for row in self._rows("osmo-hlr.db", "SELECT msisdn FROM subscriber")]

    def messages(self) -> list[dict[str, Any]]:
        """The messages in the MSC's database, oldest first."""
        found = self._rows("sms.db", "SELECT dest_addr, src_addr, msg_ref, sent FROM SMS")
        return [dict(zip(("to", "from", "reference", "sent"), row, strict=True)) for row in found]

    def _rows(self, name: str, query: str) -> list[tuple[Any, ...]]:
        path = f"file:{self.directory / name}?mode=ro"
        with closing(sqlite3.connect(path, uri=True)) as conn:
            return conn.execute(query).fetchall()


@contextmanager
def core_network(directory: Path) -> Iterator[CoreNetwork]:
    """Start it; its logs lie in the directory."""
    network = CoreNetwork(directory)
    environment = dict(os.environ)
    if not _has_sctp():
        preload = directory / "sctp_as_tcp.so"
        gcc = ["gcc", "-shared", "-fPIC", "-o", str(preload), str(_PRELOAD), "-ldl"]
        subprocess.run(gcc, check=True)
        environment["LD_PRELOAD"] = str(preload)
    with ExitStack() as stack:
        for name in PROGRAMS:
            _start(network, name, environment, stack)
            time.sleep(0.2)
        until(lambda: _listens(network.host, network.port), "the MSC listens for SMPP")
        yield network


def _start(network: CoreNetwork, name: str, environment: dict[str, str], stack: ExitStack) -> None:
    program, directory = _found(name), network.directory
    assert program is not None
    settings = directory / f"{name}.cfg"
    settings.write_text(_SETTINGS[name].format(ip=network.host, smpp=network.port))
    command = [program, "-c", str(settings)]
    if name == "osmo-hlr":
        command += ["-l", str(directory / "osmo-hlr.db")]
    log = stack.enter_context((directory / f"{name}.log").open("wb"))
    process = subprocess.Popen(
        command, cwd=directory, env=environment, stdout=log, stderr=subprocess.STDOUT
    )
    stack.callback(_stop, process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(HANG_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _listens(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=HANG_S):
        return True
    return False
