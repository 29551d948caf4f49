"""The workers of a run, forked from a process that has imported the tests already.

To import them takes each worker ten seconds of processor time, and in a new clone thirty more, in
which pytest compiles each file of tests for what its assertions say. Here one process does it, and
each worker collects what it finds imported. ``RISALA_TESTS_EXEC=1`` starts them all whole instead.

This file is a program too: the process that forks, and what xdist starts in place of a worker.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pytest

PREPARE: Final = "--prepare"
_FDS: Final = 3
"""A worker's standard streams."""


def fork_workers(config: pytest.Config, specs: Sequence[Any]) -> None:
    """From now on xdist starts its workers of these specifications by a fork."""
    folder = tempfile.mkdtemp(prefix="risala-workers-")
    place = Path(folder, "asked")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        asked.bind(str(place))
        asked.listen(len(specs))
        command = [sys.executable, __file__, PREPARE, str(asked.fileno())]
        command += map(str, config.invocation_params.args)
        server = subprocess.Popen(
            command,
            cwd=config.invocation_params.dir,
            pass_fds=[asked.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
    for spec in specs:
        if spec.popen and not spec.python:
            spec.python = f"{sys.executable} -SE {__file__} {place}"

    def end() -> None:
        server.kill()
        server.communicate()
        shutil.rmtree(folder)

    config.add_cleanup(end)


def _stand_for_a_worker(place: str, code: str) -> None:
    """Has one forked that runs ``code`` on the streams of this process, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker says what it does about it
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as worker:
        worker.connect(place)
        socket.send_fds(worker, [code.encode()], [*range(_FDS)])
        for each in range(_FDS):  # else nobody would see that the worker has closed them
            os.close(each)
        worker.recv(1)


def _prepare(asked: socket.socket, arguments: Sequence[str]) -> None:
    """Import the tests that pytest would run, and then fork a worker for whoever asks."""
    import pytest

    class OnlyImports:
        """Nothing of a file is collected but what has hypothesis read the files' constants."""

        @pytest.hookimpl(tryfirst=True)
        def pytest_pycollect_makeitem(self, obj: object) -> list[object] | None:
            from hypothesis import is_hypothesis_test  # pytest is to import it first

            return None if is_hypothesis_test(obj) else []

    gc.disable()
    pytest.main([*arguments, "-n0", "--dist=no", "--collect-only", "-qq"], plugins=[OnlyImports()])
    gc.collect()
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGCHLD, _bury)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while asked in select.select([asked, sys.stdin], [], [])[0]:
        worker, _ = asked.accept()
        code, fds, _, _ = socket.recv_fds(worker, 1 << 16, _FDS)
        if os.fork() == 0:
            asked.close()
            _work(code.decode(), fds)
        worker.close()
        for each in fds:
            os.close(each)


def _bury(*_: object) -> None:
    """Nobody asks how a worker ended, but whoever is waited for has its processor time counted."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _work(code: str, fds: Sequence[int]) -> None:
    """The worker itself; its end ends the connection that whoever stands for it waits at."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, each in enumerate(fds):
        os.dup2(each, number)
        os.close(each)
    sys.argv = ["-c"]
    random.seed()
    exec(code, {"__name__": "__main__"})  # what `python -c` would run
    sys.exit()


if __name__ == "__main__":
    if sys.argv[1] == PREPARE:
        _prepare(socket.socket(fileno=int(sys.argv[2])), sys.argv[3:])
    else:
        _stand_for_a_worker(sys.argv[1], sys.argv[-1])
