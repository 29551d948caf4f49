"""Checks of a driver whose carrier fetches: nothing leaves before the engine has it on disk."""

from __future__ import annotations

import trio

from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.drivers.arrivals import DriverArrivalChecks, needs
from risala.plugins.testing.drivers.base import segment
from risala.plugins.testing.drivers.stage import DriverStage

_ALL = 1_000_000
"""More requests than a carrier makes within a check."""


_MOMENT_S = 0.05
"""How long a segment is offered before it is withdrawn: mostly, no request comes meanwhile."""


class DriverFetchChecks(DriverArrivalChecks):
    """Checks of what leaves when the carrier asks for it."""

    @check("driver-contract.md#drivercontextfetched")
    async def test_nothing_leaves_before_it_is_fetched(self) -> None:
        """``fetches``: the driver names a segment to ``fetched`` before the carrier gets it, hands
        out only what that returns, and names it again at the next request."""
        name = "test_nothing_leaves_before_it_is_fetched"
        async with self.running(name) as stage:
            self._needs_fetching(stage)
            stage.context.fetch_refusals, sent = _ALL, segment()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(stage.accepted, sent)
                await self._none_left(name, "context.fetched did not return it")
                stage.context.fetch_refusals = 0
            if sent not in stage.context.fetches:
                raise PluginFaultError(
                    name,
                    "The carrier has a segment that the driver did not name to context.fetched: "
                    "after a crash it would be sent again. Call fetched first, and hand out what "
                    "it returns.",
                )

    @check("driver-contract.md#drivercontextfetched")
    async def test_a_withdrawn_segment_never_leaves(self) -> None:
        """``fetches``: a segment whose submit was cancelled is handed out no more."""
        name = "test_a_withdrawn_segment_never_leaves"
        async with self.running(name) as stage:
            self._needs_fetching(stage)
            stage.context.fetch_refusals = _ALL
            with trio.move_on_after(_MOMENT_S):
                await stage.driver.submit(segment())
            stage.context.fetch_refusals = 0
            await self._none_left(name, "its submit was cancelled")

    def _needs_fetching(self, stage: DriverStage) -> None:
        needs(stage.capabilities.fetches, "fetches")
        if "segments" in self.unseen:
            raise NotApplicable("what the carrier gets is not seen")

    async def _none_left(self, name: str, why: str) -> None:
        await trio.sleep(self.quiet_s)
        if got := await self.carrier_got():
            raise PluginFaultError(
                name,
                f"The carrier got {len(got)} of one segment, though {why}: somebody else may have "
                "it by now. Hand out only what context.fetched returns.",
            )
