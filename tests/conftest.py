"""What holds for all tests: where their files are, and the order that they run in."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes, or to think of one, says how busy the machine is.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

RAM_DISK = Path("/dev/shm")
RAM_FREE_MIN_BYTES = 2 * 1024**3
"""Several times what the tests' files take at one moment."""


def pytest_configure(config: pytest.Config) -> None:
    """Temporary directories are in memory, where there is room: ``--basetemp`` says otherwise.

    Most of what a test of storage takes is a real disk's sync. That a sync is asked for is tested;
    what it is good for would need a plug to be pulled.
    """
    if not os.access(RAM_DISK, os.W_OK):
        return
    is_roomy = shutil.disk_usage(RAM_DISK).free >= RAM_FREE_MIN_BYTES
    if is_roomy and not os.statvfs(RAM_DISK).f_flag & os.ST_NOEXEC:  # some tests write programs
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(RAM_DISK))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        metavar="SEED",
        help="run the files, and the tests within each, in an order that follows from SEED",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--shuffle")
    return None if seed is None else f"shuffled: --shuffle {seed}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--shuffle")
    if seed is not None:
        items[:] = shuffled(items, seed)


def shuffled(items: Sequence[pytest.Item], seed: str) -> list[pytest.Item]:
    """Files stay together: what a file's tests share (a service, say) is made once."""
    rng = random.Random(seed)
    files: dict[object, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files.values())
    rng.shuffle(order)
    for file in order:
        rng.shuffle(file)
    return [item for file in order for item in file]
