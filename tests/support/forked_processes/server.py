"""Imports `risala`, and forks a process of it for each request on a socket.

One process imports it for a whole run of the tests, and forks a server for each process that
connects. A request to that is JSON with ``argv``, ``cwd`` and ``environ``, and comes with three
descriptors. The answers are ``began PID 0``, and ``ended PID STATUS`` when it has.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REQUEST_BYTES_MAX: Final = 1 << 16
HERE: Final = b"here"
"""What a client hears first."""
_KEPT: Final = str(Path(__file__).with_name("kept_templates.py"))
IMPORTED: Final = (
    "risala.app.lean",
    "risala.app.service",
    "risala.app.demo",
    "risala.drivers.faces.plugin",
    "risala.drivers.loopback",
    "risala.drivers.mail.plugin",
    "risala.drivers.modem.doctor.doctor",
    "risala.drivers.modem.driver",
    "risala.drivers.modem.plugin",
    "risala.drivers.modem.manager.plugin",
    "risala.drivers.payments.plugin",
    "risala.drivers.hilink.plugin",
    "risala.drivers.phone.plugin",
    "risala.drivers.policies.plugin",
    "risala.drivers.sinks.plugin",
    "risala.drivers.smpp.driver",
    "risala.drivers.smpp.plugin",
    "risala.drivers.testmode",
    "risala.cli.main",
    "risala.cli.commands.accounts.org",
    "risala.cli.commands.upkeep.doctor",
    "risala.cli.commands.upkeep.inspect",
    "risala.cli.commands.upkeep.service",
    "risala.cli.lab.modem_console",
    "risala.cli.lab.simulate",
    "risala.cli.lab.smsc_console",
    "risala.cli.reach.session",
    "risala.config.load",
    "risala.lab.modem.simulator",
    "risala.lab.smsc.simulator",
    "encodings.ascii",
    "encodings.idna",
    "rich.live",
    "rich.panel",
    "rich.table",
    "serial",
)
"""Whatever most commands import: the service, its plugins, the simulators, the way to a service."""
WHOLE: Final = (
    "risala.cli.commands",
    "risala.engine.features",
    "risala.engine.operations",
    "risala.http.dashboard",
    "risala.http.faces",
    "risala.http.operator",
)
"""Packages of which all is imported: a service loads the half of them once it is there, as it would
each time anew."""
_APART: Final = "postgresql"
"""Part of the name of what needs a library that is not installed everywhere."""


def main() -> None:
    """Import it all, and fork a server for each client, until the last client has ended."""
    place = Path(sys.argv[1])
    from risala.app.lean import import_structlog

    import_structlog()
    for name in IMPORTED:
        importlib.import_module(name)
    for name in WHOLE:
        package = importlib.import_module(name)
        for each in pkgutil.walk_packages(package.__path__, f"{name}."):
            if _APART not in each.name:
                importlib.import_module(each.name)
    runpy.run_path(_KEPT)["keep_templates"]()
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        new = place.with_suffix(".new")
        asked.bind(str(new))
        asked.listen()
        new.rename(place)  # whoever sees it can connect
        ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        clients = _serve_clients(asked, ended)
        if clients is None:
            place.unlink(missing_ok=True)
            return
    _leave_wakeups(ended, wake)
    _serve(clients)
    os._exit(0)


def _serve_clients(asked: socket.socket, ended: int) -> socket.socket | None:
    """Returns in each fork with its client; without one where the last client has ended."""
    servers: set[int] = set()
    selector = selectors.DefaultSelector()
    selector.register(asked, selectors.EVENT_READ)
    selector.register(ended, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is asked:
                client, _ = asked.accept()
                pid = os.fork()
                if pid == 0:
                    selector.close()
                    return client
                servers.add(pid)
                client.close()
            else:
                os.read(ended, 4096)
                servers -= {pid for pid, _ in _ended()}
                if not servers:
                    return None


def _leave_wakeups(*descriptors: int) -> None:
    signal.set_wakeup_fd(-1)
    for each in descriptors:
        os.close(each)


def _serve(requests: socket.socket) -> None:
    """Fork what one client asks for, until it has ended."""
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    requests.send(HERE)
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    selector.register(ended, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is requests:
                message, fds, _, _ = socket.recv_fds(requests, REQUEST_BYTES_MAX, 3)
                if not message:
                    return
                pid = os.fork()
                if pid == 0:
                    selector.close()
                    _leave_wakeups(ended, wake)
                    requests.close()
                    _become(json.loads(message), fds)
                for each in fds:
                    os.close(each)
                requests.send(b"began %d 0" % pid)
            else:
                os.read(ended, 4096)
                for pid, status in _ended():
                    requests.send(b"ended %d %d" % (pid, status))


def _ended() -> Iterator[tuple[int, int]]:
    """The children that have ended, and how."""
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            yield child


def _become(request: dict[str, object], fds: list[int]) -> None:
    """The command itself; never returns."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, each in enumerate(fds):
        os.dup2(each, number)
        os.close(each)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["environ"])  # type: ignore[call-overload]
    for place in reversed(os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        if place and place not in sys.path:
            sys.path.insert(0, place)
    sys.argv = ["risala", *request["argv"]]  # type: ignore[misc]
    random.seed()
    from risala.__main__ import main as run

    try:
        run()
        sys.exit()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            _end(end.code or 0)
        raise


def _end(status: int) -> None:
    """What the interpreter does as it ends, but for looking through all memory for garbage.

    That is most of what a short command takes. An output that cannot be written is left to it.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status & 0xFF)


main()
