"""The supervisor: starts actors and services, starts them again after a bug, stops them in order.

A bug ends one actor and not the service: the bug is logged with its cause, and the actor is built
anew from its factory after a wait that doubles with each crash. An actor that keeps crashing is not
hidden: after ``restarts_max`` crashes within ``window_s`` the supervisor gives up and
:meth:`Supervisor.run` raises :class:`SupervisionFailed`, so that the process ends and whoever
watches the process notices.
"""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import structlog
import trio

from risala.engine.actors.actor import Actor, ActorStatistics, Mailbox, Ref
from risala.engine.actors.incarnation import Incarnation
from risala.engine.model.errors import Draining, StorageFailed, machine_lacks

M = TypeVar("M")

_log = structlog.get_logger()

STORAGE_RETRY_S: Final = 5.0
"""A child that ended because the storage refused, or the machine lacked something, is started
again this often, without end."""


class SupervisionFailed(Exception):
    """Something crashed again and again; ``__cause__`` is its last bug."""

    def __init__(self, name: str, crashes: int, window_s: float) -> None:
        super().__init__(f"{name} crashed {crashes} times within {window_s:g} s")
        self.name = name


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How long to wait after a crash, and when to give up. The n-th crash of a window waits
    ``first_wait_s * factor ** (n - 1)``, at most ``wait_max_s``.
    """

    first_wait_s: float = 0.1
    factor: float = 2.0
    wait_max_s: float = 30.0
    restarts_max: int | None = 8
    """Restarts within the window; one crash more gives up. None: never (a carrier's driver, whose
    bugs must not take the other carriers down)."""
    window_s: float = 300.0
    """The span in which crashes are counted. With the other defaults nine crashes in a row take 25
    s of waiting, well within it."""


class _Backoff:
    """Counts the crashes of a sliding window."""

    def __init__(self, policy: RestartPolicy) -> None:
        self._policy = policy
        self._crashes_s: deque[float] = deque(maxlen=1000)

    def wait_s(self, now_s: float) -> float | None:
        """How long to wait after a crash now; None to give up."""
        policy = self._policy
        while self._crashes_s and self._crashes_s[0] <= now_s - policy.window_s:
            self._crashes_s.popleft()
        before = len(self._crashes_s)
        self._crashes_s.append(now_s)
        if policy.restarts_max is not None and before >= policy.restarts_max:
            return None
        # The exponent is bounded because a float overflows near 2 ** 1024.
        return min(policy.first_wait_s * policy.factor ** min(before, 64), policy.wait_max_s)

    @property
    def crashes(self) -> int:
        return len(self._crashes_s)


class _Child:
    """Something supervised: how to run it once, how to end it in order."""

    def __init__(self, name: str, policy: RestartPolicy) -> None:
        self.name = name
        self.policy = policy
        self.started = trio.Event()
        self.stop_asked = trio.Event()
        self.ended = trio.Event()
        self.fault: Exception | None = None
        """The bug of the very first start, which is raised to whoever started it."""

    async def run_once(self) -> None:
        raise NotImplementedError

    def ask_stop(self) -> None:
        self.stop_asked.set()

    def restarted(self) -> None:
        """Count a restart."""

    def finish(self) -> None:
        """Give up what outlives a crash, such as a mailbox: it will not be started again."""


class _ActorChild(_Child):
    def __init__(
        self,
        mailbox: Mailbox[Any],
        factory: Callable[[], Actor[Any]],
        later_max: int,
        policy: RestartPolicy,
    ) -> None:
        super().__init__(mailbox.name, policy)
        self.mailbox = mailbox
        self._factory = factory
        self._later_max = later_max

    async def run_once(self) -> None:
        incarnation = Incarnation(self._factory(), self.mailbox, self._later_max)
        await incarnation.live(self.started.set)

    def ask_stop(self) -> None:
        super().ask_stop()
        self.mailbox.shut()

    def restarted(self) -> None:
        self.mailbox.restarts += 1

    def finish(self) -> None:
        self.mailbox.discard()


class _ServiceChild(_Child):
    def __init__(
        self, name: str, async_fn: Callable[[], Awaitable[None]], policy: RestartPolicy
    ) -> None:
        super().__init__(name, policy)
        self._async_fn = async_fn
        self._scope = trio.CancelScope()

    async def run_once(self) -> None:
        self.started.set()
        self._scope = trio.CancelScope()
        with self._scope:
            await self._async_fn()
        if not self.stop_asked.is_set():
            raise RuntimeError("a service that runs for life returned")

    def ask_stop(self) -> None:
        super().ask_stop()
        self._scope.cancel()


class Supervisor:
    """Runs actors and services in its own nursery; see the module's text.

    ``await nursery.start(supervisor.run)``, then :meth:`start` and :meth:`start_service`, then
    :meth:`stop` under a deadline. Cancelling ``run`` ends everything at once, without
    ``stopping``.
    """

    def __init__(self, policy: RestartPolicy | None = None) -> None:
        self._policy = policy if policy is not None else RestartPolicy()
        self._nursery: trio.Nursery | None = None
        self._context = contextvars.Context()
        self._children: dict[str, _Child] = {}
        self._failure: SupervisionFailed | None = None
        self._stopping = False
        self._stopped = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Supervise until :meth:`stop` or cancellation.

        Raises:
            SupervisionFailed: a child kept crashing; all others were cancelled.
        """
        self._context = contextvars.copy_context()
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                await self._stopped.wait()
        finally:
            self._stopping = True
        if self._failure is not None:
            raise self._failure

    async def start(
        self,
        name: str,
        factory: Callable[[], Actor[M]],
        *,
        mailbox_max: int,
        later_max: int = 64,
        policy: RestartPolicy | None = None,
    ) -> Ref[M]:
        """Start an actor and wait until it has started; ``factory`` is called after each crash.

        Raises whatever the factory or ``started`` raise the first time: that is no crash but a
        service that cannot start.
        """
        mailbox = Mailbox[M](name, mailbox_max)
        await self._adopt(_ActorChild(mailbox, factory, later_max, policy or self._policy))
        return Ref(mailbox)

    async def start_service(
        self,
        name: str,
        async_fn: Callable[[], Awaitable[None]],
        *,
        policy: RestartPolicy | None = None,
    ) -> None:
        """Run a coroutine function for life (a lane, a driver): returning is a crash as well.

        An ordered stop cancels it and waits for what it does then under its own shield.
        """
        await self._adopt(_ServiceChild(name, async_fn, policy or self._policy))

    async def end(self, name: str) -> None:
        """Stop one child in order and forget it, so that its name is free again; where there is
        none of this name, nothing is done."""
        child = self._children.get(name)
        if child is None:
            return
        child.ask_stop()
        await child.ended.wait()
        if self._children.get(name) is child:
            del self._children[name]

    async def stop(self) -> None:
        """Stop all children, the youngest first, then end :meth:`run`.

        An actor handles what its mailbox holds, waits for its laters and takes leave by
        ``stopping``. When the caller's deadline passes, whatever is left is cancelled.
        """
        self._stopping = True
        try:
            for child in reversed(list(self._children.values())):
                child.ask_stop()
                await child.ended.wait()
        except trio.Cancelled:
            if self._nursery is not None:
                self._nursery.cancel_scope.cancel()
            raise
        finally:
            self._stopped.set()

    def statistics(self) -> tuple[ActorStatistics, ...]:
        """The statistics of each actor, in the order of their start."""
        actors = (child for child in self._children.values() if isinstance(child, _ActorChild))
        return tuple(actor.mailbox.statistics() for actor in actors)

    async def _adopt(self, child: _Child) -> None:
        if self._nursery is None or self._stopping:
            raise Draining
        if child.name in self._children:
            raise ValueError(f"{child.name} is supervised already")
        self._children[child.name] = child
        # A task inherits the context variables of whoever spawns it. Those of a request (its id in
        # the log) must not live on here, so the supervisor's own context is used.
        spawn = partial(self._nursery.start_soon, self._supervise, child, name=child.name)
        self._context.run(spawn)
        await child.started.wait()
        if child.fault is not None:
            raise child.fault

    async def _supervise(self, child: _Child) -> None:
        backoff = _Backoff(child.policy)
        try:
            while True:
                fault = await _run_once(child)
                if fault is None:
                    break
                if not child.started.is_set():
                    child.fault = fault
                    del self._children[child.name]
                    break
                if child.stop_asked.is_set():
                    _log.error("crashed_while_stopping", name=child.name, exc_info=fault)
                    break
                if not await self._wait_to_restart(child, backoff, fault):
                    break
        finally:
            child.finish()
            child.started.set()
            child.ended.set()

    async def _wait_to_restart(self, child: _Child, backoff: _Backoff, fault: Exception) -> bool:
        """Wait as the policy says after a crash; False where the child is not started again."""
        if (cause := _passing(fault)) is not None:
            # The machine's fault and not the child's bug: it does not count, since to end the
            # process would take away the place where the fault is shown.
            _log.warning(f"waits_for_{cause}", name=child.name, again_in_s=STORAGE_RETRY_S)
            return await self._wait(child, STORAGE_RETRY_S)
        wait_s = backoff.wait_s(trio.current_time())
        if wait_s is None:
            _log.critical("gave_up", name=child.name, exc_info=fault)
            self._failure = SupervisionFailed(child.name, backoff.crashes, child.policy.window_s)
            self._failure.__cause__ = fault
            self._stopping = True
            assert self._nursery is not None
            self._nursery.cancel_scope.cancel()
            return False
        _log.error("crashed", name=child.name, restart_in_s=wait_s, exc_info=fault)
        return await self._wait(child, wait_s)

    async def _wait(self, child: _Child, wait_s: float) -> bool:
        with trio.move_on_after(wait_s):
            await child.stop_asked.wait()
        child.restarted()
        return not child.stop_asked.is_set()


def _passing(fault: Exception) -> str | None:
    """What the machine does not give at the moment (storage, memory, threads, descriptors), where a
    fault is nothing but that, however many nurseries wrapped it; None: it is a bug."""
    if isinstance(fault, ExceptionGroup):
        causes = [_passing(each) for each in fault.exceptions]
        return None if None in causes else causes[0]
    return "storage" if isinstance(fault, StorageFailed) else machine_lacks(fault)


async def _run_once(child: _Child) -> Exception | None:
    """Run a child until it ends: the bug that ended it, or None where it ended in order. A
    cancellation is passed on."""
    try:
        await child.run_once()
    except Exception as fault:  # noqa: BLE001 -- the one place where bugs are caught
        return fault
    except BaseExceptionGroup as group:
        # Bugs came together with a cancellation: the cancellation must be passed on, and the bugs
        # must not get lost.
        cancelled, faults = group.split(trio.Cancelled)
        if cancelled is None or not isinstance(faults, ExceptionGroup):
            raise
        _log.error("crashed_while_cancelled", name=child.name, exc_info=faults)
        raise cancelled from None
    return None
