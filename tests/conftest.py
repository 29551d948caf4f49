"""What holds for all tests: where their files are, and the order that they run in."""

from __future__ import annotations

import gc
import os
import random
import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import structlog
import trio
import trio.testing
from hypothesis import HealthCheck, Phase, settings
from werkzeug.routing import Rule

from forked_processes.kept_templates import FOLDER, keep_templates
from forked_processes.workers import fork_workers
from jumping import jumping_clock

# How long an example takes, or to think of one, says how busy the machine is.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make mutants` asks whether a test fails, thousands of times: the same examples each time, and no
# search for the smallest one; a test's class is made again for each question.
settings.register_profile(
    "mutants",
    settings.get_profile("tests"),
    max_examples=50,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
# `make test`: a quarter of the examples; `make test-all` tries them all.
settings.register_profile("quick", settings.get_profile("tests"), max_examples=25)
settings.load_profile("tests")

RAM_DISK = Path("/dev/shm")
RAM_FREE_MIN_BYTES = 2 * 1024**3
"""Several times what the tests' files take at one moment."""

Files = list[list[pytest.Item]]
STRETCHES: Final = 4
"""As many as there are workers (the Makefile's ``WORKERS``)."""
LONG_AMONG: Final = 0.75
"""Among which part of a stretch's files, from the first on, those with long tests are."""
GARBAGE_OBJECTS: Final = 10_000
"""New objects after which the youngest are looked through: an app of pages makes some thousand."""


def pytest_configure(config: pytest.Config) -> None:
    """Temporary directories are in memory, where there is room: ``--basetemp`` says otherwise.

    Most of what a test of storage takes is a real disk's sync. That a sync is asked for is tested;
    what it is good for would need a plug to be pulled.
    """
    if FOLDER not in os.environ:  # workers have that of whoever started them
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="risala-templates-")
        config.add_cleanup(forget_templates)
    if not os.access(RAM_DISK, os.W_OK):
        return
    is_roomy = shutil.disk_usage(RAM_DISK).free >= RAM_FREE_MIN_BYTES
    if is_roomy and not os.statvfs(RAM_DISK).f_flag & os.ST_NOEXEC:  # some tests write programs
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(RAM_DISK))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """Of processes that say which lines they run (``make reach``), each says it by itself."""
    if not any(name.startswith(("COVERAGE_", "RISALA_TESTS_EXEC")) for name in os.environ):
        fork_workers(config, specs)


def forget_templates() -> None:
    shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)


def _write_plain_tracebacks() -> None:
    """As the service does. Where no settings of logs are made, structlog has rich draw each frame
    with its source and its locals: some tenths of a second of processor time for one exception."""
    renderer = structlog.get_config()["processors"][-1]
    assert isinstance(renderer, structlog.dev.ConsoleRenderer)
    renderer.exception_formatter = structlog.dev.plain_traceback


def _keep_no_logger() -> None:
    """A logger that is kept, as the service does it, outlives the test whose settings it has; a
    later test would look for its lines in vain."""
    configure = structlog.configure

    def configure_for_a_test(**settings: Any) -> None:
        configure(**{**settings, "cache_logger_on_first_use": False})

    structlog.configure = configure_for_a_test


def _read_no_path_twice() -> None:
    """A thousand tests make the app of some hundred pages. What werkzeug makes of a path follows
    from the path; to make it again, letter by letter, takes two thirds of the time for an app."""
    read: dict[tuple[object, ...], tuple[Any, ...]] = {}
    compile_it = Rule.compile

    def compile_once(rule: Rule) -> None:
        host = (rule.map.host_matching, rule.host, rule.subdomain)
        path = (rule.rule, rule.merge_slashes, *host, *rule.map.converters.values())
        if path not in read:
            compile_it(rule)
            read[path] = (rule._parts, rule._trace, rule._converters)
        rule._parts, rule._trace, rule._converters = read[path]
        rule.arguments |= rule._converters.keys()
        rule._build = rule._compile_builder(False).__get__(rule, None)
        rule._build_unknown = rule._compile_builder(True).__get__(rule, None)

    Rule.compile = compile_once  # type: ignore[method-assign]


_write_plain_tracebacks()
_keep_no_logger()
_WRAPPER: Final = structlog.get_config()["wrapper_class"]
_read_no_path_twice()


@pytest.fixture(autouse=True)
def only_home_is_known() -> None:
    """No test knows the countries of those before it: a process knows all that were asked for."""
    from risala.sms.numbering import countries, plan

    others = countries._KNOWN.keys() - {*plan.DEFAULT_COUNTRIES}
    if others:
        for code in others:
            del countries._KNOWN[code]
        plan.plan_of.cache_clear()


@pytest.fixture(autouse=True)
def logs_are_whole() -> Iterator[None]:
    """No test's level outlives it: a command that ran here keeps errors alone."""
    yield
    if structlog.get_config()["wrapper_class"] is not _WRAPPER:
        structlog.reset_defaults()


@pytest.fixture
def autojump_clock(monkeypatch: pytest.MonkeyPatch) -> trio.testing.MockClock:
    """pytest-trio's, whose time stands still while a thread works."""
    return jumping_clock(monkeypatch.setattr)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        metavar="SEED",
        help="run the files, and the tests within each, in an order that follows from SEED",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--shuffle")
    return None if seed is None else f"shuffled: --shuffle {seed}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: to look for garbage among some million objects that are
    none, again and again, takes a tenth of all the tests' time; and to look through all that is
    left at each few thousand new objects another sixth, as what is frozen does not count."""
    gc.disable()
    try:
        return (yield)
    finally:
        keep_templates()
        gc.freeze()
        gc.set_threshold(GARBAGE_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--shuffle")
    items[:] = spread(items) if seed is None else shuffled(items, seed)


def files_of(items: Sequence[pytest.Item]) -> Files:
    """Files stay together: what a file's tests share (a service, say) is made once."""
    files: dict[object, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    return list(files.values())


def spread(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Files with long tests evenly among the others, and none among a worker's last: long tests
    wait for processes most of their time, so some shall run while others compute; and while the
    last test of all runs, the other workers have nothing to do.

    Workers begin with a stretch of all tests each, and take from one another at its end.
    """
    files = files_of(items)
    long = [each for each in files if any(item.get_closest_marker("long") for item in each)]
    short = [each for each in files if not any(each is other for other in long)]
    order: list[pytest.Item] = []
    for number in range(STRETCHES):
        of_it = short[number * len(short) // STRETCHES : (number + 1) * len(short) // STRETCHES]
        order += _mixed(of_it, long[number::STRETCHES])
    return order


def _mixed(short: Files, long: Files) -> list[pytest.Item]:
    step = LONG_AMONG * len(short) / max(len(long), 1)
    placed = [(float(place), each) for place, each in enumerate(short)]
    placed += [(place * step - 0.5, each) for place, each in enumerate(long)]
    placed.sort(key=lambda each: each[0])
    return [item for _, file in placed for item in file]


def shuffled(items: Sequence[pytest.Item], seed: str) -> list[pytest.Item]:
    rng = random.Random(seed)
    order = files_of(items)
    rng.shuffle(order)
    for file in order:
        rng.shuffle(file)
    return [item for file in order for item in file]
