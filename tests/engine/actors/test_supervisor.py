"""Restarts, giving up, ordered stops, services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from risala.engine.actors.actor import Actor, ActorDown, Ref
from risala.engine.actors.supervisor import RestartPolicy, SupervisionFailed, Supervisor
from risala.engine.model.errors import Draining


class Crasher(Actor[str]):
    """Counts its kin; crashes when told so."""

    def __init__(self, born: list[float] | None = None) -> None:
        if born is not None:
            born.append(trio.current_time())

    async def receive(self, message: str) -> object:
        if message == "crash":
            raise ValueError("a bug")
        return message


async def crash(ref: Ref[str]) -> None:
    with pytest.raises((ActorDown, Draining)):
        await ref.ask("crash")


async def test_waits_double_up_to_a_limit(autojump_clock):
    policy = RestartPolicy(first_wait_s=1, factor=2, wait_max_s=5, restarts_max=9, window_s=100)
    supervisor = Supervisor(policy)
    born: list[float] = []
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        ref = await supervisor.start("c", lambda: Crasher(born), mailbox_max=8)
        with capture_logs():
            for _ in range(5):
                await crash(ref)
            assert await ref.ask("hello") == "hello"
        await supervisor.stop()
    assert born == [0, 1, 3, 7, 12, 17]
    assert ref.statistics().restarts == 5


async def test_crashes_long_ago_are_forgotten(autojump_clock):
    policy = RestartPolicy(first_wait_s=1, restarts_max=1, window_s=100)
    supervisor = Supervisor(policy)
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        ref = await supervisor.start("c", Crasher, mailbox_max=8)
        with capture_logs():
            for _ in range(5):
                await crash(ref)
                await trio.sleep(101)
        await supervisor.stop()


async def test_the_mailbox_survives_a_restart(autojump_clock):
    supervisor = Supervisor()
    answers: list[object] = []
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        ref = await supervisor.start("c", Crasher, mailbox_max=8)

        async def ask(message: str) -> None:
            answers.append(await ref.ask(message))

        with capture_logs():
            async with trio.open_nursery() as askers:
                askers.start_soon(crash, ref)
                await trio.sleep(0.01)
                for message in ("x", "y", "z"):
                    askers.start_soon(ask, message)
        await supervisor.stop()
    assert sorted(answers, key=str) == ["x", "y", "z"]


async def test_gives_up_honestly(autojump_clock):
    supervisor = Supervisor(RestartPolicy(restarts_max=2, window_s=100))
    ended: list[str] = []

    async def bystander() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("bystander")

    async def crash_it() -> None:
        await supervisor.start_service("bystander", bystander)
        ref = await supervisor.start("c", Crasher, mailbox_max=8)
        for _ in range(3):
            await crash(ref)
        with pytest.raises(Draining):
            await ref.ask("hello")

    with capture_logs() as logs, pytest.RaisesGroup(SupervisionFailed) as caught:
        async with trio.open_nursery() as nursery:
            await nursery.start(supervisor.run)
            with trio.CancelScope(shield=True):
                await crash_it()
    (failure,) = caught.value.exceptions
    assert str(failure) == "c crashed 3 times within 100 s"
    assert isinstance(failure.__cause__, ValueError)
    assert ended == ["bystander"]
    assert [entry["event"] for entry in logs] == ["crashed", "crashed", "gave_up"]


async def test_a_failing_first_start_goes_to_the_starter():
    class Unstartable(Actor[str]):
        async def started(self) -> None:
            raise LookupError("no state")

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        with pytest.raises(LookupError, match="no state"):
            await supervisor.start("u", Unstartable, mailbox_max=8)
        ref = await supervisor.start("u", Crasher, mailbox_max=8)  # the name is free again
        assert await ref.ask("hello") == "hello"
        with pytest.raises(ValueError, match="supervised already"):
            await supervisor.start("u", Crasher, mailbox_max=8)
        await supervisor.stop()


async def test_started_runs_before_the_first_message_and_after_each_crash(autojump_clock):
    seen: list[str] = []

    class Noting(Crasher):
        async def started(self) -> None:
            seen.append("started")

        async def receive(self, message: str) -> object:
            seen.append(message)
            return await super().receive(message)

        async def stopping(self) -> None:
            seen.append("stopping")

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        ref = await supervisor.start("n", Noting, mailbox_max=8)
        with capture_logs():
            await crash(ref)
            await ref.ask("hello")
        await supervisor.stop()
    assert seen == ["started", "crash", "started", "hello", "stopping"]


async def test_stop_goes_backwards_and_empties_mailboxes(autojump_clock):
    seen: list[str] = []

    def noting(name: str) -> Callable[[], Actor[str]]:
        class Noting(Actor[str]):
            async def receive(self, message: str) -> object:
                await trio.sleep(1)
                seen.append(f"{name} {message}")
                return None

            async def stopping(self) -> None:
                seen.append(f"{name} stopping")

        return Noting

    async def service() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(2, shield=True):
                await trio.sleep(1)
                seen.append("service took leave")

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        first = await supervisor.start("first", noting("first"), mailbox_max=8)
        await supervisor.start_service("service", service)
        last = await supervisor.start("last", noting("last"), mailbox_max=8)
        first.tell_nowait("1")
        last.tell_nowait("1")
        last.tell_nowait("2")
        with trio.fail_after(60):
            await supervisor.stop()
        with pytest.raises(Draining):
            await supervisor.start("late", Crasher, mailbox_max=8)
    assert [s for s in seen if not s.startswith("first")] == [
        "last 1",
        "last 2",
        "last stopping",
        "service took leave",
    ]
    assert seen[-1] == "first stopping"


async def test_the_caller_s_deadline_ends_a_stop(autojump_clock):
    class Stuck(Actor[str]):
        async def receive(self, message: str) -> object:
            await trio.sleep_forever()

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await supervisor.start("fine", Crasher, mailbox_max=8)
        ref = await supervisor.start("stuck", Stuck, mailbox_max=8)
        ref.tell_nowait("x")
        await wait_all_tasks_blocked()
        with trio.move_on_after(5) as scope:
            await supervisor.stop()
    assert scope.cancelled_caught
    assert trio.current_time() == 5


async def test_a_stop_does_not_wait_for_a_backoff(autojump_clock):
    supervisor = Supervisor(RestartPolicy(first_wait_s=1000, wait_max_s=1000))
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        ref = await supervisor.start("c", Crasher, mailbox_max=8)
        with capture_logs():
            await crash(ref)
            await wait_all_tasks_blocked()
            await supervisor.stop()
    assert trio.current_time() == 0


async def test_a_service_is_started_again_whether_it_raises_or_returns(autojump_clock):
    runs: list[float] = []

    async def service() -> None:
        runs.append(trio.current_time())
        if len(runs) == 1:
            raise ValueError("a bug")
        if len(runs) == 2:
            return
        await trio.sleep_forever()

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        with capture_logs() as logs:
            await supervisor.start_service(
                "s", service, policy=RestartPolicy(first_wait_s=1, restarts_max=None)
            )
            await trio.sleep(10)
        await supervisor.stop()
    assert runs == [0, 1, 3]
    assert [str(entry["exc_info"]) for entry in logs] == [
        "a bug",
        "a service that runs for life returned",
    ]


async def test_who_finds_the_service_stopping_has_not_crashed(autojump_clock):
    """However long the stop takes: others are still finishing what they have begun."""
    runs = 0

    async def service() -> None:
        nonlocal runs
        runs += 1
        raise Draining

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        with capture_logs() as logs:
            await supervisor.start_service("s", service)
            await trio.sleep(120)
        await supervisor.stop()
    assert runs > RestartPolicy().restarts_max
    assert {entry["event"] for entry in logs} == {"waits_for_stop"}


async def test_without_a_limit_it_never_gives_up(autojump_clock):
    runs = 0

    async def service() -> None:
        nonlocal runs
        runs += 1
        raise ValueError("a bug")

    policy = RestartPolicy(first_wait_s=1, wait_max_s=1, restarts_max=None, window_s=1e9)
    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        with capture_logs():
            await supervisor.start_service("s", service, policy=policy)
            await trio.sleep(1500.5)
            await supervisor.stop()
    assert runs == 1501


async def test_a_bug_beside_a_cancellation_is_logged_and_the_cancellation_goes_on():
    async def spoil_the_end() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("a bug at the end")

    async def service() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(spoil_the_end)
            nursery.start_soon(trio.sleep_forever)

    supervisor = Supervisor()
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await nursery.start(supervisor.run)
            await supervisor.start_service("s", service)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
    assert [entry["event"] for entry in logs] == ["crashed_while_cancelled"]


async def test_a_bug_at_an_ordered_end_is_logged_and_the_stop_goes_on():
    async def service() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("a bug at the end")

    supervisor = Supervisor()
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await nursery.start(supervisor.run)
            await supervisor.start_service("s", service)
            await supervisor.start("c", Crasher, mailbox_max=8)
            await wait_all_tasks_blocked()
            await supervisor.stop()
    assert [entry["event"] for entry in logs] == ["crashed_while_stopping"]


async def test_statistics_are_in_start_order():
    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        for name in ("b", "a"):
            ref: Ref[Any] = await supervisor.start(name, Crasher, mailbox_max=8)
            await ref.ask("hello")
        await supervisor.start_service("s", trio.sleep_forever)
        assert [(s.name, s.handled) for s in supervisor.statistics()] == [("b", 1), ("a", 1)]
        await supervisor.stop()
