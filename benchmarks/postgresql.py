"""PostgreSQL with a synchronous replica, on this machine: what a standby's copy is kept in."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks import processes
from benchmarks.processes import Absent

_USER = "postgres"
_COMMON = "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 40\n"
_WAITS = "synchronous_standby_names = '*'\n"


def synchronous_pair(stack: ExitStack) -> str:
    """Two clusters, of which the second has each commit of the first before it is answered; the
    first one's address. They sync their files.

    Raises:
        Absent: there is no PostgreSQL.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise Absent("a standby needs PostgreSQL: sudo apt-get install postgresql")
    bin_dir = found[-1].parent
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="risala-bench-pg-")))
    if os.getuid() == 0:  # it refuses to run as root
        account = pwd.getpwnam(_USER)
        os.chown(folder, account.pw_uid, account.pw_gid)

    def do(program: str, *options: str) -> None:
        command = [str(bin_dir / program), *options]
        if os.getuid() == 0:
            command = ["runuser", "-u", _USER, "--", *command]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, cwd=folder, **quiet)

    first, second = folder / "first", folder / "second"
    port, other = processes.free_port(), processes.free_port()
    do("initdb", "-D", str(first), "--auth=trust", "--username=postgres", "--encoding=UTF8")
    with open(first / "postgresql.conf", "a", encoding="utf-8") as file:
        file.write(_COMMON)
    _start(stack, do, first, port)
    source = f"host=127.0.0.1 port={port} user=postgres"
    do("pg_basebackup", "-D", str(second), "-R", "-c", "fast", "-d", source)
    _start(stack, do, second, other)
    with open(first / "postgresql.conf", "a", encoding="utf-8") as file:
        file.write(_WAITS)
    do("pg_ctl", "-D", str(first), "reload")
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


def _start(stack: ExitStack, do: object, data: Path, port: int) -> None:
    assert callable(do)
    log = str(data.with_suffix(".log"))
    do("pg_ctl", "-D", str(data), "-o", f"-p {port}", "-l", log, "-w", "start")
    stack.callback(_end, do, data)


def _end(do: object, data: Path) -> None:
    assert callable(do)
    do("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    shutil.rmtree(data, ignore_errors=True)
