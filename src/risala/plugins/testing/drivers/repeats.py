"""Checks of what a driver says about ids: which its carrier knows, and what comes twice."""

from __future__ import annotations

from risala.plugins.contract import NotTaken
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.drivers.arrivals import DriverArrivalChecks, needs
from risala.plugins.testing.drivers.base import segment


class DriverRepeatChecks(DriverArrivalChecks):
    """Checks of submits that come again with the same id."""

    @check("driver-contract.md#capabilities")
    async def test_one_attempt_is_one_text(self) -> None:
        """``same_id_is_safe``: an attempt that comes again, also after a restart, is Accepted with
        the first id, and the carrier gets one text."""
        name = "test_one_attempt_is_one_text"
        async with self.opened(name) as stage:
            needs(stage.capabilities.same_id_is_safe, "same_id_is_safe")
            sent, ids = segment(), []
            for _ in range(2):  # the second life knows no more than the carrier does
                async with stage.alive():
                    ids += [(await stage.accepted(sent)).carrier_id for _ in range(2)]
            if len({*ids}) > 1:
                raise PluginFaultError(
                    name,
                    f"One attempt was submitted four times, and got the ids {', '.join(ids)}. Make "
                    "the id of message_id, attempt and number alone, and if the carrier says that "
                    "it has it already, return Accepted with the first id.",
                )
            if "segments" not in self.unseen and (got := len(await self.carrier_got())) != 1:
                raise PluginFaultError(
                    name,
                    f"One attempt was submitted four times, and the carrier took {got} texts: "
                    "phones would get it again. Give each submit the same id, or do not claim "
                    "same_id_is_safe.",
                )

    @check("driver-contract.md#capabilities")
    async def test_another_attempt_is_another_id(self) -> None:
        """``same_id_is_safe``: another attempt at a message is taken as another one."""
        name = "test_another_attempt_is_another_id"
        async with self.running(name) as stage:
            needs(stage.capabilities.same_id_is_safe, "same_id_is_safe")
            sent = segment()
            for attempt in (1, 2):
                again = segment(message_id=sent.message_id, attempt=attempt)
                await stage.accepted(again)
            if "segments" not in self.unseen and (got := len(await self.carrier_got())) != 2:
                raise PluginFaultError(
                    name,
                    f"Two attempts at a message were accepted, and the carrier took {got}: the "
                    "second would be lost. Make the id of attempt and number too.",
                )

    @check("driver-contract.md#driverquery")
    async def test_ids_are_remembered(self) -> None:
        """A driver whose ``query`` says NotTaken says how long its carrier remembers ids."""
        name = "test_ids_are_remembered"
        async with self.running(name) as stage:
            answer = await stage.query("no-such-id", "RISALA")
            if not isinstance(answer, NotTaken):
                raise NotApplicable("query says nothing about an unknown id")
            if not (stage.capabilities.query and stage.capabilities.remembers_ids_s):
                raise PluginFaultError(
                    name,
                    "query says NotTaken, but capabilities.query or remembers_ids_s does not fit: "
                    "the engine does nothing with it. Say how long the carrier remembers ids.",
                )
