"""A check of a conformance suite: a coroutine that pytest runs, its result, and how it ends if it
does not pass.

A check is a method ``test_…`` that pytest finds like any other. It needs no plugin of pytest for
coroutines and no setting: it starts its own Trio run.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

CheckBody = Callable[[Any], Awaitable[None]]
_ROLE: Final = re.compile(r":[a-z]+(?::[a-z]+)?:`(?:~(?:[\w.]*\.)?)?([^`]+)`")
"""A reference to a name in a docstring, such as ``:attr:`leave_s```."""
_AT: Final = "risala_at"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, for the report."""

    result: str
    """``passed``, ``failed``, ``does not apply``, ``not shown`` or ``not tried``."""
    text: str = ""


class CheckRunner(Protocol):
    """A suite, as far as its checks know it."""

    def prove(self, name: str, body: Callable[[], Awaitable[None]]) -> None:
        """Run one check, and report its result to pytest."""


def check(at: str) -> Callable[[CheckBody], Callable[[Any], None]]:
    """Make a coroutine of a suite a test that pytest runs without a plugin.

    Args:
        at: where the contract says it: a page of ``docs/reference``, and the heading.
    """

    def made(body: CheckBody) -> Callable[[Any], None]:
        name = getattr(body, "__name__", "")

        def run(self: CheckRunner) -> None:
            __tracebackhide__ = True
            self.prove(name, partial(body, self))

        # Not by functools.wraps: pytest would look through it and see a coroutine.
        run.__name__, run.__doc__, run.__module__ = name, body.__doc__, body.__module__
        run.__qualname__ = getattr(body, "__qualname__", name)
        run.__dict__[_AT] = at
        return run

    return made


def checks_of(suite: type) -> Iterator[tuple[str, str, str]]:
    """Name, first sentence and place in the reference of each check of a suite, in their order."""
    seen: set[str] = set()
    for kind in reversed(suite.__mro__):  # as pytest goes through them
        for name, value in vars(kind).items():
            at = getattr(value, "__dict__", {}).get(_AT)
            if at is not None and name not in seen:
                seen.add(name)
                yield name, _plain(value.__doc__ or ""), at


def _plain(text: str) -> str:
    """A docstring as its reader sees it: names in backticks, without the roles of reST."""
    line = _ROLE.sub(r"`\1`", " ".join(text.split()))
    return line.replace("``", "`")


class PluginFaultError(Exception):
    """A plugin does not do what the contract says.

    Args:
        check: the name of the check that the fault belongs to.
        text: what the plugin did wrong, and what it should do instead.
    """

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check
        self.text = text


class NotApplicable(Exception):
    """The plugin does not claim what a check would test. ``str()`` says why."""


class NotShown(Exception):
    """The stand-in cannot show it; ``str()`` says what."""
