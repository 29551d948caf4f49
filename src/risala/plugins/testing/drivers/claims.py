"""Checks of each thing that a driver claims its carrier can do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import trio

from risala.plugins.contract import Receipt, ReceiptState
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.context import RecordingContext
from risala.plugins.testing.drivers.arrivals import DriverArrivalChecks, needs
from risala.plugins.testing.drivers.base import segment
from risala.plugins.testing.drivers.stage import DriverStage
from risala.sms.numbering.plan import EXAMPLE

PHONE: Final = f"{EXAMPLE[:-6]}999999"
"""The number that writes to us in the checks."""
LOCAL_DIGITS: Final = 8
"""The last digits, which are compared: some networks omit the country code."""
EXPIRY_SPARE_MS: Final = 120_000
"""How much later than a segment's expiry the carrier's may be: protocols state it in minutes, or in
steps of five minutes that are rounded down."""
EXPIRY_STEP_MS: Final = 1_800_000
"""How much earlier: the longest step of TP-VP below a day (3GPP TS 23.040 §9.2.3.12.1)."""


class DriverClaimChecks(DriverArrivalChecks):
    """Checks that the driver keeps what its ``capabilities`` promise."""

    @check("driver-contract.md#receipt")
    async def test_receipts_name_what_was_accepted(self) -> None:
        """``receipts``: an accepted segment gets a final receipt with the same id."""
        name = "test_receipts_name_what_was_accepted"
        async with self.running(name) as stage:
            needs(stage.capabilities.receipts, "receipts")
            await stage.accepted(segment())
            await self._receipt(stage, name)

    @check("driver-contract.md#receiptstate")
    async def test_a_delivery_is_a_delivery(self) -> None:
        """``receipts``: a delivered segment's receipt says DELIVERED, and names no other number."""
        name = "test_a_delivery_is_a_delivery"
        async with self.running(name) as stage:
            needs(stage.capabilities.receipts, "receipts")
            sent = segment()
            await stage.accepted(sent)
            receipt = await self._receipt(stage, "test_receipts_name_what_was_accepted")
            if receipt.state is not ReceiptState.DELIVERED:
                raise PluginFaultError(
                    name,
                    f"The carrier delivered a segment, but its receipt says {receipt.state}: the "
                    "customer reads that it did not arrive. Let your stand-in deliver what it "
                    "takes, and map the carrier's word for it to ReceiptState.DELIVERED.",
                )
            if not is_same_number(sent.recipient, receipt.recipient, receipt.sender):
                raise PluginFaultError(
                    name,
                    "The receipt names another recipient than the segment's: the engine takes it "
                    "for another message's. If the carrier names no recipient, leave it None.",
                )

    async def _receipt(self, stage: DriverStage, name: str) -> Receipt:
        """The final receipt for this check's segment; receipts of earlier checks do not count."""

        def came(context: RecordingContext) -> bool:
            return any(one.state.is_final for one in stage.context.own(stage.ids))

        with trio.move_on_after(self.patience_s):
            await stage.context.wait_until(came)
            return next(one for one in stage.context.own(stage.ids) if one.state.is_final)
        stage.check_reports()
        context, of = stage.context, ", ".join(sorted(stage.ids))
        reason = "No receipt came"
        if strangers := context.strangers(stage.ids):
            reason = f"Receipts came for ids that no submit returned: {', '.join(strangers)}"
        elif states := [one.state.value for one in context.own(stage.ids)]:
            reason = f"The receipts were not final: {', '.join(states)}"
        elif context.late_from:
            earlier = ", ".join(f"{key} ({by})" for key, by in context.late_from.items())
            reason = f"Only late receipts of earlier checks came: {earlier}"
        raise PluginFaultError(
            name,
            f"capabilities.receipts is True, but no final receipt for {of} came within "
            f"{self.patience_s:g} s. {reason}. A receipt has the id that submit returned.",
        )

    @check("driver-contract.md#drivercontextreceipt")
    async def test_a_receipt_that_was_not_stored_comes_again(self) -> None:
        """``receipts``: a receipt that the engine could not store comes again."""
        name = "test_a_receipt_that_was_not_stored_comes_again"
        async with self.running(name) as stage:
            needs(stage.capabilities.receipts, "receipts")
            stage.context.refuses_each = True
            await stage.accepted(segment())
            await self._refused_first(
                stage,
                lambda: bool(stage.ids & stage.context.refused_once),
                lambda: bool(stage.context.own(stage.ids)),
                PluginFaultError(
                    "test_receipts_name_what_was_accepted",
                    "capabilities.receipts is True, but no receipt came within "
                    f"{self.patience_s:g} s.",
                ),
                PluginFaultError(
                    name,
                    "context.receipt raised NotStoredError, and the receipt did not come again "
                    f"within {self.patience_s:g} s: it is lost. Answer the carrier with a "
                    "temporary error, or repeat the call.",
                ),
            )

    async def _refused_first(
        self,
        stage: DriverStage,
        refused: Callable[[], bool],
        came: Callable[[], bool],
        never: PluginFaultError,
        lost: PluginFaultError,
    ) -> None:
        """Wait until something was refused once, and then until it comes again."""
        for is_so, fault in ((refused, never), (came, lost)):
            with trio.move_on_after(self.patience_s) as scope:
                await stage.context.wait_until(partial(_holds, is_so))
            if scope.cancelled_caught:
                stage.check_reports()
                raise fault

    @check("driver-contract.md#capabilities")
    async def test_no_receipts_where_none_are_claimed(self) -> None:
        """Without ``receipts``, no receipt comes."""
        name = "test_no_receipts_where_none_are_claimed"
        async with self.running(name) as stage:
            if stage.capabilities.receipts:
                raise NotApplicable("capabilities.receipts is True")
            await stage.submit(segment())
            await trio.sleep(self.quiet_s)
            if stage.context.own(stage.ids):
                raise PluginFaultError(
                    name,
                    "capabilities.receipts is False, but a receipt came: the engine has already "
                    "ended the message. Claim what the carrier does.",
                )

    @check("driver-contract.md#inbound")
    async def test_inbound_reaches_the_engine(self) -> None:
        """``inbound``: a message to us is handed over whole, with its sender."""
        name = "test_inbound_reaches_the_engine"
        text = "Réponse: oui"
        async with self.running(name) as stage:
            needs(stage.capabilities.inbound, "inbound")
            await self._bring(name, text)
            await stage.until(
                partial(stage.context.wait_until, lambda it: bool(it.inbounds)),
                name,
                "capabilities.inbound is True, but a message that the carrier brought was not "
                "handed to context.inbound within {limit:g} s.",
            )
            await trio.sleep(self.quiet_s)
            if len(inbounds := stage.context.inbounds) > 1 and not inbounds[0].carrier_ids:
                raise PluginFaultError(
                    name,
                    f"The carrier brought one message, but context.inbound got {len(inbounds)} "
                    "without carrier_ids: the engine cannot know that they are one.",
                )
            got = stage.context.inbounds[0]
            if (got.sender, got.text) != (PHONE, text):
                raise PluginFaultError(
                    name,
                    f"A message from {PHONE} reached context.inbound as one from {got.sender!r}"
                    f"{'' if got.text == text else ', with another text'}. Write numbers as + and "
                    "digits (E.164), and pass the text on unchanged.",
                )

    @check("driver-contract.md#drivercontextinbound")
    async def test_an_inbound_that_was_not_stored_comes_again(self) -> None:
        """``inbound``: a message that the engine could not store comes again."""
        name = "test_an_inbound_that_was_not_stored_comes_again"
        async with self.running(name) as stage:
            needs(stage.capabilities.inbound, "inbound")
            stage.context.refuses_each = True
            await self._bring(name, "Once more")
            lost = (
                "context.inbound raised NotStoredError, and the message did not come again within "
                f"{self.patience_s:g} s: it is lost. Answer the carrier with a temporary error."
            )
            never = (
                "capabilities.inbound is True, but a message that the carrier brought was not "
                f"handed to context.inbound within {self.patience_s:g} s."
            )
            await self._refused_first(
                stage,
                lambda: bool(stage.context.refused_once),
                lambda: bool(stage.context.inbounds),
                PluginFaultError("test_inbound_reaches_the_engine", never),
                PluginFaultError(name, lost),
            )

    async def _bring(self, name: str, text: str) -> None:
        await self.shown("inbound", name, "send_to_us", partial(self.send_to_us, PHONE, text))

    @check("driver-contract.md#driverquery")
    async def test_a_query_answers(self) -> None:
        """``query``: the driver answers about an accepted segment."""
        name = "test_a_query_answers"
        async with self.running(name) as stage:
            needs(stage.capabilities.query, "query")
            sent = segment()
            taken = await stage.accepted(sent)
            receipt = await stage.query(taken.carrier_id, sent.sender)
            if not isinstance(receipt, Receipt):
                raise PluginFaultError(
                    name,
                    f"capabilities.query is True, but query returned {receipt} for a segment that "
                    "the carrier had just accepted. Claim what the carrier does.",
                )
            if taken.carrier_id not in (receipt.carrier_id, *receipt.also_known_as):
                raise PluginFaultError(
                    name, f"query was asked about {taken.carrier_id!r}, but answered about "
                    f"{receipt.carrier_id!r}.",
                )  # fmt: skip

    @check("driver-contract.md#driverquery")
    async def test_a_query_does_not_raise(self) -> None:
        """``query`` returns a receipt, NotTaken or None for any id, claimed or not."""
        async with self.running("test_a_query_does_not_raise") as stage:
            await stage.query("no-such-id", "RISALA")

    @check("driver-contract.md#capabilities")
    async def test_the_expiry_arrives(self) -> None:
        """``validity``: the carrier gets the time after which it may stop trying."""
        name = "test_the_expiry_arrives"
        async with self.running(name) as stage:
            needs(stage.capabilities.validity, "validity")
            expires_at_ms = self.now_ms() + 6 * 3_600_000
            await stage.accepted(segment(expires_at_ms=expires_at_ms))
            got = await self.latest(name, "validity")
            got_ms = got.expires_at_ms
            if got_ms is None or not (
                expires_at_ms - EXPIRY_STEP_MS <= got_ms <= expires_at_ms + EXPIRY_SPARE_MS
            ):
                off = (
                    "missing" if got_ms is None else f"{(got_ms - expires_at_ms) / 1000:+.0f} s off"
                )
                raise PluginFaultError(
                    name,
                    f"capabilities.validity is True, but at the carrier the expiry is {off}. Send "
                    "the segment's expires_at_ms, or claim no validity.",
                )


def is_same_number(recipient: str, *numbers_named: str | None) -> bool:
    """Whether a receipt that names these numbers may be for this recipient; names and short
    numbers say nothing, and some carriers write sender and recipient the wrong way round."""
    wholes = [one[-LOCAL_DIGITS:] for one in numbers_named if one and len(one) >= LOCAL_DIGITS]
    numbers = [one for one in wholes if one.isdigit()]
    return not numbers or recipient[-LOCAL_DIGITS:] in numbers


def _holds(is_so: Callable[[], bool], _: RecordingContext) -> bool:
    return is_so()
