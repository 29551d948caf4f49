"""PostgreSQL twice: one serves, the other is its synchronous replica."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from patience import HANG_S, until
from programs.postgresql_server import programs
from proofs.pair.network import Network

USER: Final = "postgres"
ROOM_MIB: Final = 1500
"""Of each one's disk, a RAM disk: it can be filled without harm to anybody else."""
SETTINGS: Final = """
listen_addresses = '{address}'
unix_socket_directories = '{folder}'
max_connections = 60
shared_buffers = 32MB
max_wal_size = 128MB
wal_sender_timeout = 5s
wal_receiver_timeout = 5s
wal_keep_size = 64MB
log_min_messages = warning
cluster_name = '{name}'
"""


class Database:
    """One of the two, as often as it is started."""

    def __init__(self, network: Network, name: str, place: Path) -> None:
        found = programs()
        if found is None:
            raise FileNotFoundError("There is no PostgreSQL here: sudo apt-get install postgresql")
        self._bin, self._network, self.name = found, network, name
        self.disk = place / name
        self.disk.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={ROOM_MIB}m", "tmpfs", str(self.disk)], check=True
        )
        account = pwd.getpwnam(USER)
        self._log = place / f"{name}.log"
        self._log.touch()
        for each in (self.disk, self._log):
            os.chown(each, account.pw_uid, account.pw_gid)

    @property
    def data(self) -> Path:
        return self.disk / "data"

    @property
    def address(self) -> str:
        return self._network.address(self.name)

    def make(self) -> None:
        """An empty cluster that serves."""
        given = ("--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale")
        self._run("initdb", "-D", str(self.data), *given, "--no-instructions")
        (self.data / "pg_hba.conf").write_text(
            "local all all trust\nhost all all samenet trust\nhost replication all samenet trust\n"
        )
        self._configure()
        self.start()

    def follow(self, other: Database) -> None:
        """Become a fresh replica of the other one, and wait until it streams."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host={other.address} user=postgres"
        self._run("pg_basebackup", "-D", str(self.data), "-R", "-c", "fast", "-d", source)
        self._configure()
        self.start()
        query = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        until(lambda: other.sql(query) == "1", "the replica streams")

    def _configure(self) -> None:
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(SETTINGS.format(address=self.address, folder=self.disk, name=self.name))

    def synchronous(self, *, on: bool) -> None:
        """Whether commits wait for a replica."""
        names = "*" if on else ""
        self.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.sql("SELECT pg_reload_conf()")

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self._log), "-w", "-t", "60", "start")

    def stop(self) -> None:
        """As a crash."""
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def promote(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "promote")

    def kill(self) -> None:
        """``kill -9`` of all its processes."""
        pids = self.signal(signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "it is dead")
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def signal(self, number: signal.Signals) -> list[int]:
        """To all its processes; their numbers."""
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True, check=False
        )
        pids = [first, *map(int, found.stdout.split())]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def fill(self) -> None:
        """Nothing fits on its disk any more."""
        with suppress(OSError), open(self.disk / "filler", "wb", buffering=0) as file:
            while True:
                file.write(bytes(1024 * 1024))

    def clear(self) -> None:
        (self.disk / "filler").unlink(missing_ok=True)

    def sql(self, query: str, database: str = "postgres") -> str:
        where = ("-h", self.address, "-U", "postgres", "-d", database)
        return self._run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *where, "-c", query).strip()

    def end(self) -> None:
        with suppress(AssertionError, OSError, subprocess.SubprocessError):
            self.signal(signal.SIGCONT)
            self.stop()
        # Its last process may still have the disk open.
        for _ in range(50):
            if not subprocess.run(["umount", str(self.disk)], check=False).returncode:
                return
            time.sleep(0.1)

    def _run(self, program: str, *options: str) -> str:
        given = ["runuser", "-u", USER, "--", str(self._bin / program), *options]
        with tempfile.TemporaryFile("w+") as said:  # a server keeps what it is given: no pipe
            done = subprocess.run(
                self._network.inside(self.name, given),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                cwd=self.disk,
                timeout=HANG_S,
                check=False,
            )
            said.seek(0)
            text = said.read()
        assert done.returncode == 0, f"{self.name}, {program}: {text}"
        return text


class Databases:
    """Both; which is which changes with each failover."""

    def __init__(self, network: Network, place: Path) -> None:
        self.primary, self.replica = (Database(network, n, place) for n in ("db1", "db2"))
        self.both = (self.primary, self.replica)
        self.primary.make()
        self.version = self.primary.sql("SHOW server_version")
        self.primary.sql("CREATE DATABASE pair")
        self.replica.follow(self.primary)
        self.primary.synchronous(on=True)

    @property
    def url(self) -> str:
        hosts = ",".join(each.address for each in self.both)
        return (
            f"postgresql://postgres@{hosts}/pair?target_session_attrs=read-write&connect_timeout=2"
        )

    def fail_over(self, told: Callable[[], object]) -> None:
        """The one that serves is killed, and its replica promoted; then it comes back.

        Args:
            told: called once the other one serves.
        """
        self.primary.kill()
        self.replica.promote()
        self.primary, self.replica = self.replica, self.primary
        self.primary.synchronous(on=False)
        told()
        self.restore()

    def restore(self) -> None:
        """The replica is made anew from the one that serves."""
        self.primary.synchronous(on=False)
        with suppress(AssertionError):
            self.replica.stop()
        self.replica.clear()
        self.replica.follow(self.primary)
        self.primary.synchronous(on=True)

    def put_right(self) -> None:
        """Both run again, whatever a strike has left undone: the one that took writes last, and its
        replica.

        Raises:
            AssertionError: they do not.
        """
        for each in self.both:
            with suppress(OSError, ValueError, IndexError):
                each.signal(signal.SIGCONT)
            each.clear()
        with suppress(AssertionError):
            self.primary.start()
        query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        if self.primary.sql(query) != "1":
            self.restore()

    def sql(self, query: str) -> str:
        return self.primary.sql(query, "pair")

    def end(self) -> None:
        for each in self.both:
            each.end()
