"""Actors through a supervisor: what comes of messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from risala.engine.actors.actor import Actor, ActorDown, AskCycle, Later, MailboxFull, Ref
from risala.engine.actors.supervisor import Supervisor
from risala.engine.model.errors import Conflict, Draining, Overloaded


@asynccontextmanager
async def supervised() -> AsyncIterator[Supervisor]:
    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        yield supervisor
        await supervisor.stop()


class Doer(Actor[Any]):
    """Does what its messages say: each is a coroutine function."""

    async def receive(self, message: Callable[[], Awaitable[object]]) -> object:
        return await message()


def returns(value: object) -> Callable[[], Awaitable[object]]:
    async def do() -> object:
        return value

    return do


def fails(error: BaseException) -> Callable[[], Awaitable[object]]:
    async def do() -> object:
        raise error

    return do


async def start(supervisor: Supervisor, name: str = "doer", **options: Any) -> Ref[Any]:
    return await supervisor.start(name, Doer, **{"mailbox_max": 8, **options})


async def test_ask_gets_the_answer():
    async with supervised() as supervisor:
        ref = await start(supervisor)
        assert await ref.ask(returns(7)) == 7
        assert ref.statistics().handled == 1
        assert (ref.statistics().name, ref.statistics().mailbox_max) == ("doer", 8)


async def test_one_message_at_a_time_in_order():
    seen: list[object] = []

    def step(number: int) -> Callable[[], Awaitable[object]]:
        async def do() -> None:
            seen.append(("in", number))
            await trio.lowlevel.checkpoint()
            seen.append(("out", number))

        return do

    async with supervised() as supervisor:
        ref = await start(supervisor)
        for number in range(5):
            await ref.tell(step(number))
        await ref.ask(returns(None))
    assert seen == [(word, number) for number in range(5) for word in ("in", "out")]


async def test_a_refusal_travels_and_the_actor_lives_on():
    async with supervised() as supervisor:
        ref = await start(supervisor)
        with pytest.raises(Conflict, match="not now"):
            await ref.ask(fails(Conflict("not now")))
        assert await ref.ask(returns(1)) == 1
        assert ref.statistics().restarts == 0


async def test_a_refused_tell_is_logged():
    async with supervised() as supervisor:
        ref = await start(supervisor)
        with capture_logs() as logs:
            ref.tell_nowait(fails(Conflict("not now")))
            await ref.ask(returns(None))
    assert [entry["event"] for entry in logs] == ["told_message_refused"]


async def test_a_bug_answers_actor_down_and_the_next_actor_takes_over(autojump_clock):
    async with supervised() as supervisor:
        ref = await start(supervisor)
        with capture_logs() as logs:
            with pytest.raises(ActorDown):
                await ref.ask(fails(ValueError("a bug")))
            assert await ref.ask(returns(1)) == 1
        assert ref.statistics().restarts == 1
    assert [str(entry["exc_info"]) for entry in logs] == ["a bug"]


async def test_a_bug_inside_a_nursery_is_a_bug(autojump_clock):
    async def with_nursery() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(fails(ValueError("a bug")))

    async with supervised() as supervisor:
        ref = await start(supervisor)
        with capture_logs():
            with pytest.raises(ActorDown):
                await ref.ask(with_nursery)
            assert await ref.ask(returns(1)) == 1


async def test_mailbox_full_and_its_statistics():
    async with supervised() as supervisor:
        gate = trio.Event()
        ref = await start(supervisor, mailbox_max=2)
        await ref.tell(gate.wait)
        await wait_all_tasks_blocked()
        ref.tell_nowait(returns(1))
        ref.tell_nowait(returns(2))
        with pytest.raises(MailboxFull) as caught:
            ref.tell_nowait(returns(3))
        assert isinstance(caught.value, Overloaded)
        seen = ref.statistics()
        assert (seen.mailbox_used, seen.mailbox_peak, seen.mailbox_max) == (2, 2, 2)
        gate.set()


async def test_tell_nowait_works_in_a_cancelled_scope():
    async with supervised() as supervisor:
        ref = await start(supervisor)
        done = trio.Event()

        async def note() -> None:
            done.set()

        with trio.CancelScope() as scope:  # noqa: ASYNC100
            scope.cancel()
            ref.tell_nowait(note)
        await done.wait()


async def test_the_caller_s_deadline_drops_the_answer(autojump_clock):
    async with supervised() as supervisor:
        ref = await start(supervisor)
        handled = trio.Event()

        async def slow() -> int:
            await trio.sleep(10)
            handled.set()
            return 1

        with pytest.raises(trio.TooSlowError), trio.fail_after(1):
            await ref.ask(slow)
        assert not handled.is_set()
        assert await ref.ask(returns(2)) == 2
        assert handled.is_set()


async def test_later_lets_the_next_message_in():
    async with supervised() as supervisor:
        ref = await start(supervisor)
        gate = trio.Event()
        answers: list[object] = []

        async def slow(value: int) -> int:
            await gate.wait()
            return value

        async def ask_slow() -> None:
            answers.append(await ref.ask(returns(Later(slow, 5))))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask_slow)
            await wait_all_tasks_blocked()
            assert await ref.ask(returns(1)) == 1
            assert answers == []
            gate.set()
        assert answers == [5]


async def test_later_is_bounded():
    async with supervised() as supervisor:
        ref = await start(supervisor, later_max=2)
        gate = trio.Event()
        running = 0

        async def slow() -> None:
            nonlocal running
            running += 1
            await gate.wait()

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(ref.ask, returns(Later(slow)))
            await wait_all_tasks_blocked()
            assert running == 2
            assert ref.statistics().mailbox_used == 2  # a third one waits for its slot
            gate.set()
        assert running == 5


async def test_later_may_refuse():
    async with supervised() as supervisor:
        ref = await start(supervisor)
        with pytest.raises(Conflict):
            await ref.ask(returns(Later(fails(Conflict("no")))))
        assert ref.statistics().restarts == 0


async def test_a_bug_in_a_later_crashes_the_actor_but_its_neighbours_finish(autojump_clock):
    async with supervised() as supervisor:
        ref = await start(supervisor)
        answers: list[object] = []

        async def slow() -> int:
            await trio.sleep(1)
            return 5

        async def ask(later: Later) -> None:
            try:
                answers.append(await ref.ask(returns(later)))
            except ActorDown:
                answers.append(ActorDown)

        with capture_logs() as logs:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask, Later(slow))
                await wait_all_tasks_blocked()
                nursery.start_soon(ask, Later(trio.sleep_forever))
                await wait_all_tasks_blocked()
                nursery.start_soon(ask, Later(fails(ValueError("a bug"))))
            assert answers == [ActorDown, 5, ActorDown]  # the one that hangs ends by the grace
            assert await ref.ask(returns(1)) == 1
        assert [entry["event"] for entry in logs] == ["crashed"]
        assert ref.statistics().restarts == 1


@pytest.mark.parametrize("later", [False, True])
async def test_an_ask_cycle_fails_at_once(autojump_clock, later):
    async with supervised() as supervisor:
        a, b = await start(supervisor, "a"), await start(supervisor, "b")
        seen: list[BaseException] = []

        async def back() -> object:
            try:
                return await a.ask(returns(1))
            except AskCycle as cycle:
                seen.append(cycle)
                return "cycle"

        async def forth() -> object:
            return await b.ask(returns(Later(back)) if later else back)

        with trio.fail_after(1):
            assert await a.ask(forth) == "cycle"
            assert await a.ask(returns(2)) == 2
        assert str(seen[0]) == "a -> b -> a"


async def test_asking_oneself_is_a_cycle(autojump_clock):
    async with supervised() as supervisor:
        ref = await start(supervisor, "a")

        async def ask_self() -> object:
            with pytest.raises(AskCycle, match=r"^a -> a$"):
                await ref.ask(returns(1))
            return "seen"

        assert await ref.ask(ask_self) == "seen"


async def test_asking_twice_in_a_row_is_no_cycle():
    async with supervised() as supervisor:
        a, b = await start(supervisor, "a"), await start(supervisor, "b")

        async def twice() -> object:
            return (await b.ask(returns(1)), await b.ask(returns(2)))

        assert await a.ask(twice) == (1, 2)


REQUEST: ContextVar[str] = ContextVar("request", default="none")


async def test_a_request_s_context_stays_outside():
    async def read() -> str:
        return REQUEST.get()

    async with supervised() as supervisor:
        token = REQUEST.set("a request")
        ref = await start(supervisor)
        assert await ref.ask(read) == "none"
        assert await ref.ask(returns(Later(read))) == "none"
        REQUEST.reset(token)


async def test_after_the_stop_messages_are_refused():
    async with supervised() as supervisor:
        ref = await start(supervisor)
    with pytest.raises(Draining):
        await ref.ask(returns(1))
    with pytest.raises(Draining):
        await ref.tell(returns(1))
    with pytest.raises(Draining):
        ref.tell_nowait(returns(1))


async def test_messages_waiting_at_a_hard_end_are_answered():
    supervisor = Supervisor()
    answers: list[object] = []

    async def ask(ref: Ref[Any], what: Callable[[], Awaitable[object]]) -> None:
        try:
            await ref.ask(what)
        except (ActorDown, Draining) as error:
            answers.append(type(error))

    async with trio.open_nursery() as outer, trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        ref = await start(supervisor, mailbox_max=1)
        outer.start_soon(ask, ref, trio.sleep_forever)
        await wait_all_tasks_blocked()
        outer.start_soon(ask, ref, returns(1))
        outer.start_soon(ask, ref, returns(2))  # finds the mailbox full
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert sorted(answers, key=str) == [ActorDown, Draining, Draining]
