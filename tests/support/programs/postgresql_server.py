"""A PostgreSQL of the tests' own: a cluster in a directory, reached by a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import HANG_S, until

RAM_DISK = Path("/dev/shm")
PORT = 5432
"""Part of the socket's name: nothing listens at it."""
CALM = """
listen_addresses = ''
fsync = off
max_connections = 20
superuser_reserved_connections = 1
shared_buffers = 16MB
log_min_messages = warning
"""
"""What is on disk at a power cut is not these tests' question."""


def programs() -> Path | None:
    """Where Debian puts `initdb` and its like: not into PATH; the newest version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class PostgresqlServer:
    """It refuses to run as root: then it is the user that Debian's package has made for it."""

    def __init__(self, bin_dir: Path) -> None:
        ram = RAM_DISK if os.access(RAM_DISK, os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="risala-pg-", dir=ram))
        self._bin = bin_dir
        self._user = "postgres" if os.getuid() == 0 else None
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        options = ("--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale")
        self._run("initdb", "-D", str(self._data), *options, "--no-sync", "--no-instructions")
        self._write("postgresql.conf", CALM)
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql:///{database}?host={self.folder}&user={user}"

    def start(self) -> None:
        sockets = f"-k {self.folder} -p {PORT}"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", str(self._data), "-o", sockets, "-l", str(log), "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """``immediate`` is as a crash."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    def restart(self) -> None:
        self.stop()
        self.start()

    def sql(self, query: str, database: str = "postgres") -> str:
        """What ``psql`` says, without its ornaments."""
        where = ("-h", str(self.folder), "-U", "postgres", "-d", database)
        return self._run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *where, "-c", query).strip()

    def let_in_by(self, rules: str) -> None:
        """Other lines of ``pg_hba.conf``, from now on."""
        self._write("pg_hba.conf", rules, fresh=True)
        self.sql("SELECT pg_reload_conf()")

    def run(self, program: str, *options: str) -> str:
        """A program as the server's user; what it says."""
        return self._run(program, *options)

    def remove(self) -> None:
        subprocess.run(
            self._command("pg_ctl", "-D", str(self._data), "-m", "immediate", "stop"),
            capture_output=True,
            check=False,
            timeout=HANG_S,
        )
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name: str, text: str, *, fresh: bool = False) -> None:
        with open(self._data / name, "w" if fresh else "a") as file:
            file.write(text)

    def _command(self, program: str, *options: str) -> list[str]:
        given = [str(self._bin / program), *options]
        return given if self._user is None else ["runuser", "-u", self._user, "--", *given]

    def _run(self, program: str, *options: str) -> str:
        # A server that is started inherits what it is given: a pipe would never end.
        with tempfile.TemporaryFile("w+") as said:
            done = subprocess.run(
                self._command(program, *options),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                timeout=HANG_S,
                check=False,
            )
            said.seek(0)
            text = said.read()
        assert done.returncode == 0, f"{program}: {text}"
        return text


POOLED = """
[databases]
* = host={folder} port={port} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = {own}
auth_type = any
pool_mode = transaction
logfile = {folder}/pooler.log
pidfile = {folder}/pooler.pid
"""


class Pooler:
    """PgBouncer before a server: each transaction gets another connection."""

    PORT = PORT + 1

    def __init__(self, server: PostgresqlServer, program: str) -> None:
        self._server = server
        settings = server.folder / "pooler.ini"
        given = {"folder": server.folder, "port": PORT, "own": self.PORT}
        settings.write_text(POOLED.format(**given))
        settings.chmod(0o644)
        server.run(program, "-d", str(settings))
        # It says that it runs before it listens.
        until((server.folder / f".s.PGSQL.{self.PORT}").exists, "PgBouncer listens")
        self._pid = server.folder / "pooler.pid"

    @property
    def url(self) -> str:
        return f"{self._server.url()}&port={self.PORT}"

    def end(self) -> None:
        os.kill(int(self._pid.read_text()), signal.SIGTERM)


@pytest.fixture(scope="session")
def pooler(postgresql: PostgresqlServer) -> Iterator[Pooler]:
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("there is no PgBouncer here: sudo apt-get install pgbouncer")
    found = Pooler(postgresql, program)
    try:
        yield found
    finally:
        found.end()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A server for all tests of a worker; what each one makes has names of its own."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'risala[standby]'")
    found = programs()
    if found is None:
        pytest.skip("there is no PostgreSQL here: sudo apt-get install postgresql")
    server = PostgresqlServer(found)
    try:
        yield server
    finally:
        server.remove()
