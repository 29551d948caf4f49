"""Runs a check on a thread of its own, so that a plugin cannot hang the tests, and lists what a
plugin has left running.

A plugin under test may block the loop, swallow its cancellation or never come back. Trio ends a run
only when all of its tasks have ended: on the tests' own thread, such a plugin would hang them for
good. Here the thread is left behind once the verdict is known.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import trio

LOOK_S: Final = 0.05
"""Seconds between two looks at whether the loop still turns."""
LEAVE_TRIES: Final = 3
"""How often a thread that is left behind gets an exception: a plugin may catch the first."""
LEAVE_S: Final = 0.1
"""Seconds that the thread has to end after each exception."""
_OURS: Final = (str(Path(__file__).parent), str(Path(trio.__file__).parent))
"""Code in these folders does not block by itself; the code that calls it does."""
_LIBRARY: Final = sysconfig.get_path("stdlib")


class AbandonedRun(BaseException):
    """Ends a thread that was left behind, whatever it is doing."""


class BlockedLoopError(Exception):
    """One step of a task took too long; nothing else ran meanwhile."""

    def __init__(self, blocked_s: float, place: str, file: str | None = None) -> None:
        super().__init__(f"for more than {blocked_s:g} s {place}")
        self.file = file
        """The file of the code that blocks; None: unknown."""


class EndlessRunError(Exception):
    """The run does not end, though its loop turns."""


class _StepWatch(trio.abc.Instrument):
    """Knows when the current step of a task began."""

    def __init__(self) -> None:
        self.since: float | None = None

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.since = time.monotonic()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.since = None


class ApartRun:
    """One run apart.

    Args:
        clock: the clock of the run; None: the real one.
        blocked_s: a step that takes longer, in real seconds, blocks the loop.
        whole_s: the run has to end within so many real seconds.
    """

    def __init__(self, *, clock: trio.abc.Clock | None, blocked_s: float, whole_s: float) -> None:
        self._clock = clock
        self._blocked_s = blocked_s
        self._whole_s = whole_s
        self._watch = _StepWatch()
        self._over = threading.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._inside = False
        self._ended = False
        """Whether all tasks have ended by themselves."""

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work.

        Raises:
            BlockedLoopError: a step took longer than ``blocked_s``.
            EndlessRunError: it took longer than ``whole_s``.
            BaseException: what the work raised, or gave up with.
        """
        self._thread = threading.Thread(
            target=self._run, args=(work,), name="risala conformance", daemon=True
        )
        self._thread.start()
        try:
            self._wait(time.monotonic() + self._whole_s)
        finally:
            if self._thread.is_alive():
                self._leave(self._thread)
        if self._error is not None:
            raise self._error

    def give_up(self, error: BaseException) -> None:
        """Called from within: the verdict is known, and the run may never end."""
        if not self._over.is_set():
            self._error = error
            self._over.set()

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            self._inside = True
            try:
                trio.run(partial(self._begin, work), clock=self._clock, instruments=[self._watch])
            finally:
                self._inside = False
            self._ended = True
        except BaseException as error:  # noqa: BLE001 -- it is raised where run() was called
            self._ended = not isinstance(error, trio.TrioInternalError)
            self.give_up(error)
        self._over.set()

    async def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        self._token = trio.lowlevel.current_trio_token()
        await work()

    def _wait(self, deadline: float) -> None:
        step, seen_s, before = None, 0.0, time.monotonic()
        while not self._over.wait(LOOK_S):
            now, since = time.monotonic(), self._watch.since
            # A busy machine delays these looks, and the step too: between two looks, at most
            # twice LOOK_S is counted.
            seen_s = seen_s + min(now - before, 2 * LOOK_S) if since == step else 0.0
            step, before = since, now
            if since is not None and seen_s > self._blocked_s:
                self.give_up(BlockedLoopError(self._blocked_s, *self._position()))
            elif now > deadline:
                text = f"the check has not ended within {self._whole_s:g} s of real time"
                self.give_up(EndlessRunError(text))
        if self._thread is not None and self._error is None:
            self._thread.join()

    def _position(self) -> tuple[str, str | None]:
        """The line at which the step is, and its file: the innermost code of the author's own, so
        neither ours nor Trio's, Python's or an installed library's; else the first that is not
        ours."""
        assert self._thread is not None
        frame = sys._current_frames().get(self._thread.ident or 0)
        stack = traceback.extract_stack(frame) if frame is not None else []
        theirs = [one for one in stack if not one.filename.startswith(_OURS)]
        theirs = [one for one in theirs if not _is_pythons(one.filename)] or theirs
        if not theirs:
            return "at an unknown place", None
        own = [one for one in theirs if not _is_installed(one.filename)]
        # A plugin that is installed stands among the libraries, and calls the others.
        at = own[-1] if own else theirs[0]
        place = f"in {at.name} ({Path(at.filename).name}:{at.lineno}: {at.line})"
        return place, at.filename

    def _leave(self, thread: threading.Thread) -> None:
        """End the thread if possible, and go on without it in any case.

        A run that gave up by itself is over as soon as its tasks are; a run that hangs gets an
        exception between two of its instructions.
        """
        if self._ended:  # a moment ago: there is nothing to cut down, and nothing to collect
            thread.join()
            return
        with _hushed():
            for _ in range(LEAVE_TRIES):
                if self._inside:  # outside, the exception would be printed
                    self._cut_down(thread)
                thread.join(LEAVE_S)
                if not thread.is_alive():
                    break
            self._token = None
            if self._error is not None:
                self._error.with_traceback(None)  # its frames hold what is to be collected
            gc.collect()

    def _cut_down(self, thread: threading.Thread) -> None:
        ident = ctypes.c_ulong(thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(AbandonedRun))
        if self._token is not None:
            # A run that is cut down closes its wake-up socket without notice.
            with suppress(trio.RunFinishedError, OSError):
                self._token.run_sync_soon(_wake)  # a wait for the system ends only so


@contextmanager
def _hushed() -> Iterator[None]:
    """Silence what the run left unfinished. Coroutines that are cut off complain when they are
    collected: at once, or during another test.
    """
    hook = sys.unraisablehook
    sys.unraisablehook = _hush
    try:
        yield
    finally:
        sys.unraisablehook = hook


def _hush(_: object) -> None:
    pass


def _is_pythons(filename: str) -> bool:
    """Code of Python's own library: its caller is of interest."""
    return filename.startswith(_LIBRARY) and "-packages" not in filename


def _is_installed(filename: str) -> bool:
    """Code of a package that was installed, and is not being worked on."""
    return "-packages" in filename


def _wake() -> None:
    pass


_POOL = "Trio thread"
"""What Trio names the threads that it keeps for the next call."""


class Leftovers:
    """Remembers what runs now, and lists what has started since."""

    def __init__(self) -> None:
        self._tasks = _system_tasks()
        self._threads = {*threading.enumerate()}

    def now(self) -> list[str]:
        """What runs that did not run before."""
        tasks = [f"the task {one.name}" for one in _system_tasks() - self._tasks]
        threads = [
            f"the thread {one.name}"
            for one in threading.enumerate()
            if one not in self._threads and not one.name.startswith(_POOL)
        ]
        return tasks + threads

    async def wait(self, patience_s: float) -> list[str]:
        """What still runs once nothing does, or after ``patience_s``."""
        with trio.move_on_after(patience_s):
            while self.now():  # noqa: ASYNC110 -- nothing announces their end
                await trio.sleep(patience_s / 100)
        return self.now()


def _system_tasks() -> set[trio.lowlevel.Task]:
    """Tasks in Trio's own nurseries: they outlive the code that started them."""
    root = trio.lowlevel.current_root_task()
    if root is None:
        return set()
    return {task for nursery in root.child_nurseries for task in nursery.child_tasks}
