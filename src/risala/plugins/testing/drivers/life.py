"""Checks of a driver's life: what it is, how it starts, and how it ends."""

from __future__ import annotations

import weakref

import trio

from risala.plugins.contract import SharedAccount, Sharing, Unsent
from risala.plugins.testing.apart import Leftovers
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.drivers.base import DriverSuite, segment
from risala.plugins.testing.drivers.stage import SHARED_CHECK


class DriverLifeChecks(DriverSuite):
    """How a driver lives."""

    @check("driver-contract.md#capabilities")
    async def test_is_a_driver(self) -> None:
        """The driver has the shape of a Driver, and its capabilities are of the right types."""
        async with self.opened("test_is_a_driver"):
            pass

    @check("driver-contract.md#driverrun")
    async def test_starts_at_once(self) -> None:
        """``run`` calls ``task_status.started()`` at once."""
        async with self.running("test_starts_at_once"):
            pass

    @check("driver-contract.md#healthstate")
    async def test_comes_up(self) -> None:
        """``run`` reports ``UP``, with a sentence for the operator."""
        async with self.running("test_comes_up"):
            pass

    @check("driver-contract.md#driverrun")
    async def test_runs_for_life(self) -> None:
        """``run`` neither returns nor raises while nobody cancels it."""
        async with self.running("test_runs_for_life") as stage:
            await stage.submit(segment())
            await trio.sleep(self.quiet_s)

    @check("driver-contract.md#driverrun")
    async def test_ends_when_cancelled(self) -> None:
        """``run`` ends within :attr:`leave_s` of being cancelled."""
        async with self.running("test_ends_when_cancelled"):
            pass

    @check("driver-contract.md#driverrun")
    async def test_lets_its_cancellation_pass(self) -> None:
        """``run`` ends by ``trio.Cancelled``, which it does not swallow."""
        async with self.running("test_lets_its_cancellation_pass"):
            pass

    @check("driver-contract.md#driverrun")
    async def test_lets_the_loop_run(self) -> None:
        """The driver never blocks the event loop."""
        async with self.running("test_lets_the_loop_run") as stage:
            await stage.submit(segment())

    @check("driver-contract.md#driverrun")
    async def test_leaves_nothing_running(self) -> None:
        """Once ``run`` has ended, no task and no thread of the driver runs on."""
        async with self.opened("test_leaves_nothing_running") as stage:
            leftovers = Leftovers()
            async with stage.alive():
                await stage.submit(segment())
            if left := await leftovers.wait(self.patience_s):
                raise PluginFaultError(
                    "test_leaves_nothing_running",
                    f"run has ended, and left running: {', '.join(left)}. Start what the "
                    "driver needs in a nursery that run opens: it ends with run.",
                )

    @check("driver-contract.md#driverrun")
    async def test_can_be_run_again(self) -> None:
        """``run`` may be called again once it has ended: an operator reconnects a carrier."""
        async with self.opened("test_can_be_run_again") as stage:
            async with stage.alive():
                await stage.accepted(segment())
            try:
                async with stage.alive():
                    await stage.accepted(segment())
            except* PluginFaultError as group:
                first = group.exceptions[0]
                while isinstance(first, BaseExceptionGroup):
                    first = first.exceptions[0]
                assert isinstance(first, PluginFaultError)
                raise PluginFaultError(
                    "test_can_be_run_again",
                    f"run was called a second time, after it had ended, and: {first.text}",
                ) from first

    @check("driver-contract.md#unsent")
    async def test_submit_after_the_end_sends_nothing(self) -> None:
        """A submit after the end of ``run`` is Unsent."""
        async with self.opened("test_submit_after_the_end_sends_nothing") as stage:
            async with stage.alive():
                pass
            outcome = await stage.submit(segment())
            if not isinstance(outcome, Unsent):
                raise PluginFaultError(
                    "test_submit_after_the_end_sends_nothing",
                    f"submit answered {type(outcome).__name__} after run had ended. Nothing can "
                    "leave without a link: return Unsent, and the message keeps its place.",
                )

    @check("driver-contract.md#drivercontext")
    async def test_tells_nothing_after_its_end(self) -> None:
        """The context is not used once ``run`` has ended."""
        async with self.opened("test_tells_nothing_after_its_end") as stage:
            async with stage.alive():
                await stage.submit(segment())
            await stage.submit(segment())
            await trio.sleep(self.quiet_s)
            if calls := stage.context.after_end:
                raise PluginFaultError(
                    "test_tells_nothing_after_its_end",
                    f"The driver called {calls[0]} after run had ended, when nobody listens any "
                    "more. Call the context only from tasks that end with run.",
                )

    @check("driver-contract.md#drivercontext")
    async def test_tells_what_fits(self) -> None:
        """All that it reports to the context has the types that the contract names."""
        async with self.running("test_tells_what_fits") as stage:
            await stage.submit(segment())
            if stage.capabilities.receipts:
                with trio.move_on_after(self.patience_s):
                    await stage.context.wait_until(lambda it: bool(it.receipts))
            stage.check_reports()

    @check("driver-contract.md#sharedaccount")
    async def test_what_it_shares_lives_by_itself(self) -> None:
        """What an account shares goes on when a driver ends, and serves the driver's next life."""
        async with self.opened(SHARED_CHECK) as stage:
            driver = stage.driver
            if not isinstance(driver, Sharing):
                raise NotApplicable("the driver's account shares nothing")
            shared: object = driver.shared_account
            if not isinstance(shared, SharedAccount) or shared is not driver.shared_account:
                raise PluginFaultError(
                    SHARED_CHECK, "shared_account is no SharedAccount, or another one at each look."
                )
            try:
                weakref.ref(shared)
            except TypeError:
                raise PluginFaultError(
                    SHARED_CHECK,
                    "What is shared cannot be referred to weakly. Give its class no slots, or "
                    "__weakref__ among them.",
                ) from None
            async with stage.sharing():
                async with stage.alive():
                    await stage.accepted(segment())
                await trio.sleep(self.quiet_s)
                async with stage.alive():
                    await stage.accepted(segment())
