"""The base of all conformance suites: each check runs on a thread of its own.

Each fault belongs to one check, whichever check finds it. Once that check has failed, others that
find the same fault are skipped with its name: a plugin's author reads one sentence for one fault.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import pytest
import trio

from risala.plugins.testing.apart import ApartRun, BlockedLoopError, EndlessRunError
from risala.plugins.testing.checks import (
    CheckResult,
    NotApplicable,
    NotShown,
    PluginFaultError,
    checks_of,
)

_Got = TypeVar("_Got")
BLOCKED_S: Final = 0.2
"""The most real seconds that one step of a task may take: requests and other carriers wait
meanwhile. A suite that allows more names ``loop`` in its ``unseen``."""
BLOCKED_TRIES: Final = 3
"""How often a check that blocks the loop is run: a busy machine may delay one run, not all."""
LOOP_CHECK: Final = "test_lets_the_loop_run"
LET_GO_S: Final = 1.0
"""Seconds that a cancelled call may take to return before the suite leaves it behind."""


class ConformanceSuite:
    """The base of every suite."""

    risala_suite: ClassVar[str] = ""
    """What is tested: ``driver``, ``mailer``, ``payment method`` or ``event sink``."""
    patience_s: ClassVar[float] = 5.0
    """Seconds to wait for something that the other side does at once."""
    leave_s: ClassVar[float] = 5.0
    """Seconds that the plugin may take to end once it is cancelled."""
    blocked_s: ClassVar[float] = BLOCKED_S
    """Real seconds that one step of a task may take. With more, name ``loop`` in :attr:`unseen`."""
    whole_s: ClassVar[float] = 60.0
    """Real seconds that one check may take."""
    quiet_s: ClassVar[float] = 0.2
    """Seconds that the suite waits for something that must not come."""
    unseen: ClassVar[frozenset[str]] = frozenset()
    """Claims that your stand-in cannot show. The report names them."""
    basics: ClassVar[frozenset[str]] = frozenset()
    """Checks that all others depend on: if one fails, the others are skipped."""
    told: CheckResult | None = None
    """The result of the check that this object ran."""
    about: ClassVar[dict[type, dict[str, str]]] = {}
    """What the report says about the plugin of each suite; filled once a check has built one."""
    failed: ClassVar[dict[type, set[str]]] = {}
    """The checks of each suite that have failed in this process."""

    def new_clock(self) -> trio.abc.Clock | None:
        """The clock of one check; None: the real one. Return a :class:`trio.testing.MockClock` with
        ``autojump_threshold=0`` if the check waits for nothing real."""
        return None

    def prove(self, name: str, body: Callable[[], Awaitable[None]]) -> None:
        """Run one check, and report its result to pytest."""
        __tracebackhide__ = True
        failed = self.failed.setdefault(type(self), set())
        if name not in self.basics and (lacking := sorted(self.basics & failed)):
            self._skip(CheckResult("not tried", f"{lacking[0]} failed"))
        try:
            self._run(body)
            if name == LOOP_CHECK:
                self._look_at_limit()
        except PluginFaultError as fault:
            if fault.check != name and self._fails(fault.check):
                self._skip(CheckResult("not tried", f"{fault.check} failed"))
            failed.add(name)
            self.told = CheckResult("failed", fault.text)
            raise AssertionError(self._sentence(fault)) from fault.__cause__
        except NotApplicable as nothing:
            self.told = CheckResult("does not apply", str(nothing))
        except NotShown as unseen:
            self._skip(CheckResult("not shown", str(unseen)))
        else:
            self.told = CheckResult("passed")

    def _look_at_limit(self) -> None:
        """Check that a step gets at most ``BLOCKED_S``, or that ``unseen`` names ``loop``."""
        if self.blocked_s <= BLOCKED_S:
            return
        if "loop" in self.unseen:
            allowed = f"a step may take {self.blocked_s:g} s"
            raise NotShown(f"loop: {allowed} (the suite's author says so)")
        raise PluginFaultError(
            LOOP_CHECK,
            f"The suite allows a step of a task {self.blocked_s:g} s, in which nothing else runs. "
            f"Leave blocked_s at {BLOCKED_S:g}, or name 'loop' in its `unseen`; the report then "
            "says so.",
        )

    def _run(self, body: Callable[[], Awaitable[None]]) -> None:
        __tracebackhide__ = True
        for left in reversed(range(BLOCKED_TRIES)):
            try:
                self._run_once(body)
            except BlockedLoopError as blocked:
                if not left:
                    raise PluginFaultError(LOOP_CHECK, self._blocked(blocked)) from None
            else:
                return

    def _blocked(self, blocked: BlockedLoopError) -> str:
        remedy = "Run what takes long by trio.to_thread.run_sync."
        tests = Path(inspect.getfile(type(self))).parent
        plugin = self.about.get(type(self), {}).get("plugin", "").rpartition(".")[0]
        its_file = getattr(sys.modules.get(plugin), "__file__", None)
        in_tests = blocked.file is not None and Path(blocked.file).is_relative_to(tests)
        if in_tests and blocked.file != its_file:
            return (
                f"The tests' own code, such as a stand-in, blocks the event loop {blocked}: the "
                f"{self.risala_suite} cannot be judged. {remedy}"
            )
        return (
            f"The {self.risala_suite} blocks the event loop {blocked}: no other carrier and no "
            f"request is served meanwhile. {remedy}"
        )

    def _run_once(self, body: Callable[[], Awaitable[None]]) -> None:
        __tracebackhide__ = True
        run = ApartRun(clock=self.new_clock(), blocked_s=self.blocked_s, whole_s=self.whole_s)
        self.run = run
        try:
            run.run(body)
        except EndlessRunError as endless:
            raise PluginFaultError(
                LOOP_CHECK,
                f"The {self.risala_suite} keeps the loop busy: {endless}.",
            ) from None
        except BaseExceptionGroup as group:
            for kind in (PluginFaultError, NotApplicable, NotShown):
                fault = _first(group, kind)
                if fault is not None:
                    raise fault from fault.__cause__
            raise

    def _fails(self, other: str) -> bool:
        """Whether another check fails. It is run now, unless it is known to fail."""
        __tracebackhide__ = True
        failed = self.failed.setdefault(type(self), set())
        if other not in failed:
            with suppress(AssertionError, pytest.skip.Exception):
                getattr(self, other)()
        return other in failed

    def _skip(self, result: CheckResult) -> None:
        self.told = result
        pytest.skip(f"{result.result}: {result.text}")

    def _sentence(self, fault: PluginFaultError) -> str:
        place = next((at for name, _, at in checks_of(type(self)) if name == fault.check), "")
        return f"{fault.text}\n  Check: {fault.check}\n  The contract: docs/reference/{place}"

    def claim_of(self, claim: str) -> str:
        """The words for a claim in a sentence."""
        return f"its {claim} arrive as they should"

    async def shown(
        self, claim: str, check: str, hook: str, ask: Callable[[], Awaitable[_Got]]
    ) -> _Got:
        """What the stand-in shows of a claim; NotShown if ``unseen`` names the claim.

        Args:
            hook: the suite's method that the author overrides for it.
        """
        try:
            return await ask()
        except NotImplementedError:
            if claim in self.unseen:
                raise NotShown(f"{claim} (the suite's author says so)") from None
            raise PluginFaultError(
                check,
                f"The suite cannot see whether {self.claim_of(claim)}. Override {hook} in your "
                f"suite, or name {claim!r} in its `unseen`; the report then says so.",
            ) from None

    def tell_about(self, plugin: object, **facts: object) -> None:
        """Keep what the report says about the plugin."""
        kind = type(plugin)
        values = {name: str(value) for name, value in facts.items()}
        self.about[type(self)] = {"plugin": f"{kind.__module__}.{kind.__qualname__}", **values}

    async def call(
        self, work: Callable[[], Awaitable[_Got]], limit_s: float, overdue: PluginFaultError
    ) -> _Got:
        """Call the plugin on a task of its own, under a deadline.

        Raises:
            PluginFaultError: ``overdue``, after ``limit_s``. A call that ignores its cancellation
                is left behind.
        """
        run = self.run  # this check's own: the next check replaces self.run
        done = trio.Event()
        got: list[_Got] = []
        errors: list[Exception | SystemExit] = []
        scope = trio.CancelScope()

        async def ask() -> None:
            try:
                with scope:
                    got.append(await work())
            except (Exception, SystemExit) as error:  # noqa: BLE001 -- raised below
                errors.append(error)
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            with trio.move_on_after(limit_s):
                await done.wait()
            if not done.is_set():
                scope.cancel()
                with trio.move_on_after(LET_GO_S, shield=True):
                    await done.wait()
                if not done.is_set():
                    run.give_up(overdue)
                    await trio.sleep_forever()
        if scope.cancel_called:
            raise overdue
        if errors:
            raise errors[0]
        return got[0]


def _first(group: BaseExceptionGroup[Any], kind: type[_Got]) -> _Got | None:
    for each in group.exceptions:
        if isinstance(each, kind):
            return each
        inner = _first(each, kind) if isinstance(each, BaseExceptionGroup) else None
        if inner is not None:
            return inner
    return None
