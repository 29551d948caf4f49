"""The tests that every channel must pass. Subclass, say how to build yours, run pytest.

::

    class TestMyChannel(ChannelConformance):
        @asynccontextmanager
        async def open_channel(self):
            async with my_vendor() as self.vendor:
                yield MyChannel("mine", MySettings(url=self.vendor.url), self.tools())

        async def vendor_got(self):
            return [(one.to, one.code) for one in self.vendor.codes]

:class:`FakeChannel` is a small working one for tests of what is around channels.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import ClassVar, Final, cast

import trio

from risala.plugins.channel import (
    LANGUAGES,
    Accepted,
    ChannelCapabilities,
    ChannelTools,
    CodeChannel,
    CodeToSend,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Reaches,
    Refused,
    Scope,
)
from risala.plugins.fits import fault_of
from risala.plugins.testing.apart import Leftovers
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.context import RecordingContext
from risala.plugins.testing.step_suite import StepSuite
from risala.sms.numbering.plan import EXAMPLE

AT_ONCE: Final = 3
"""How many codes a check sends at once, if the channel takes as many."""
_PAGE: Final = "channel-contract.md"
_EXPIRES_MS: Final = 4_102_444_800_000
_codes = count(482_913)
_CHECK_ARRIVES: Final = "test_the_code_arrives_as_it_is"


class NeverRaisedError(Exception):
    """A channel raises nothing: its answers are values."""


@dataclass(slots=True)
class FakeChannel:
    """A channel that takes every code, unless :attr:`answers` says otherwise."""

    capabilities: ChannelCapabilities = field(default_factory=ChannelCapabilities)
    answers: list[Outcome] = field(default_factory=list)
    """Used up in order; then it accepts."""
    sent: list[CodeToSend] = field(default_factory=list)
    context: DriverContext | None = None

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        self.context = context
        task_status.started()
        context.health(Health(HealthState.UP, "The fake channel is up."))
        await trio.sleep_forever()

    async def send_code(self, code: CodeToSend) -> Outcome:
        await trio.lowlevel.checkpoint()
        self.sent.append(code)
        return self.answers.pop(0) if self.answers else Accepted(str(len(self.sent)))


class ChannelConformance(StepSuite):
    """Subclass it as ``class TestSomething(ChannelConformance)``."""

    risala_suite: ClassVar[str] = "channel"

    def open_channel(self) -> AbstractAsyncContextManager[CodeChannel]:
        """A built channel, with its vendor ready."""
        raise NotImplementedError

    async def vendor_got(self) -> Sequence[tuple[str, str]]:
        """Whom the vendor got codes for since the channel was opened, and the codes, in order."""
        raise NotImplementedError

    def tools(self) -> ChannelTools:
        """What the service lends; override it for a mailer of your own."""
        return ChannelTools(lambda: None)

    async def deliver(self) -> None:
        """Have the vendor say that the last code was delivered. Optional."""
        raise NotImplementedError

    async def lose_person(self) -> None:
        """Have the vendor know nobody from now on. Optional."""
        raise NotImplementedError

    async def break_vendor(self) -> None:
        """Have the vendor answer with a fault of its own from now on. Optional."""
        raise NotImplementedError

    async def mute_vendor(self) -> None:
        """Have the vendor answer nothing from now on. Optional."""
        raise NotImplementedError

    def claim_of(self, claim: str) -> str:
        return f"a {claim} arrives as it should"

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[tuple[CodeChannel, RecordingContext]]:
        """A channel that runs, and what it reports."""
        async with self.open_channel() as channel:
            name, built = "test_has_its_shape", cast(object, channel)
            if not isinstance(built, CodeChannel):
                lacks = f"{type(channel).__name__} lacks capabilities, run or send_code."
                raise PluginFaultError(name, lacks)
            can: object = channel.capabilities
            if not isinstance(can, ChannelCapabilities):
                raise PluginFaultError(name, f"capabilities is a {type(can).__name__}.")
            self.tell_about(channel, reaches=can.reaches.value, receipts=can.receipts)
            context = RecordingContext("conformance")
            async with trio.open_nursery() as nursery:
                overdue = PluginFaultError(
                    "test_starts_at_once", "run did not call task_status.started()."
                )
                await self.call(
                    partial(nursery.start, channel.run, context), self.patience_s, overdue
                )
                with trio.move_on_after(self.patience_s):  # codes come while it is up
                    await context.wait_health(HealthState.UP)
                yield channel, context
                nursery.cancel_scope.cancel()

    def _code(self, channel: CodeChannel, **changes: object) -> CodeToSend:
        number = next(_codes)
        is_address = channel.capabilities.reaches is Reaches.ADDRESS
        fields: dict[str, object] = {
            "id": f"sms_{number:032d}",
            "attempt": 1,
            "to": f"owner{number}@shop.example" if is_address else EXAMPLE,
            "code": str(number),
            "language": "fr",
            "expires_at_ms": _EXPIRES_MS,
        }
        return CodeToSend(**{**fields, **changes})  # type: ignore[arg-type]

    async def _send(self, channel: CodeChannel, code: CodeToSend) -> Outcome:
        """Hand a code over, and look at the answer."""
        limit_s = channel.capabilities.send_s
        outcome = await self.step(
            partial(channel.send_code, code), "send_code", NeverRaisedError, limit_s
        )
        name = "test_answers_with_an_outcome"
        if fault := fault_of(outcome):
            raise PluginFaultError(name, f"{fault}. Return an outcome of the contract.")
        if code.code in f"{outcome.raw} {getattr(outcome, 'text', '')}":
            raise PluginFaultError(
                "test_repeats_no_code",
                f"The {type(outcome).__name__} repeats the code: timelines would show it.",
            )
        return outcome

    async def _accepted(self, channel: CodeChannel, code: CodeToSend) -> Accepted:
        outcome = await self._send(channel, code)
        if not isinstance(outcome, Accepted):
            raise PluginFaultError(
                "test_takes_a_code", f"send_code returned {outcome!r}, though the vendor takes it."
            )
        return outcome

    async def _accept(self, channel: CodeChannel, code: CodeToSend) -> None:
        """As :meth:`_accepted`; the vendor says meanwhile that it was delivered, since a channel
        may wait for that."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._deliver_if_shown)
            await self._accepted(channel, code)
            nursery.cancel_scope.cancel()

    async def _deliver_if_shown(self) -> None:
        try:
            while True:
                await trio.sleep(self.quiet_s / 4)
                await self.deliver()
        except NotImplementedError:
            pass

    async def _try_one(self) -> None:
        async with self._opened() as (channel, _):
            await self._accept(channel, self._code(channel))

    @check(f"{_PAGE}#codechannel")
    async def test_has_its_shape(self) -> None:
        """The channel has the shape of a CodeChannel."""
        async with self._opened():
            pass

    @check(f"{_PAGE}#codechannelrun")
    async def test_starts_at_once(self) -> None:
        """``run`` calls ``task_status.started()`` at once, and reports that the channel is up."""
        async with self._opened() as (_, context):
            with trio.move_on_after(self.patience_s):
                await context.wait_health(HealthState.UP)
                return
            raise PluginFaultError("test_starts_at_once", "The channel never reports UP.")

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_lets_the_loop_run(self) -> None:
        """The channel never blocks the event loop."""
        await self._try_one()

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_answers_in_time(self) -> None:
        """``send_code`` returns within ``capabilities.send_s``."""
        await self._try_one()

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_raises_what_the_contract_names(self) -> None:
        """``send_code`` raises nothing."""
        await self._try_one()

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_answers_with_an_outcome(self) -> None:
        """Each answer is an outcome of the contract."""
        await self._try_one()

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_takes_a_code(self) -> None:
        """``send_code`` returns Accepted if the vendor takes the code."""
        await self._try_one()

    @check(f"{_PAGE}#codetosend")
    async def test_the_code_arrives_as_it_is(self) -> None:
        """Code and recipient arrive as they are, in each language, with zeros in front too."""
        async with self._opened() as (channel, _):
            sent = [self._code(channel, language=each) for each in LANGUAGES]
            sent.append(self._code(channel, code="0042"))
            for one in sent:
                await self._accept(channel, one)
            got = await self.shown("code", _CHECK_ARRIVES, "vendor_got", self.vendor_got)
            if [*got] != [(one.to, one.code) for one in sent]:
                raise PluginFaultError(
                    _CHECK_ARRIVES, "The vendor got other codes, or for others, than were sent."
                )

    @check(f"{_PAGE}#channelcapabilities")
    async def test_several_at_once_arrive_once_each(self) -> None:
        """Codes that are sent at once, as many as ``window_max`` allows, arrive once each."""
        name = "test_several_at_once_arrive_once_each"
        async with self._opened() as (channel, _):
            sent = [self._code(channel) for _ in range(min(AT_ONCE, _window(channel)))]
            async with trio.open_nursery() as nursery:
                for one in sent:
                    nursery.start_soon(self._accept, channel, one)
            got = await self.shown("code", name, "vendor_got", self.vendor_got)
            if sorted(code for _, code in got) != sorted(one.code for one in sent):
                raise PluginFaultError(name, f"{len(sent)} codes were sent, and {len(got)} came.")

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_who_is_not_there_is_refused_for_good(self) -> None:
        """Somebody whom the vendor does not know is Refused with Scope.FINAL: the next begins."""
        name = "test_who_is_not_there_is_refused_for_good"
        async with self._opened() as (channel, _):
            await self.optional(self.lose_person, "lose_person")
            outcome = await self._send(channel, self._code(channel))
            if not (isinstance(outcome, Refused) and outcome.scope is Scope.FINAL):
                raise PluginFaultError(name, f"send_code returned {outcome!r}.")

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_a_fault_of_the_vendor_is_an_answer(self) -> None:
        """If the vendor has a fault, ``send_code`` says so by an outcome other than Accepted."""
        await self._try_fault("test_a_fault_of_the_vendor_is_an_answer", "break_vendor")

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_a_mute_vendor_holds_nobody_up(self) -> None:
        """If the vendor does not answer, ``send_code`` returns in time all the same."""
        await self._try_fault("test_a_mute_vendor_holds_nobody_up", "mute_vendor")

    async def _try_fault(self, name: str, hook: str) -> None:
        spoil: Callable[[], Awaitable[None]] = getattr(self, hook)
        async with self._opened() as (channel, _):
            await self.optional(spoil, hook)
            outcome = await self._send(channel, self._code(channel))
            if isinstance(outcome, Accepted):
                raise PluginFaultError(name, "send_code returned Accepted, and nobody has it.")

    @check(f"{_PAGE}#codetosend")
    async def test_repeats_no_code(self) -> None:
        """No health, no trace and no outcome repeats a code."""
        async with self._opened() as (channel, context):
            code = self._code(channel)
            await self._accept(channel, code)
            texts = [each.text for each in context.healths] + [*context.traces]
            if any(code.code in each for each in texts):
                raise PluginFaultError("test_repeats_no_code", "The link's life has the code.")

    @check(f"{_PAGE}#channelcapabilities")
    async def test_reports_a_delivery(self) -> None:
        """A channel with receipts reports the id that it returned."""
        name = "test_reports_a_delivery"
        async with self._opened() as (channel, context):
            if not channel.capabilities.receipts:
                raise NotApplicable("the channel tells no deliveries")
            accepted = await self._accepted(channel, self._code(channel))
            await self.shown("receipt", name, "deliver", self.deliver)
            with trio.move_on_after(self.patience_s):
                own = accepted.carrier_id
                await context.wait_until(
                    lambda it: own in {each.carrier_id for each in it.receipts}
                )
                return
            raise PluginFaultError(name, "No receipt has the id that send_code returned.")

    @check(f"{_PAGE}#codechannelsend_code")
    async def test_heeds_its_cancellation(self) -> None:
        """``send_code`` ends within :attr:`leave_s` of being cancelled."""
        async with self._opened() as (channel, _):
            await self.optional(self.mute_vendor, "mute_vendor")
            work = partial(channel.send_code, self._code(channel))
            await self.cancel_step(work, "send_code", NeverRaisedError)

    @check(f"{_PAGE}#codechannelrun")
    async def test_leaves_nothing_running(self) -> None:
        """Once the channel has ended, no task and no thread of it runs on."""
        leftovers = Leftovers()
        await self._try_one()
        if left := await leftovers.wait(self.patience_s):
            text = f"The channel has ended, but this still runs: {', '.join(left)}."
            raise PluginFaultError("test_leaves_nothing_running", text)


def _window(channel: CodeChannel) -> int:
    return channel.capabilities.window_max
