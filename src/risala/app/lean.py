"""Keeps other packages from importing modules that the service never uses.

structlog imports rich, if installed, to draw tracebacks. We write those ourselves
(:mod:`risala.app.tracebacks`), and rich would take 5 MiB of memory for nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Without(MetaPathFinder):
    """An import hook that reports one package as not installed, and handles no other."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == self._package:
            raise ModuleNotFoundError(f"{name} is left out here", name=name)
        return None


def import_structlog() -> None:
    """Import structlog as if rich were not installed; rich can be imported afterwards.

    Does nothing if either of them is imported already.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    without = _Without("rich")
    sys.meta_path.insert(0, without)
    try:
        import_module("structlog")
    finally:
        sys.meta_path.remove(without)
