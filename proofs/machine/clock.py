"""How long it takes from a bare Debian to the first delivered message, as the pages say it.

The commands are those of the pages, typed as they stand there: one that a page no longer has is an
error. Nobody can say how fast a person reads, so the words are counted, not timed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proofs.evidence import ROOT
from proofs.machine.image import USER
from proofs.machine.machine import Machine, StepFailed
from proofs.machine.packages import now, unpack

README: Final = "README.md"
PACKAGE: Final = "docs/how-to/install-the-package.md"
DEMO_S: Final = 600.0
"""`make serve` downloads what it needs."""
LOG: Final = f"/home/{USER}/terminal"
ASSUME_YES: Final = 'APT::Get::Assume-Yes "true";\n'
"""A person answers apt's question; here nobody is there."""
_DEB: Final = re.compile(r"\./dist/risala_\S+\.deb")
_NO_WORDS: Final = re.compile(r"<!--.*?-->|^```.*?^```|\]\([^)]*\)|[|#*`>\[\]!-]+", re.S | re.M)
"""Marks, addresses of links, and blocks: those are typed or looked at."""


class PageChanged(StepFailed):
    """A page does not say any more what is typed here."""


@dataclass(frozen=True)
class Way:
    """A way to the first message.

    Attributes:
        begins: where on the page one begins to read; empty: at its top.
        ends: a line of the page; who has come so far has the first message.
        commands: what is typed before the demo.
        demo: the command that stays in the first terminal.
    """

    name: str
    page: str
    begins: str
    ends: str
    commands: tuple[str, ...]
    demo: str
    has_package: bool = False

    def read(self, root: Path = ROOT) -> str:
        """The part of the page that one reads.

        Raises:
            PageChanged: it has no such lines, or not all of the commands.
        """
        # Who follows the page types the name of his own file; here the shell finds it.
        text = _DEB.sub("./dist/risala_*.deb", (root / self.page).read_text("utf-8"))
        start, end = text.find(self.begins), text.find(self.ends)
        missing = [each for each in (*self.commands, self.demo) if each not in text[:end]]
        if start < 0 or end < start or missing:
            raise PageChanged(f"{self.page} does not say any more: {missing or self.ends}")
        return text[start:end]


WAYS: Final = (
    Way(
        "README: `make serve`",
        README,
        "",
        "Ctrl-C stops it.",
        ("sudo apt install python3 python3-venv make curl",),
        'make serve ARGS="--country KE --data /tmp/risala-demo"',
    ),
    Way(
        "package, built there",
        PACKAGE,
        "",
        "**The service starts after",
        (
            "sudo apt-get install -y --no-install-recommends python3-venv dpkg-dev",
            "make deb",
            "sudo apt-get install ./dist/risala_*.deb curl",
        ),
        "risala serve --demo",
    ),
    Way(
        "package, at hand",
        PACKAGE,
        "## Install it",
        "**The service starts after",
        ("sudo apt-get install ./dist/risala_*.deb curl",),
        "risala serve --demo",
        has_package=True,
    ),
)


@dataclass(frozen=True)
class Walked:
    """``seconds`` from the first command to the message's last line on the screen."""

    way: Way
    debian: str
    seconds: float
    commands: int
    words: int


def words(text: str) -> int:
    """How many words somebody reads: without commands and addresses of links."""
    return sum(any(map(str.isalnum, each)) for each in _NO_WORDS.sub(" ", text).split())


def walk(
    machine: Machine, debian: str, way: Way, package: Path | None, said: Callable[[str], None]
) -> Walked:
    """Go a way on a machine that has nothing yet, or the package, where the way begins with it.

    Raises:
        StepFailed: a command failed, or no message was delivered.
        PageChanged: the page says something else.
    """
    read = words(way.read())
    with machine as guest:
        guest.put("/etc/apt/apt.conf.d/99yes", ASSUME_YES.encode())
        source = f"/home/{USER}/risala"
        if package is not None:
            guest.run(f"mkdir -p {source}/dist")
            guest.put(f"{source}/dist/{package.name}", package.read_bytes())
        else:
            unpack(guest, now(), source)
        guest.run(f"chown -R {USER}: {source}")
        began = time.monotonic()
        for command in way.commands:
            said(command)
            guest.run(f"cd risala; {command}", as_user=True, patience_s=DEMO_S)
        said(way.demo)
        guest.run(f"cd risala; nohup {way.demo} >{LOG} 2>&1 &", as_user=True)
        curl = guest.until("a line to paste", lambda: pasted(_terminal(guest)), DEMO_S)
        said(curl.split(" -H")[0])
        guest.run(curl, as_user=True)
        guest.until("delivered", lambda: "delivered" in _terminal(guest))
        seconds = time.monotonic() - began
    # The source or the package was brought by one command, and the last one was pasted.
    return Walked(way, debian, seconds, len(way.commands) + 3, read)


def pasted(terminal: str) -> str:
    """The line that the demo prints to be pasted, or nothing as yet."""
    found = re.search(r"^\W*(curl .*)$", terminal, re.M)
    return found[1] if found else ""


def _terminal(guest: Machine) -> str:
    return guest.get(LOG).decode(errors="replace")
