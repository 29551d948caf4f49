"""Loads other people's plugins within a time: one that hangs must not stop the service's start.

Python cannot end an import from outside. So it runs in a thread, which is abandoned once its time
is over: the plugin is set aside, and the service goes on without it. An abandoned thread ends with
the process. This does not help against native code that never releases the interpreter; the log's
last line then names the plugin.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

Loaded = TypeVar("Loaded")
Wait = Callable[[threading.Thread, float], None]
"""Waits for a thread, at most so many seconds."""


class TookTooLong(Exception):
    """A plugin did not load in time; ``str()`` says where it hangs."""


def joined(thread: threading.Thread, limit_s: float) -> None:
    """Wait for a thread's end."""
    thread.join(limit_s)


def within(limit_s: float, name: str, load: Callable[[], Loaded], wait: Wait = joined) -> Loaded:
    """What ``load`` returns or raises.

    Raises:
        TookTooLong: it does neither in time.
    """
    loaded: list[Loaded] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            loaded.append(load())
        except BaseException as error:  # noqa: BLE001 -- it is raised to whoever waits
            raised.append(error)

    thread = threading.Thread(target=run, name=f"plugin {name}", daemon=True)
    thread.start()
    wait(thread, limit_s)
    if raised:
        raise raised[0]
    if not loaded:
        raise TookTooLong(f"it did not load within {limit_s:g} s: it is at {_position(thread)}")
    return loaded[0]


def _position(thread: threading.Thread) -> str:
    """The file and line that a thread is at: the innermost of its own code, not of the library's
    that waits for it."""
    frame = sys._current_frames().get(thread.ident or 0)
    own = "an unknown place"
    while frame is not None:
        path = frame.f_code.co_filename
        if own == "an unknown place" and not path.startswith("<frozen importlib"):
            own = f"{'/'.join(PurePath(path).parts[-2:])}:{frame.f_lineno}"
        if "risala_plugin_" in str(frame.f_globals.get("__name__", "")):
            return f"{'/'.join(PurePath(path).parts[-2:])}:{frame.f_lineno}"
        frame = frame.f_back
    return own


def raised_at(error: BaseException, calls: int = 1) -> str:
    """The place where an exception was raised: file, line and function of its innermost calls, the
    innermost first. The exception's text is left out: it may quote a message."""
    positions, last = list[str](), error.__traceback__
    while last is not None:
        code = last.tb_frame.f_code
        name = "/".join(PurePath(code.co_filename).parts[-2:])
        positions.append(f"{name}:{last.tb_lineno} in {code.co_name}")
        last = last.tb_next
    return ", by ".join(positions[: -calls - 1 : -1]) or "an unknown place"
