"""The base of the suites of mailers, payment methods and event sinks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ClassVar, TypeVar

import trio

from risala.plugins.testing.checks import NotShown, PluginFaultError
from risala.plugins.testing.suite import ConformanceSuite

_Got = TypeVar("_Got")


class StepSuite(ConformanceSuite):
    """A suite of a plugin that does not run by itself: each call of it is a step."""

    basics: ClassVar[frozenset[str]] = frozenset({"test_has_its_shape", "test_lets_the_loop_run"})
    secrets: ClassVar[tuple[str, ...]] = ()
    """Passwords and keys of your settings: nothing that the plugin reports may contain them."""

    async def cancel_step(
        self, work: Callable[[], Awaitable[object]], name: str, refusal: type[Exception]
    ) -> None:
        """Cancel a step while it runs: it must end soon."""
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
                f"{name} raised {type(error).__name__}. It may raise only {refusal.__name__}.",
            ) from error

    async def step(
        self,
        work: Callable[[], Awaitable[_Got]],
        name: str,
        refusal: type[Exception],
        limit_s: float | None = None,
    ) -> _Got:
        """Call one step.

        Args:
            name: the method, for sentences.
            refusal: the one exception that it may raise.

        Raises:
            PluginFaultError: it did not return within the limit, or raised something else.
        """
        limit = self.patience_s if limit_s is None else limit_s
        overdue = PluginFaultError(
            "test_answers_in_time",
            f"{name} did not return within {limit:g} s. The {self.risala_suite} itself must limit "
            f"the time of each step, and raise {refusal.__name__} if the other side does not "
            "answer.",
        )
        try:
            return await self.call(work, limit, overdue)
        except (refusal, PluginFaultError):
            raise
        except (Exception, SystemExit) as error:
            raised = f"{type(error).__name__}({str(error).partition(chr(10))[0]!r})"
            raise PluginFaultError(
                "test_raises_what_the_contract_names",
                f"{name} raised {raised}. If something goes wrong on the other side, raise "
                f"{refusal.__name__} with a sentence for the operator.",
            ) from error

    def look_at_reason(self, error: Exception, contents: tuple[str, ...]) -> None:
        """Check that an exception has a text, and that it holds no secret and no content."""
        text = str(error)
        if not text.strip():
            raise PluginFaultError(
                "test_says_why",
                f"{type(error).__name__} has no text: only there can the operator read what went "
                "wrong.",
            )
        if any(secret in text for secret in (*self.secrets, *contents)):
            raise PluginFaultError(
                "test_says_why",
                f"{type(error).__name__}'s text holds a secret or somebody's content, but it is "
                "shown and logged.",
            )

    async def optional(self, hook: Callable[[], Awaitable[_Got]], name: str) -> _Got:
        """Call a hook; NotShown if the author's suite does not override it."""
        try:
            return await hook()
        except NotImplementedError:
            raise NotShown(f"the suite does not override {name}") from None
