"""Exceptions in the log: their type and place, without the texts of other people's exceptions.

A driver's ``ValueError("cannot send " + text)`` would put a message's text, or a code, into the
log. So an exception is logged with its type and stack, without the values of variables, and with
its text only if it is known to be safe. The same is true of Python's own output when an exception
ends the process.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Final, TextIO

_OUR_WORDS: Final = ("risala.engine.", "risala.config.", "risala.app.")
"""Modules whose exceptions never hold a message's text."""
_CAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"
_DEPTH_MAX: Final = 20
"""Levels of causes and groups that are followed: an exception may be its own cause."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def discreet_traceback(error: BaseException) -> str:
    """Types and stacks of an exception, of its causes, and of the members of a group."""
    return "".join(_lines(error, 0)).rstrip("\n")


def render(stream: TextIO, exc_info: ExcInfo) -> None:
    """Write an exception to a stream, as structlog's console wants it."""
    stream.write("\n" + discreet_traceback(exc_info[1]))


def rendered(exc_info: ExcInfo) -> str:
    """An exception as text, as structlog's JSON wants it."""
    return discreet_traceback(exc_info[1])


def guard_last_words() -> None:
    """Let Python print uncaught exceptions in the same way."""
    sys.excepthook = _print_uncaught
    sys.unraisablehook = _print_unraisable


def _print_uncaught(_: type[BaseException], error: BaseException, __: object) -> None:
    print(discreet_traceback(error), file=sys.stderr)


def _print_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    if unraisable.exc_value is not None:
        print(discreet_traceback(unraisable.exc_value), file=sys.stderr)


def _lines(error: BaseException, depth: int) -> Iterator[str]:
    if depth > _DEPTH_MAX:
        yield "…\n"
        return
    if error.__cause__ is not None:
        yield from _lines(error.__cause__, depth + 1)
        yield _CAUSE
    elif error.__context__ is not None and not error.__suppress_context__:
        yield from _lines(error.__context__, depth + 1)
        yield _CONTEXT
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):\n"
        yield from traceback.format_tb(error.__traceback__)
    yield f"{_name(error)}{_words(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for number, part in enumerate(error.exceptions, 1):
            yield f"  +---------------- {number} of {len(error.exceptions)} ----------------\n"
            for text in _lines(part, depth + 1):
                yield "".join(f"  | {line}" for line in text.splitlines(keepends=True))


def _name(error: BaseException) -> str:
    kind = type(error)
    place = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{place}{kind.__qualname__}"


def _words(error: BaseException) -> str:
    """An exception's text, if we or the system wrote it, or if it is a name in the code."""
    if type(error).__module__.startswith(_OUR_WORDS):
        return f": {error}"
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return f": {os.strerror(error.errno)}"
    if (sqlite_name := getattr(error, "sqlite_errorname", None)) is not None:
        return f": {error} ({sqlite_name})"
    if isinstance(error, AttributeError | NameError | ImportError) and error.name:
        return f": {error.name}"
    return ""
