"""Keeps other packages from importing modules that the service never uses.

structlog imports rich, if installed, to draw tracebacks. We write those ourselves
(:mod:`risala.app.tracebacks`), and rich would take 5 MiB of memory for nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module


def import_structlog() -> None:
    """Import structlog as if rich were not installed; rich can be imported afterwards.

    Does nothing if either of them is imported already.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    # The import system's own way to say that a module is not there.
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]
