"""Deciders: an ask of an idle one costs no task switch; order and supervision stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from risala.engine.actors.actor import ActorDown, AskCycle, Decider, Later, Ref
from risala.engine.actors.supervisor import Supervisor
from risala.engine.model.errors import Conflict, Draining


class Doer(Decider[Any]):
    """Does what its messages say: each is a plain function."""

    def decide(self, message: Callable[[], object]) -> object:
        return message()


def fails(error: Exception) -> Callable[[], object]:
    def do() -> object:
        raise error

    return do


class Switches(trio.abc.Instrument):
    """Counts the steps of tasks."""

    def __init__(self) -> None:
        self.steps = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.steps += 1


@pytest.fixture
async def supervisor(nursery):
    supervisor = Supervisor()
    await nursery.start(supervisor.run)
    yield supervisor
    await supervisor.stop()


@pytest.fixture
async def ref(supervisor):
    return await supervisor.start("doer", Doer, mailbox_max=8, later_max=2)


async def steps_of(ref: Ref[Any], asks: int) -> int:
    switches = Switches()
    trio.lowlevel.add_instrument(switches)
    for _ in range(asks):
        assert await ref.ask(lambda: 7) == 7
    trio.lowlevel.remove_instrument(switches)
    return switches.steps


async def test_an_ask_of_an_idle_decider_takes_no_step_of_any_task(ref):
    assert await steps_of(ref, 100) == 0
    assert ref.statistics().handled == 100


async def test_nothing_overtakes_what_was_told_before(ref):
    seen: list[int] = []
    # The second cannot be decided at once: the first, which a task holds, is not done.
    await ref.tell(lambda: seen.append(1))
    for number in (2, 3):
        ref.tell_nowait(lambda number=number: seen.append(number))
    await ref.ask(lambda: seen.append(4))
    assert seen == [1, 2, 3, 4]


async def test_a_tell_of_an_idle_decider_is_handled_before_it_returns(ref):
    seen: list[int] = []
    ref.tell_nowait(lambda: seen.append(1))
    assert seen == [1]


async def test_a_decider_that_tells_itself_finishes_first(ref):
    seen: list[str] = []

    def decide() -> None:
        ref.tell_nowait(lambda: seen.append("told"))
        seen.append("done")

    await ref.ask(decide)
    await ref.ask(lambda: None)
    assert seen == ["done", "told"]


async def test_a_refusal_travels_and_the_actor_lives_on(ref):
    with pytest.raises(Conflict, match="not now"):
        await ref.ask(fails(Conflict("not now")))
    assert await ref.ask(lambda: 1) == 1
    assert ref.statistics().restarts == 0


async def test_a_refused_tell_is_logged(ref):
    with capture_logs() as logs:
        ref.tell_nowait(fails(Conflict("not now")))
    assert [entry["event"] for entry in logs] == ["told_message_refused"]


async def test_a_bug_answers_actor_down_and_the_next_actor_takes_over(ref, autojump_clock):
    with capture_logs() as logs:
        with pytest.raises(ActorDown):
            await ref.ask(fails(ValueError("a bug")))
        assert await ref.ask(lambda: 1) == 1
    assert ref.statistics().restarts == 1
    assert [str(entry["exc_info"]) for entry in logs] == ["a bug"]


async def test_a_bug_over_a_told_message_ends_the_actor_too(ref, autojump_clock):
    with capture_logs():
        ref.tell_nowait(fails(ValueError("a bug")))
        assert await ref.ask(lambda: 1) == 1
    assert ref.statistics().restarts == 1


async def test_later_is_answered_when_its_coroutine_is_done(ref, autojump_clock):
    async def slowly() -> str:
        await trio.sleep(1)
        return "done"

    assert await ref.ask(lambda: Later(slowly)) == "done"


async def test_with_all_later_slots_taken_asks_wait_their_turn(ref, autojump_clock):
    seen: list[str] = []

    async def slowly(name: str) -> None:
        await trio.sleep(1)
        seen.append(name)

    async with trio.open_nursery() as nursery:
        for name in ("a", "b", "c"):
            nursery.start_soon(ref.ask, lambda name=name: Later(slowly, name))
        await trio.testing.wait_all_tasks_blocked()
        await ref.ask(lambda: seen.append("last"))
    # Two have a slot; the third, and who came after it, wait until one is done.
    assert "last" not in seen[:2]
    assert sorted(seen) == ["a", "b", "c", "last"]


async def test_a_circle_is_told(ref):
    async def ask_again() -> object:
        return await ref.ask(lambda: None)

    with capture_logs() as logs:
        with pytest.raises(ActorDown):
            await ref.ask(lambda: Later(ask_again))
        await trio.testing.wait_all_tasks_blocked()
    (crash,) = [entry for entry in logs if entry["event"] == "crashed"]
    assert isinstance(crash["exc_info"], AskCycle)


async def test_cancelled_while_a_later_runs_it_is_handled_all_the_same(ref, autojump_clock):
    done = trio.Event()

    async def slowly() -> None:
        await trio.sleep(2)
        done.set()

    with trio.move_on_after(1):
        await ref.ask(lambda: Later(slowly))
    await done.wait()


async def test_a_stopped_decider_is_draining(supervisor):
    ref = await supervisor.start("short", Doer, mailbox_max=8)
    await supervisor.stop()
    with pytest.raises(Draining):
        await ref.ask(lambda: 1)
