"""A warm interpreter: what all tests import is imported once, and each trial is a fork of it.

Run by ``trial.py`` as a program of its own. It reads one trial a line (pytest's arguments and where
to write, as JSON) and answers each with a line: the exit code. Nothing of ours is imported before
the fork, so that each trial has the source as it stands in its tree then.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Final

import pytest

_FOREIGN: Final = (
    "_pytest.assertion.rewrite",
    "pytest_timeout",
    "pytest_trio",
    "hypothesis.strategies",
    "trio.testing",
    "sqlite_utils",
    "structlog",
    "pydantic",
    "jinja2",
    "quart",
    "hypercorn.trio",
    "h11",
    "h2.connection",
    "httpx",
    "cryptography.x509",
    "rich.progress",
)
"""Most of a start's time. What is not installed is passed over: who needs it imports it himself."""
_SLOW: Final = ("long", "slow")
_QUICK_HANG_S: Final = 60
"""A test without such a mark takes a quarter of a second; after this long it waits for ever."""


def main() -> int:
    """Serve until no more trials come."""
    for name in _FOREIGN:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "risala" in sys.modules or threading.active_count() != 1:
        raise RuntimeError("a fork of this would not be clean")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    for line in sys.stdin:
        trial = json.loads(line)
        place = Path(trial["place"])
        print(_forked(trial["arguments"], place, trial["limit_s"]), flush=True)
    return 0


def _forked(arguments: list[str], place: Path, limit_s: int) -> int:
    """The exit code of one trial. What it started and left behind ends with it."""
    child = os.fork()
    if child == 0:
        _run(arguments, place)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)  # both sides do: whichever runs first
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(limit_s)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        signal.alarm(0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


def _run(arguments: list[str], place: Path) -> None:
    """The child: never returns."""
    code = 70  # pytest itself fell: EX_SOFTWARE of sysexits.h
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        for number in (signal.SIGALRM, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        words = os.open(place / "words", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for old, new in ((os.open(os.devnull, os.O_RDONLY), 0), (words, 1), (words, 2)):
            os.dup2(old, new)
        code = int(pytest.main(arguments, plugins=[_Watcher(place)]))
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _Watcher:
    """Tests without a mark of slowness come first; which was begun and which failed is written."""

    def __init__(self, place: Path) -> None:
        self._begun = place / "begun"
        self._failed = place / "failed"
        for each in (self._begun, self._failed):
            each.write_text("")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: [item.get_closest_marker(mark) is not None for mark in _SLOW])
        for item in items:
            if not any(item.get_closest_marker(mark) for mark in _SLOW):
                item.add_marker(pytest.mark.timeout(_QUICK_HANG_S))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begun.write_text(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            hangs = "Timeout (>" in str(report.longrepr)
            self._failed.write_text(json.dumps([report.nodeid, hangs]))


if __name__ == "__main__":
    sys.exit(main())
