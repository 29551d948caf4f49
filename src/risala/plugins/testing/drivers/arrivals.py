"""Checks that each segment reaches the carrier once, unchanged, and at its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

import trio

from risala.plugins.contract import (
    Accepted,
    Alphabet,
    Cause,
    Outcome,
    Refused,
    Scope,
    Segment,
)
from risala.plugins.testing.checks import NotApplicable, NotShown, PluginFaultError, check
from risala.plugins.testing.drivers.base import CarrierGot, DriverSuite, segment
from risala.plugins.testing.drivers.stage import DriverStage
from risala.sms.message import WHOLE
from risala.sms.numbering.plan import EXAMPLE

ONCE: Final = "test_each_segment_arrives_once"
_LONG: Final = " ".join(f"{word} of a long text." for word in ("Début", "Milieu", "Fin") * 8)
"""A text of three segments."""


class DriverArrivalChecks(DriverSuite):
    """Checks of what the carrier gets."""

    @check("driver-contract.md#driversubmit")
    async def test_each_segment_arrives_once(self) -> None:
        """The carrier gets each segment once, to its recipient and with its text."""
        async with self.running(ONCE) as stage:
            sent = [
                segment("Crème à 5 € {ok} @£"),
                segment("رمزك جاهز 😀", alphabet=Alphabet.UCS2, recipient=f"{EXAMPLE[:-1]}7"),
                segment("Your code", urgent=True, recipient=f"{EXAMPLE[:-1]}8"),
                segment("Again", attempt=2),
            ]
            taken = []
            for each in sent:
                outcome = await stage.submit(each)
                if isinstance(outcome, Accepted):
                    taken.append(each)
                elif not self.cannot_take(each, outcome):
                    raise refused_kind(outcome, "a segment")
            await self.look_at_arrivals(stage, taken)

    def cannot_take(self, sent: Segment, outcome: Outcome) -> bool:
        """Whether the suite's author says that the carrier takes no text like this one, and the
        driver refused it so that another carrier gets it."""
        claims = {"alphabets": Cause.NOT_ENCODABLE} if not sent.text.isascii() else {}
        if sent.number == WHOLE:
            claims["length"] = Cause.TOO_LONG
        causes = [cause for claim, cause in claims.items() if claim in self.unseen]
        return (
            isinstance(outcome, Refused)
            and outcome.scope is Scope.CARRIER
            and outcome.cause in causes
        )

    async def look_at_arrivals(self, stage: DriverStage, sent: Sequence[Segment]) -> None:
        """Compare what the carrier got since the driver was opened with ``sent``."""
        await trio.sleep(self.quiet_s)
        got = await self._all_got(ONCE, "segments")
        expected = Counter((one.recipient, one.text) for one in sent)
        came = Counter((one.recipient, one.text) for one in got)
        if twice := [key for key in expected if came[key] > expected[key]]:
            raise PluginFaultError(
                ONCE,
                f"{len(sent)} segments were submitted, and the carrier got the one to "
                f"{twice[0][0]} {came[twice[0]]} times: a phone gets it as often, and the carrier "
                "charges each time. Submit each segment once; only the engine sends it again.",
            )
        lacking = [key for key in expected if came[key] < expected[key]]
        if lacking and len(got) < len(sent):
            raise PluginFaultError(
                ONCE,
                f"{len(sent)} segments were accepted, but the carrier got {len(got)}. Return "
                "Accepted only once the carrier says so.",
            )
        if lacking:
            to, text = lacking[0]
            what = "another text" if any(one.recipient == to for one in got) else "other recipients"
            raise PluginFaultError(
                ONCE,
                f"A segment to {to} of {len(text)} characters reached the carrier with {what}. "
                "Send recipient and text unchanged.",
            )

    @check("driver-contract.md#segment")
    async def test_parts_arrive(self) -> None:
        """Each part of a long message arrives with its text, its number and one reference."""
        name = "test_parts_arrive"
        first = [_part("msg_conformance_first", 7, one) for one in (1, 2, 3)]
        other = [_part("msg_conformance_other", 40_008, one) for one in (1, 2, 3)]
        async with self.running(name) as stage:
            if stage.capabilities.takes_whole:
                raise NotApplicable("capabilities.takes_whole is True: it gets no parts")
            sent = [part for both in zip(first, other, strict=True) for part in both]
            for each in sent:
                await stage.accepted(each)
            await trio.sleep(self.quiet_s)
            got = await self.shown(
                "parts", name, "carrier_got (with number, total and reference)", self._parts_got
            )
            by_text = {one.text: one for one in got}
            for each in sent:
                _look_at_part(name, each, by_text.get(each.text))
            ours = {by_text[one.text].reference for one in first}
            others = {by_text[one.text].reference for one in other}
            if len(ours) != 1 or len(others) != 1 or ours == others:
                raise PluginFaultError(
                    name,
                    "The parts of two messages reached the carrier with the references "
                    f"{_words(ours)} and {_words(others)}. All parts of one message have the same "
                    "reference, and the next message has another. Send Segment.reference.",
                )

    async def _parts_got(self) -> Sequence[CarrierGot]:
        got = await self.carrier_got()
        if not got:
            raise _nothing()
        if all(one.number is None and one.total is None for one in got):
            raise NotImplementedError
        return got

    @check("driver-contract.md#capabilities")
    async def test_a_whole_text_arrives(self) -> None:
        """``takes_whole``: a text of several segments arrives whole, by one submit."""
        name = "test_a_whole_text_arrives"
        async with self.running(name) as stage:
            needs(stage.capabilities.takes_whole, "takes_whole")
            sent = segment(_LONG, number=WHOLE)
            outcome = await stage.submit(sent)
            if self.cannot_take(sent, outcome):
                raise NotShown("length (the suite's author says so)")
            stage.taken(outcome, "submit")
            await trio.sleep(self.quiet_s)
            got = await self._all_got(name, "segments")
            if [one.text for one in got] != [sent.text]:
                raise PluginFaultError(
                    name,
                    f"A text of {len(sent.text)} characters reached the carrier as texts of "
                    f"{_words(len(one.text) for one in got)}. capabilities.takes_whole says that "
                    "the carrier takes texts of any length whole.",
                )

    @check("driver-contract.md#capabilities")
    async def test_the_sender_arrives(self) -> None:
        """``alphanumeric_sender``: the carrier gets sender, recipient and text unchanged."""
        name = "test_the_sender_arrives"
        async with self.running(name) as stage:
            needs(stage.capabilities.alphanumeric_sender, "alphanumeric_sender")
            sent = segment("Bonjour", sender="SHOP 24")
            await stage.accepted(sent)
            got = await self.latest(name, "alphanumeric_sender")
            for field in ("sender", "recipient", "text"):
                if getattr(got, field) != getattr(sent, field):
                    shown = "" if field == "text" else f": {getattr(got, field)!r}"
                    raise PluginFaultError(
                        name,
                        f"The carrier got another {field} than the segment's{shown}. "
                        "capabilities.alphanumeric_sender says that a name arrives unchanged.",
                    )

    @check("driver-contract.md#capabilities")
    async def test_a_flash_message_arrives(self) -> None:
        """``flash``: a flash message arrives as one in either alphabet, and no other does."""
        name = "test_a_flash_message_arrives"
        async with self.running(name) as stage:
            needs(stage.capabilities.flash, "flash")
            for text, alphabet in (("Bonjour", Alphabet.GSM7), ("سلام", Alphabet.UCS2)):
                for message_class in (0, None):
                    sent = segment(text, alphabet=alphabet, message_class=message_class)
                    outcome = await stage.submit(sent)
                    if self.cannot_take(sent, outcome):
                        continue
                    stage.taken(outcome, "submit")
                    await trio.sleep(self.quiet_s)
                    got = await self.latest(name, "flash")
                    if (got.flash, got.text) != (message_class == 0, text):
                        kind = "a flash message" if got.flash else "an ordinary message"
                        raise PluginFaultError(
                            name,
                            f"A segment with message_class {message_class} reached the carrier as "
                            f"{kind}{'' if got.text == text else ' with another text'}. "
                            "capabilities.flash says that class 0 arrives, and nothing else does "
                            "as such.",
                        )

    async def latest(self, name: str, claim: str) -> CarrierGot:
        """What the carrier got last."""
        got = await self.shown(claim, name, "carrier_got", self.carrier_got)
        if not got:
            raise _nothing()
        return got[-1]

    async def _all_got(self, name: str, claim: str) -> Sequence[CarrierGot]:
        got = await self.shown(claim, name, "carrier_got", self.carrier_got)
        if not got:
            raise _nothing()
        return got

    async def carrier_has_any(self) -> bool:
        """Whether the carrier got anything; False if the stand-in cannot show it."""
        try:
            return bool(await self.shown("segments", ONCE, "carrier_got", self.carrier_got))
        except NotShown:
            return False

    async def seen_once(self, stage: DriverStage, sent: Sequence[Segment]) -> None:
        """Like :meth:`look_at_arrivals`, but silent if the stand-in shows nothing."""
        with suppress(NotShown):  # the check of arrivals reports that
            await self.look_at_arrivals(stage, sent)


def needs(claimed: bool, claim: str) -> None:
    """Raise NotApplicable unless the driver claims it."""
    if not claimed:
        raise NotApplicable(f"capabilities.{claim} is False")


def _nothing() -> PluginFaultError:
    return PluginFaultError(
        ONCE,
        "submit answered Accepted, but the carrier got nothing. Return Accepted only once the "
        "carrier says so.",
    )


def refused_kind(outcome: Outcome, kind: str) -> PluginFaultError:
    """The fault of a driver that gets an ordinary segment not accepted."""
    return PluginFaultError(
        "test_takes_every_kind_of_segment",
        f"submit answered {type(outcome).__name__}({outcome.raw!r}) to {kind}, which every "
        "driver must bring to its carrier.",
    )


def _part(message_id: str, reference: int, number: int) -> Segment:
    return segment(
        f"Part {number} of {message_id}",
        message_id=message_id,
        number=number,
        total=3,
        reference=reference,
    )


def _look_at_part(name: str, sent: Segment, got: CarrierGot | None) -> None:
    if got is None:
        raise PluginFaultError(
            name,
            f"The text of part {sent.number} of {sent.total} did not reach the carrier, though it "
            "was accepted. Each part has a text of its own, Segment.text.",
        )
    if (got.number, got.total) != (sent.number, sent.total):
        raise PluginFaultError(
            name,
            f"Part {sent.number} of {sent.total} reached the carrier as part {got.number} of "
            f"{got.total}: the phone joins the parts by these numbers.",
        )


def _words(values: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, values))) or "none"
