"""The supervisor: starts actors and services, restarts them after a bug, stops them in order.

A bug ends one actor and not the service: the bug is logged with its cause, and the factory builds
the actor again after a wait that doubles with each crash. After ``restarts_max`` crashes within
``window_s`` the supervisor gives up and :meth:`Supervisor.run` raises :class:`SupervisionFailed`,
so that the process ends and its monitor notices.
"""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.actor import Actor, ActorStatistics, Mailbox, Ref
from risala.engine.actors.incarnation import Incarnation
from risala.engine.model.errors import Draining, StorageFailed, machine_lacks

M = TypeVar("M")

_log = structlog.get_logger()

STORAGE_RETRY_S: Final = 5.0
"""A child that ended because of the storage, a missing resource of the machine or the stop of the
service is restarted this often, without end."""


class SupervisionFailed(Exception):
    """Something crashed repeatedly; ``__cause__`` is its last bug."""

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
    """Restarts within the window; one more crash gives up. None: never (a carrier's driver, whose
    bugs must not stop the other carriers)."""
    window_s: float = 300.0
    """The period in which crashes are counted. With the other defaults nine crashes in a row take
    25 s of waiting, well within it."""


class _Backoff:
    """Counts the crashes in a sliding window."""

    def __init__(self, policy: RestartPolicy) -> None:
        self._policy = policy
        self._crashes_s: deque[float] = deque(maxlen=1000)

    def wait_s(self, now_s: float) -> float | None:
        """How long to wait after a crash now; None: give up."""
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
    """A supervised child: how to run it once, and how to end it in order."""

    def __init__(self, name: str, policy: RestartPolicy) -> None:
        self.name = name
        self.policy = policy
        self.started = trio.Event()
        self.stop_asked = trio.Event()
        self.ended = trio.Event()
        self.fault: Exception | None = None
        """The bug of the very first start, which is raised to its caller."""

    async def run_once(self) -> None:
        raise NotImplementedError

    def ask_stop(self) -> None:
        self.stop_asked.set()

    def restarted(self) -> None:
        """Count a restart."""

    def finish(self) -> None:
        """Drop what survives a crash, such as a mailbox: the child will not be restarted."""


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
        """Run a coroutine function until stopped (a worker, a driver): a return is a crash too.

        An ordered stop cancels it and waits for its shielded clean-up.
        """
        await self._adopt(_ServiceChild(name, async_fn, policy or self._policy))

    async def end(self, name: str) -> None:
        """Stop one child in order and forget it, so that its name is free again; does nothing if
        the name is unknown."""
        child = self._children.get(name)
        if child is None:
            return
        child.ask_stop()
        await child.ended.wait()
        if self._children.get(name) is child:
            del self._children[name]

    async def stop(self) -> None:
        """Stop all children, the youngest first, then end :meth:`run`.

        An actor handles what its mailbox has, waits for its laters and calls ``stopping``. When the
        caller's deadline passes, the rest is cancelled.
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
        # A task inherits the context variables of its spawner. Those of a request (its id in the
        # log) must not persist here, so the supervisor's own context is used.
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
        """Wait after a crash according to the policy; False if the child is not restarted."""
        if (cause := _passing(fault)) is not None:
            # A fault of the machine, or the end of the service, and not the child's bug: it does
            # not count, since ending the process would remove the place where the fault is shown.
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
    """What the fault comes from, inside any number of nurseries: the machine's temporary lack of
    storage, memory, threads or descriptors, or the stop of the service; None: it is a bug."""
    if isinstance(fault, ExceptionGroup):
        causes = [_passing(each) for each in fault.exceptions]
        return None if None in causes else causes[0]
    if isinstance(fault, Draining):
        return "stop"
    return "storage" if isinstance(fault, StorageFailed) else machine_lacks(fault)


async def _run_once(child: _Child) -> Exception | None:
    """Run a child until it ends: the bug that ended it, or None if it ended in order. A
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
