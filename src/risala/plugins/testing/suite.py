"""What all conformance suites are made of: checks that run apart, and faults with a sentence.

A check is a method ``test_…`` that pytest finds like any other. It needs no plugin of pytest's for
coroutines and no setting: it brings its own run. Each fault belongs to one check, whichever check
comes upon it: once that one has failed, the others that stumble over the same thing are skipped
with its name, so that a plugin's author reads one sentence for one fault.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

import pytest
import trio

from risala.plugins.testing.apart import ApartRun, BlockedLoopError, EndlessRunError

CheckBody = Callable[[Any], Awaitable[None]]
_Got = TypeVar("_Got")
BLOCKED_S: Final = 0.2
"""The longest that one step of a task may take, in real seconds: requests and other carriers wait
as long. A suite that allows more says so by ``loop`` in its ``unseen``."""
BLOCKED_TRIES: Final = 3
"""A busy machine may hold a step up too: what blocks the loop does so each time."""
LOOP_CHECK: Final = "test_lets_the_loop_run"
LET_GO_S: Final = 1.0
"""How long a call that was cancelled may take to come back, before it is left behind."""
_ROLE: Final = re.compile(r":[a-z]+(?::[a-z]+)?:`(?:~(?:[\w.]*\.)?)?([^`]+)`")
"""A reference to a name in a docstring, such as ``:attr:`leave_s```."""
_AT: Final = "risala_at"


class PluginFaultError(Exception):
    """A plugin does not do what the contract says.

    Args:
        check: the name of the check whose matter it is.
        text: what the plugin did wrong, and what it should do instead.
    """

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check
        self.text = text


class NotApplicable(Exception):
    """There is nothing to check: the plugin does not claim it. ``str()`` says what."""


class NotShown(Exception):
    """The stand-in cannot show it; ``str()`` says what."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What became of one check, for the report."""

    result: str
    """``passed``, ``failed``, ``does not apply``, ``not shown`` or ``not tried``."""
    text: str = ""


def check(at: str) -> Callable[[CheckBody], Callable[[Any], None]]:
    """Make a coroutine of a suite a test that pytest runs, wherever it runs.

    Args:
        at: where the contract says it: a page of ``docs/reference``, and the heading.
    """

    def made(body: CheckBody) -> Callable[[Any], None]:
        name = getattr(body, "__name__", "")

        def run(self: ConformanceSuite) -> None:
            __tracebackhide__ = True
            self.prove(name, partial(body, self))

        # Not by functools.wraps: pytest would look through it and see a coroutine.
        run.__name__, run.__doc__, run.__module__ = name, body.__doc__, body.__module__
        run.__qualname__ = getattr(body, "__qualname__", name)
        run.__dict__[_AT] = at
        return run

    return made


def checks_of(suite: type) -> Iterator[tuple[str, str, str]]:
    """Name, first sentence and place in the reference of each check of a suite, in their order."""
    seen: set[str] = set()
    for kind in reversed(suite.__mro__):  # as pytest goes through them
        for name, value in vars(kind).items():
            at = getattr(value, "__dict__", {}).get(_AT)
            if at is not None and name not in seen:
                seen.add(name)
                yield name, _plain(value.__doc__ or ""), at


def _plain(told: str) -> str:
    """A docstring as its reader sees it: names in backticks, without the roles of reST."""
    line = _ROLE.sub(r"`\1`", " ".join(told.split()))
    return line.replace("``", "`")


class ConformanceSuite:
    """The base of every suite."""

    risala_suite: ClassVar[str] = ""
    """What is tested: ``driver``, ``mailer``, ``payment method`` or ``event sink``."""
    patience_s: ClassVar[float] = 5.0
    """Seconds that may pass until something happens that the other side does at once."""
    leave_s: ClassVar[float] = 5.0
    """Seconds that the plugin may take to end once it is cancelled."""
    blocked_s: ClassVar[float] = BLOCKED_S
    """Real seconds that one step of a task may take. With more, name ``loop`` in :attr:`unseen`."""
    whole_s: ClassVar[float] = 60.0
    """Real seconds that one check may take."""
    quiet_s: ClassVar[float] = 0.2
    """Seconds in which the suite listens for what must not come."""
    unseen: ClassVar[frozenset[str]] = frozenset()
    """Claims that your stand-in cannot show. The report names them."""
    basics: ClassVar[frozenset[str]] = frozenset()
    """Checks without which none of the others can be tried."""
    told: CheckResult | None = None
    """What became of the check that this object ran."""
    about: ClassVar[dict[type, dict[str, str]]] = {}
    """What the report says of the plugin of each suite, as far as it was met."""
    failed: ClassVar[dict[type, set[str]]] = {}
    """The checks of each suite that have failed in this process."""

    def new_clock(self) -> trio.abc.Clock | None:
        """The clock of one check. A :class:`trio.testing.MockClock` with ``autojump_threshold=0``
        where nothing real is waited for; None: the real one."""
        return None

    def prove(self, name: str, body: Callable[[], Awaitable[None]]) -> None:
        """Run one check, and tell pytest what came of it."""
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
        """That the suite allows a step no more than it should, or says so."""
        if self.blocked_s <= BLOCKED_S:
            return
        if "loop" in self.unseen:
            allowed = f"a step may take {self.blocked_s:g} s"
            raise NotShown(f"loop: {allowed} (the suite's author says so)")
        raise PluginFaultError(
            LOOP_CHECK,
            f"The suite allows a step of a task {self.blocked_s:g} s: nothing else runs meanwhile. "
            f"Leave blocked_s at {BLOCKED_S:g}, or name 'loop' in its `unseen`: the report says so "
            "then.",
        )

    def _run(self, body: Callable[[], Awaitable[None]]) -> None:
        __tracebackhide__ = True
        for left in reversed(range(BLOCKED_TRIES)):
            try:
                self._run_once(body)
            except BlockedLoopError as blocked:
                if not left:
                    raise PluginFaultError(
                        LOOP_CHECK,
                        f"The {self.risala_suite} blocks the event loop {blocked}: nothing else "
                        "runs meanwhile, no other carrier and no request. What takes long belongs "
                        "in trio.to_thread.run_sync.",
                    ) from None
            else:
                return

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
                found = _first(group, kind)
                if found is not None:
                    raise found from found.__cause__
            raise

    def _fails(self, other: str) -> bool:
        """Whether another check fails; it is tried now where that is not known yet."""
        __tracebackhide__ = True
        failed = self.failed.setdefault(type(self), set())
        if other not in failed:
            with suppress(AssertionError, pytest.skip.Exception):
                getattr(self, other)()
        return other in failed

    def _skip(self, told: CheckResult) -> None:
        self.told = told
        pytest.skip(f"{told.result}: {told.text}")

    def _sentence(self, fault: PluginFaultError) -> str:
        place = next((at for name, _, at in checks_of(type(self)) if name == fault.check), "")
        return f"{fault.text}\n  Check: {fault.check}\n  The contract: docs/reference/{place}"

    def claim_of(self, claim: str) -> str:
        """What a claim says, for a sentence."""
        return f"its {claim} arrive as they should"

    async def shown(
        self, claim: str, check: str, hook: str, ask: Callable[[], Awaitable[_Got]]
    ) -> _Got:
        """Have the stand-in show a claim; it is proved, or the author says that it cannot be.

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
                f"suite, or name {claim!r} in its `unseen`: the report says so then.",
            ) from None

    def tell_about(self, plugin: object, **facts: object) -> None:
        """Keep what the report says of the plugin."""
        kind = type(plugin)
        told = {name: str(value) for name, value in facts.items()}
        self.about[type(self)] = {"plugin": f"{kind.__module__}.{kind.__qualname__}", **told}

    async def call(
        self, work: Callable[[], Awaitable[_Got]], limit_s: float, overdue: PluginFaultError
    ) -> _Got:
        """Call the plugin on a task of its own, under a deadline.

        Raises:
            PluginFaultError: ``overdue``, after ``limit_s``; also where the call heeds no
                cancellation and has to be left behind.
        """
        run = self.run  # a later one is none of this task's concern: see ApartRun
        done = trio.Event()
        got: list[_Got] = []
        errors: list[Exception | SystemExit] = []
        scope = trio.CancelScope()

        async def ask() -> None:
            try:
                with scope:
                    got.append(await work())
            except (Exception, SystemExit) as error:  # noqa: BLE001 -- told by the caller's words
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


class StepSuite(ConformanceSuite):
    """A suite of a plugin without a life of its own: it is asked for one thing after another."""

    basics: ClassVar[frozenset[str]] = frozenset({"test_has_its_shape", "test_lets_the_loop_run"})
    secrets: ClassVar[tuple[str, ...]] = ()
    """Passwords and keys of your settings: they must stand in nothing that the plugin tells."""

    async def cancel_step(
        self, work: Callable[[], Awaitable[object]], name: str, refusal: type[Exception]
    ) -> None:
        """Cancel a step that is under way: it has to end soon."""
        overdue = PluginFaultError(
            "test_heeds_its_cancellation",
            f"{name} did not end within {self.leave_s:g} s of being cancelled. Let Cancelled pass.",
        )

        async def cancelled() -> None:
            with trio.move_on_after(self.quiet_s), suppress(refusal):
                await work()

        try:
            await self.call(cancelled, self.quiet_s + self.leave_s, overdue)
        except (Exception, SystemExit) as error:
            if isinstance(error, PluginFaultError):
                raise
            raise PluginFaultError(
                "test_raises_what_the_contract_names",
                f"{name} raised {type(error).__name__}: it raises {refusal.__name__} alone.",
            ) from error

    async def step(
        self,
        work: Callable[[], Awaitable[_Got]],
        name: str,
        refusal: type[Exception],
        limit_s: float | None = None,
    ) -> _Got:
        """Take a step.

        Args:
            name: the method, for sentences.
            refusal: the one exception that it may raise.

        Raises:
            PluginFaultError: it did not return within the limit, or raised something else.
        """
        limit = self.patience_s if limit_s is None else limit_s
        overdue = PluginFaultError(
            "test_answers_in_time",
            f"{name} did not return within {limit:g} s. Every step is bounded in time by the "
            f"{self.risala_suite} itself; where the other side says nothing it raises "
            f"{refusal.__name__}.",
        )
        try:
            return await self.call(work, limit, overdue)
        except (refusal, PluginFaultError):
            raise
        except (Exception, SystemExit) as error:
            told = f"{type(error).__name__}({str(error).partition(chr(10))[0]!r})"
            raise PluginFaultError(
                "test_raises_what_the_contract_names",
                f"{name} raised {told}. Where something goes wrong on the other side it raises "
                f"{refusal.__name__}, with a sentence for the operator.",
            ) from error

    def look_at_reason(self, error: Exception, contents: tuple[str, ...]) -> None:
        """That an exception's text is a sentence, and has nothing in it which is not to be told."""
        told = str(error)
        if not told.strip():
            raise PluginFaultError(
                "test_says_why",
                f"{type(error).__name__} has no text: it is the operator's only word of what "
                "went wrong.",
            )
        if any(secret in told for secret in (*self.secrets, *contents)):
            raise PluginFaultError(
                "test_says_why",
                f"{type(error).__name__}'s text holds a secret, or content of somebody's: it is "
                "shown and logged.",
            )

    async def optional(self, hook: Callable[[], Awaitable[_Got]], name: str) -> _Got:
        """What the author's stand-in does, where it can."""
        try:
            return await hook()
        except NotImplementedError:
            raise NotShown(f"the suite does not override {name}") from None


def _first(group: BaseExceptionGroup[Any], kind: type[_Got]) -> _Got | None:
    for each in group.exceptions:
        if isinstance(each, kind):
            return each
        found = _first(each, kind) if isinstance(each, BaseExceptionGroup) else None
        if found is not None:
            return found
    return None
