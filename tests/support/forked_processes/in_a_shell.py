"""`risala` as it is typed into a shell of a test: forked, with what the shell gives it.

A function of that name writes down its words, its directory and its environment, and waits for the
status; whoever listens forks the command on the three descriptors that the shell has then.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from forked_processes import server
from patience import HANG_S

_FUNCTION: Final = """risala() {{
    risala_count=$((risala_count + 1))
    local asked=$BASHPID.$risala_count status
    {{ printf '%s\\0' "$PWD" "$#" "$@"; env -0; }} >{place}/$asked.asked || return
    mkfifo {place}/$asked.status || return
    (echo $asked >{place}/asked) || return  # apart: this shell's streams are looked at
    read -r status <{place}/$asked.status || return
    return "$status"
}}"""


@contextmanager
def risala_in_a_shell(place: Path) -> Iterator[str]:
    """What the shell is to run first. ``place`` is a new folder for what is told meanwhile."""
    place.mkdir()
    asked = place / "asked"
    os.mkfifo(asked)
    # Open for both: the reader sees no end when no shell asks.
    descriptor = os.open(asked, os.O_RDWR)

    def listen() -> None:
        with os.fdopen(descriptor) as requests:
            for line in requests:
                if line == "\n":
                    return
                threading.Thread(target=_run, args=(place, line.strip()), daemon=True).start()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield _FUNCTION.format(place=shlex.quote(str(place)))
    finally:
        asked.write_text("\n", encoding="utf-8")
        listener.join(HANG_S)


def _run(place: Path, asked: str) -> None:
    pid = asked.partition(".")[0]
    cwd, count, *rest = (place / f"{asked}.asked").read_bytes().decode().split("\0")
    argv, variables = rest[: int(count)], rest[int(count) : -1]
    # A file that is written to by several commands is gone on with, as through one descriptor.
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_APPEND)
    theirs = [os.open(f"/proc/{pid}/fd/{number}", flag) for number, flag in enumerate(flags)]
    environ = dict(each.split("=", 1) for each in variables)
    streams = dict.fromkeys(("stdin", "stdout", "stderr"))
    process = server().start_on(theirs, argv, Path(cwd), environ, streams)
    status = process.wait()
    (place / f"{asked}.status").write_text(f"{status if status >= 0 else 128 - status}\n")
