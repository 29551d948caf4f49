"""The watch on the loop: sees that it stands still, says whose driver it is, ends with it."""

from __future__ import annotations

import sys
import threading
from types import FrameType, SimpleNamespace

import pytest
import trio
from structlog.testing import capture_logs

from risala.engine.delivery import loopwatch
from risala.engine.delivery.loopwatch import BLOCKED_S, KEPT_MAX, LoopWatch, stack_of
from risala.engine.delivery.suspects import Suspicion, suspicion_of
from risala.plugins.testing.fake_driver import FakeDriver

PATIENCE_S = 30.0
"""For a thread on a busy machine."""


class LoopsClock:
    """As the engine's: it answers on the loop's own thread alone."""

    def __init__(self) -> None:
        self._thread_id = threading.get_ident()

    def now_ms(self) -> int:
        assert threading.get_ident() == self._thread_id
        return 1_767_225_600_000


def frame_in(module: str, code: str, **names: object) -> FrameType:
    """A frame of a module by that name, in which ``code`` has called us."""
    caught: list[FrameType] = []
    space = {"__name__": module, "catch": lambda: caught.append(sys._getframe(1)), **names}
    exec(code, space)
    return caught[0]


# -- by hand -----------------------------------------------------------------------------------


@pytest.fixture
def watch() -> LoopWatch:
    watch = LoopWatch(LoopsClock(), lambda frame: Suspicion(("mattel",), frame))
    watch._beat_s = 100.0
    return watch


def look(watch: LoopWatch, now_s: float) -> list[dict]:
    with capture_logs() as logs:
        watch.check(now_s, threading.get_ident())
    return [{"event": entry["event"], **entry} for entry in logs]


def test_a_loop_that_stands_still_is_told_with_the_stack_and_again_at_twice_the_time(watch):
    assert look(watch, 100 + BLOCKED_S - 0.1) == []
    (told,) = look(watch, 100 + BLOCKED_S)
    assert told["event"] == "loop.blocked"
    assert told["carriers"] == ("mattel",)
    assert "mattel" in told["text"]
    assert "test_loopwatch.py" in told["stack"]
    assert look(watch, 103) == []
    (again,) = look(watch, 100 + 2 * BLOCKED_S)
    assert again["for_s"] == 2 * BLOCKED_S
    assert watch.statistics()["blockages"] == 0  # it is not over yet
    watch._beat_s = 105.0
    (free,) = look(watch, 105.1)
    assert free["event"] == "loop.free"
    (kept,) = watch.statistics()["latest"]
    assert (kept["carriers"], kept["for_s"]) == (("mattel",), 2 * BLOCKED_S)
    assert look(watch, 105.2) == []


@pytest.mark.parametrize(
    ("plugins", "who"),
    [(("the event sink archive",), "A plugin, the event sink archive,"), ((), "Something")],
)
def test_what_is_no_driver_is_told_of_too(plugins, who):
    watch = LoopWatch(LoopsClock(), lambda frame: Suspicion((), frame, plugins))
    watch._beat_s = 100.0
    (told,) = look(watch, 100 + BLOCKED_S)
    assert told["text"].startswith(f"{who} blocks the whole service")


def test_a_loop_whose_thread_is_gone_is_no_longer_looked_at(watch):
    with capture_logs() as logs:
        watch.check(100 + BLOCKED_S, -1)
        watch.check(100 + 2 * BLOCKED_S, -1)
    assert logs == []
    assert watch.statistics()["blockages"] == 0


def test_only_the_last_ones_are_kept_and_all_are_counted(watch):
    for _ in range(KEPT_MAX + 5):
        watch.check(watch._beat_s + BLOCKED_S, threading.get_ident())
        watch._beat_s += 10
        watch.check(watch._beat_s, threading.get_ident())
    told = watch.statistics()
    assert (len(told["latest"]), told["blockages"]) == (KEPT_MAX, KEPT_MAX + 5)


def test_no_values_are_told_and_the_stack_has_an_end():
    def deep(secret: str, depth: int) -> tuple[str, ...]:
        return deep(secret, depth - 1) if depth else stack_of(sys._getframe())

    told = deep("the code is 123456", 100)
    assert len(told) == loopwatch.STACK_MAX
    assert "123456" not in " ".join(told)


# -- whose it is -------------------------------------------------------------------------------


def driver_of(module: str) -> object:
    return type("Driver", (), {"__module__": module})()


def lanes(**modules: str) -> dict:
    return {name: SimpleNamespace(driver=driver_of(m)) for name, m in modules.items()}


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("risala.drivers.smpp.link", ("mattel",)),
        ("risala.drivers.smpp.driver", ("mattel",)),
        ("risala.drivers.modem.port.serial", ("sim-1",)),
        ("acme", ("third",)),
        ("acme_other", ()),
        ("risala.engine.intake.intake", ()),
        ("risala.http.api", ()),
        ("json", ()),
    ],
)
def test_the_innermost_drivers_code_is_whose_it_is(module, found):
    known = lanes(
        mattel="risala.drivers.smpp.driver", test="risala.drivers.testmode", third="acme",
        **{"sim-1": "risala.drivers.modem.driver"},
    )  # fmt: skip
    assert suspicion_of(frame_in(module, "catch()"), known).carriers == found


def test_a_library_that_the_driver_called_counts_as_the_driver():
    inner = {"__name__": "requests", "caught": []}
    exec("import sys\ndef get(): caught.append(sys._getframe())", inner)
    frame_in("acme", "get(); catch()", get=inner["get"])
    suspicion = suspicion_of(inner["caught"][0], lanes(third="acme"))
    assert suspicion.carriers == ("third",)
    assert suspicion.frame.f_globals["__name__"] == "acme"


def test_what_the_engine_does_on_a_drivers_behalf_is_not_the_drivers():
    inner = {"__name__": "risala.engine.journal.messages.receipts", "caught": []}
    exec("import sys\ndef record(): caught.append(sys._getframe())", inner)
    frame_in("acme", "record(); catch()", record=inner["record"])
    assert suspicion_of(inner["caught"][0], lanes(third="acme")).carriers == ()


def test_of_two_carriers_with_one_driver_it_is_the_one_on_the_stack():
    known = lanes(one="acme", two="acme")
    assert suspicion_of(frame_in("acme", "catch()"), known).carriers == ("one", "two")
    run = "def submit(self): catch()\nsubmit(driver)"
    found = suspicion_of(frame_in("acme", run, driver=known["two"].driver), known)
    assert found.carriers == ("two",)


def test_what_plugins_brought_besides_drivers_is_named_in_words():
    others = {
        "the event sink archive": driver_of("queue.sink"),
        "the event sink copy": driver_of("queue.sink"),
        "the policy words": driver_of("words"),
    }
    found = suspicion_of(frame_in("words", "catch()"), lanes(third="acme"), others)
    assert (found.carriers, found.plugins) == ((), ("the policy words",))
    found = suspicion_of(frame_in("queue.tools", "catch()"), lanes(third="acme"), others)
    assert found.plugins == ("the event sink archive", "the event sink copy")
    run = "def take(self): catch()\ntake(sink)"
    frame = frame_in("queue.sink", run, sink=others["the event sink copy"])
    assert suspicion_of(frame, {}, others).plugins == ("the event sink copy",)
    assert suspicion_of(frame_in("acme", "catch()"), lanes(third="acme"), others).plugins == ()


# -- with its thread ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_thread_sees_a_driver_that_blocks_and_ends_with_the_watch(monkeypatch):
    monkeypatch.setattr(loopwatch, "TICK_S", 0.01)
    monkeypatch.setattr(loopwatch, "BLOCKED_S", 0.05)
    seen = threading.Event()
    driver = FakeDriver()
    found: list[tuple[str, ...]] = []
    known = {"fake": SimpleNamespace(driver=driver)}

    def suspect(frame: FrameType) -> Suspicion:
        suspicion = suspicion_of(frame, known)
        found.append(suspicion.carriers)
        seen.set()
        return suspicion

    watch = LoopWatch(LoopsClock(), suspect)
    threads = threading.active_count()
    # As a driver that waits for a network without Trio: until the thread has seen it.
    driver.always = lambda _: seen.wait(PATIENCE_S)  # type: ignore[assignment]
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch.run)
            await trio.testing.wait_all_tasks_blocked()
            await driver.submit(None)  # type: ignore[arg-type]
            assert seen.is_set()
            nursery.cancel_scope.cancel()
    assert found[0] == ("fake",)
    assert watch._over.is_set()
    assert threading.active_count() <= threads + 1  # Trio keeps the idle thread for a while
