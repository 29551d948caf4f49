"""How tests wait: for what is told, and never by how long it ought to take.

A limit in a test is a guard against a hang and no measure: it only has to end, so there is one for
all of them. What a clock must measure has the mock clock, or a promise of the product behind it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import trio

HANG_S = 120
"""Nothing that works takes this long, on a machine twenty times slower than any that we know: one
whose two cores others want makes a step of seconds last a minute. The service takes no longer
span for its own ends."""
POLL_S = 0.02
"""Between two looks at what cannot be waited for: a file, another process's answer."""


def until(condition: Callable[[], Any], what: str, hang_s: float = HANG_S) -> Any:
    """Poll what tells nobody (a file, an answer of another process); its first true value."""
    deadline = time.monotonic() + hang_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {hang_s:g} s: {what}"
        time.sleep(POLL_S)
    return value


async def until_true(condition: Callable[[], Any]) -> None:
    """The same within a run, where the loop itself must go on meanwhile."""
    with trio.fail_after(HANG_S):
        while not condition():  # noqa: ASYNC110 -- what it looks at has no event
            await trio.sleep(POLL_S / 4)
