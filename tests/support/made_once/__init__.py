"""What takes long to make, and what tests only look at: made once in a run, by whichever of its
workers asks first. The others wait for it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """The folder of that name, which ``make`` has filled."""
    place = _of_this_run(tmp_path_factory) / name
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        whole = place.with_suffix(".whole")
        if not whole.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            make(place)
            whole.touch()
    return place


def _of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A worker's own folder is in that of its run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
