"""The base of the suites of plugins that take steps: mailers, payment methods, event sinks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ClassVar, TypeVar

import trio

from risala.plugins.testing.faults import NotShown, PluginFaultError
from risala.plugins.testing.suite import ConformanceSuite

_Got = TypeVar("_Got")


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
