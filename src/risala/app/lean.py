"""Keeps structlog from importing modules that the service never uses.

structlog imports rich, if installed, to draw tracebacks, and asyncio for loggers that are awaited.
We draw tracebacks ourselves (:mod:`risala.app.tracebacks`) and await no logger: the two would take
8 MiB of memory for nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Final

_UNUSED: Final[dict[str, ModuleType | None]] = {
    # The import system's own way to say that a module is not there.
    "rich": None,
    # structlog looks into it when a logger is awaited, not before.
    "asyncio": ModuleType("asyncio"),
}
"""What stands in a module's place while structlog is imported."""


def import_structlog() -> None:
    """Import structlog as if neither rich nor asyncio were needed.

    Both can be imported afterwards. What is imported already stays as it is.
    """
    if "structlog" in sys.modules:
        return
    stand_ins = {name: one for name, one in _UNUSED.items() if name not in sys.modules}
    for name, one in stand_ins.items():
        sys.modules[name] = one  # type: ignore[assignment]  # None is allowed there
    try:
        import_module("structlog")
    finally:
        for name in stand_ins:
            del sys.modules[name]
