"""When a service is killed: at any instant, or at one that has a name."""

from __future__ import annotations

import random
import shutil
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("die.c")


class When(StrEnum):
    ANY = "at any instant"
    CARRIER = "while the carrier has a message and has not answered"
    BEFORE_SYNC = "before a commit is synced"
    AFTER_SYNC = "between a commit and its answer"
    HALF_WRITE = "in the middle of a write to the file"
    BEFORE_SEND = "before octets leave: to a carrier, a customer, a receiver"
    AFTER_SEND = "between octets that left and their record"
    START = "while it starts and clears up"
    STOP = "while it stops in order"


CALLS: Final = {
    When.BEFORE_SYNC: ("before-sync", 1, 40),
    When.AFTER_SYNC: ("after-sync", 1, 40),
    When.HALF_WRITE: ("half-write", 1, 150),
    When.BEFORE_SEND: ("before-send", 1, 100),
    When.AFTER_SEND: ("after-send", 1, 100),
}
"""What ``die.c`` calls it, and between which of these calls it is, counted from when the load
begins; or from the start of the process, whose first ones meet a service that clears up after the
last kill."""
FROM_START: Final = 0.25
"""Of the named calls, so many are counted from the start."""


class Disturbed(StrEnum):
    """Who else is killed in a round, and comes back at once."""

    NOBODY = ""
    CARRIER = "carrier"
    MODEM = "modem"
    HOOKS = "hooks"


@dataclass(frozen=True)
class Instant:
    """When the service is killed in one round."""

    when: When
    nth: int = 0
    """Of the named call."""
    answers: int = 0
    """Acceptances of this load to wait for, where no call is named."""
    later_s: float = 0.0
    """After that, or after the launch or the order to stop."""
    disturbed: Disturbed = Disturbed.NOBODY
    from_start: bool = False
    """The named call is counted from the start of the process, and not of the load."""

    def environment(self, library: Path | None) -> dict[str, str]:
        if self.when not in CALLS or library is None:
            return {}
        counted = {} if self.from_start else {"DIE_FROM": str(load_mark(library))}
        call = f"{CALLS[self.when][0]}:{self.nth}"
        return {"LD_PRELOAD": str(library), "DIE_AT": call, **counted}


def drawn(rng: random.Random, when: When | None = None) -> Instant:
    """One by chance; ``when``: of this name."""
    when = when or rng.choice(list(When))
    _, low, high = CALLS.get(when, ("", 0, 0))
    others = list(Disturbed)[1:]
    return Instant(
        when,
        nth=rng.randint(low, high),
        answers=rng.randint(10, 60),
        later_s=rng.uniform(0, {When.START: 2.5, When.STOP: 0.6}.get(when, 0.05)),
        disturbed=rng.choice(others) if rng.random() < 0.25 else Disturbed.NOBODY,
        from_start=rng.random() < FROM_START,
    )


def load_mark(library: Path) -> Path:
    """The file that says that the load has begun."""
    return library.with_name("loaded")


def compiled(place: Path) -> Path | None:
    """The library that kills at a named call; None: there is no C compiler, and ``kill -9`` comes
    from outside."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = place / "die.so"
    command = [compiler, "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(made), "-ldl"]
    subprocess.run(command, check=True)
    return made
