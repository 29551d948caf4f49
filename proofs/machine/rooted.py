"""A machine that is only a root: for a system whose systemd this machine's kernel cannot start.

Newer versions of systemd need control groups of the second version. Its programs, packages and
users are the system's own; kernel and network are this machine's, and a script stands in for
systemd.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final, Self

from proofs.machine.image import ENVIRONMENT, Image
from proofs.machine.machine import PATIENCE_S, Gone, Machine
from proofs.machine.tools import run

START_S: Final = 60.0
POLL_S: Final = 0.1
STAND_IN: Final = """\
#!/bin/sh
# Stands in for systemd: it starts and stops the one service, with its unit's user and settings.
pid=/run/service.pid
runs() { [ -e $pid ] && kill -0 "$(cat $pid)" 2>/dev/null; }
stop() {
  start-stop-daemon --stop --quiet --oknodo --retry 60 --pidfile $pid
  rm -f $pid
}
start() {
  [ -e /etc/risala/risala.toml ] && ! runs || return 0
  set -a
  [ ! -e /etc/risala/secrets ] || . /etc/risala/secrets
  RISALA_DATA=/var/lib/risala RISALA_CONFIG=/etc/risala/risala.toml PYTHONSAFEPATH=1
  set +a
  start-stop-daemon --start --quiet --background --make-pidfile --pidfile $pid \\
    --chuid risala --startas /usr/bin/risala -- serve
}
case " $* " in
*" is-active "*) if runs; then echo active; else echo inactive; exit 3; fi ;;
*" stop "*risala*) stop ;;
*" restart "*risala*) stop; start ;;
*" start "*risala*) start ;;
esac
"""


class Rooted(Machine):
    """``with`` starts and ends it: what runs in it ends with it."""

    times = 3  # it shares processors and disk with everything else here
    has_usb = False

    def __init__(self, image: Image, place: Path, name: str) -> None:
        self.name = name
        self._image = image
        self._root = place / name
        self._first: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._root.mkdir()
        run("tar", "-C", str(self._root), "-xpf", str(self._image.archive), "--numeric-owner")
        (self._root / "run/systemd/system").mkdir(parents=True, exist_ok=True)
        stand_in = self._root / "usr/local/bin/systemctl"
        stand_in.write_text(STAND_IN)
        stand_in.chmod(0o755)
        shutil.copyfile("/etc/resolv.conf", self._root / "etc/resolv.conf")
        self.await_start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._first is not None:
            self._first.kill()  # the first process of its own: all others end with it
            self._first.wait()
        # A mount of a process that is just ending may still be there.
        for _ in range(50):
            with contextlib.suppress(OSError):
                shutil.rmtree(self._root)
                return
            time.sleep(POLL_S)

    def await_start(self) -> None:
        root = shlex.quote(str(self._root))
        alone = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
        held = f"mount -t proc proc {root}/proc; exec chroot {root} sleep infinity"
        self._first = subprocess.Popen([*alone, "sh", "-ec", held])
        ends = time.monotonic() + START_S
        while self.tried("test -e /proc/self")[0]:
            if time.monotonic() > ends:
                raise Gone(f"{self.name} does not start")
            time.sleep(POLL_S)

    def asked(
        self, verb: str, content: bytes, path: str = "", *, patience_s: float = PATIENCE_S
    ) -> tuple[int, bytes]:
        script = {"run": "sh -e /run/machine.sh", "put": f"cat >{path}", "get": f"cat {path}"}[verb]
        if verb == "run":
            (self._root / "run/machine.sh").write_bytes(content)
            content = b""
        assert self._first is not None
        children = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children")
        leader = children.read_text().split()
        if not leader:
            return 1, b""
        inside = ["nsenter", "-t", leader[0], "-m", "-p", "-r", "-w"]
        try:
            done = subprocess.run(
                [*inside, "env", "-i", *ENVIRONMENT.split(), "sh", "-c", script],
                input=content,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=patience_s * self.times,
            )
        except subprocess.TimeoutExpired as error:
            raise Gone(f"{self.name} does not answer") from error
        return done.returncode, done.stdout
