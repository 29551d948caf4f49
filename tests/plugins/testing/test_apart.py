"""A run that is cut down complains in no other test."""

from __future__ import annotations

import gc
import sys
import threading
from functools import partial
from types import SimpleNamespace as Given

import pytest
import trio

from risala.plugins.testing import apart
from risala.plugins.testing.apart import ApartRun, BlockedLoopError, EndlessRunError
from risala.plugins.testing.pytest_plugin import pytest_terminal_summary
from risala.plugins.testing.suite import ConformanceSuite


async def hang() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()


def test_what_is_collected_while_it_is_left_says_nothing(monkeypatch):
    """Not only what is collected at the end: Python collects whenever it likes."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    join = threading.Thread.join

    def join_and_collect(thread: threading.Thread, timeout: float | None = None) -> None:
        join(thread, timeout)
        gc.collect()

    monkeypatch.setattr(threading.Thread, "join", join_and_collect)
    with pytest.raises(EndlessRunError):
        ApartRun(clock=None, blocked_s=60, whole_s=0.1).run(hang)
    assert [str(each.exc_value) for each in told] == []
    assert sys.unraisablehook == told.append


class _SlowToReturn(threading.Event):
    """Whoever sets it goes on later than who waits for it."""

    def set(self) -> None:
        super().set()
        threading.Event().wait(0.05)


def test_a_run_that_has_ended_is_not_left_behind(monkeypatch):
    """However late its thread ends. Collecting would take longer than the check itself."""
    monkeypatch.setattr(gc, "collect", lambda: pytest.fail("nothing is cut off"))

    async def fail() -> None:
        await trio.lowlevel.checkpoint()
        raise KeyError("what went wrong")

    run = ApartRun(clock=None, blocked_s=60, whole_s=60)
    run._over = _SlowToReturn()
    with pytest.raises(KeyError) as raised:
        run.run(fail)
    assert raised.traceback[-1].name == "fail"


def code_in(path: str, source: str, **names: object) -> dict[str, object]:
    """What a file of this path and source would define."""
    exec(compile(source, path, "exec"), names)
    return names


CALLS = "def call(next):\n    return next()\nasync def act(next):\n    call(next)\n"


@pytest.mark.parametrize(
    ("stack", "named"),
    [
        (["/home/ann/acme/driver.py"], "/home/ann/acme/driver.py"),
        (["/home/ann/acme/driver.py", "/v/site-packages/requests/api.py"], "acme/driver.py"),
        (["/home/ann/acme/driver.py", "/home/ann/tests/stand_in.py"], "tests/stand_in.py"),
        (["/v/site-packages/acme/driver.py", "/v/site-packages/requests/api.py"], "acme/driver.py"),
    ],
    ids=["its own", "by a library", "in the stand-in", "installed"],
)
def test_the_code_that_blocks_is_the_authors(stack, named):
    def block() -> None:
        threading.Event().wait(60)

    begin = block
    for path in reversed(stack):
        begin = partial(code_in(path, CALLS)["call"], begin)

    async def act() -> None:
        begin()

    act.__code__ = act.__code__.replace(co_filename=apart.__file__)
    block.__code__ = block.__code__.replace(co_filename=threading.__file__)
    with pytest.raises(BlockedLoopError) as blocked:
        ApartRun(clock=None, blocked_s=0.1, whole_s=30).run(act)
    assert blocked.value.file is not None
    assert blocked.value.file.endswith(named)


class TestNothing(ConformanceSuite):
    """A suite without checks; it stands in this file."""

    __test__ = False
    risala_suite = "driver"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (__file__, "The tests' own code, such as a stand-in, blocks"),
        ("/home/ann/acme/driver.py", "The driver blocks"),
        (None, "The driver blocks"),
    ],
)
def test_a_stand_in_that_blocks_is_not_called_the_driver(file, said):
    blocked = BlockedLoopError(0.2, "in x (y.py:1: z)", file)
    assert TestNothing()._blocked(blocked).startswith(said)


def test_a_driver_that_lies_among_the_tests_is_still_the_driver(monkeypatch):
    monkeypatch.setitem(TestNothing.about, TestNothing, {"plugin": f"{__name__}.Driver"})
    blocked = BlockedLoopError(0.2, "in x (y.py:1: z)", __file__)
    assert TestNothing()._blocked(blocked).startswith("The driver blocks")


def test_the_summary_says_why_checks_were_passed_over():
    def reports(*results):
        lines = (
            {"suite": "driver", "check": check, "result": result, "text": "!"}
            for check, result in results
        )
        return [Given(user_properties=[("risala", line)]) for line in lines]

    told = []
    stats = {
        "passed": reports(("asks", "passed"), ("asks", "not tried"), ("calls", "not tried")),
        "skipped": reports(("asks", "skipped")),
    }
    pytest_terminal_summary(
        Given(stats=stats, section=lambda title, **_: told.append(title), write_line=told.append)
    )
    assert told == [
        "Risala: checks that were passed over",
        "driver: asks, calls: not tried: !",
        "driver: asks: skipped: !",
    ]
