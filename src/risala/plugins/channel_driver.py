"""Makes a driver of a channel: the engine sends codes by channels as it sends texts by carriers.

The text of a code's delivery is the code with its language, which :func:`code_text` writes: the
code is put in at the submit, as into the text of an SMS.
"""

from __future__ import annotations

import re
from typing import Final

import trio

from risala.plugins.answering import Answering, CarrierAnswer, CarrierRequest, CarrierStream
from risala.plugins.channel import (
    LANGUAGES,
    ChannelCapabilities,
    CodeChannel,
    CodeToSend,
)
from risala.plugins.contract import Capabilities, DriverContext
from risala.plugins.fits import fault_of
from risala.sms.cause import Cause
from risala.sms.message import Segment
from risala.sms.outcome import Outcome, Refused, Scope, Uncertain
from risala.sms.receipt import Receipt

SETTLES_S: Final = 5.0
"""Beyond the channel's own limit, after which a call that does not return is given up."""
_TEXT: Final = re.compile(r"([0-9]{4,8}) \(([a-z]{2})\)(?: (.+))?", re.DOTALL)


def code_text(language: str | None, own: str = "") -> str:
    """The text of a code's delivery by a channel, with a place for the code.

    Args:
        own: a text with words of its own, such as a payment's, for a channel that brings it.
    """
    head = f"{{{{code}}}} ({language if language in LANGUAGES else LANGUAGES[0]})"
    return f"{head} {own}" if own else head


class ChannelDriver:
    """A :class:`risala.plugins.contract.Driver` whose submits are codes for one channel."""

    def __init__(self, channel: CodeChannel) -> None:
        self._channel = channel
        can: ChannelCapabilities = channel.capabilities
        self.reaches = can.reaches
        self._send_s = can.send_s
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=can.receipts,
            inbound=False,
            query=False,
            validity=True,
            window_max=can.window_max,
            submit_s=can.send_s + SETTLES_S,
            takes_whole=True,
            account=can.account,
            secret_address=can.secret_address,
        )

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        await self._channel.run(context, task_status=task_status)

    async def submit(self, segment: Segment) -> Outcome:
        parts = _TEXT.fullmatch(segment.text)
        if parts is None:  # a text that is no code cannot leave by a channel
            return Refused(Scope.FINAL, "NO_CODE", "Only codes leave by a channel.", Cause.REJECTED)
        code = CodeToSend(
            id=segment.message_id,
            attempt=segment.attempt,
            to=segment.recipient,
            code=parts[1],
            language=parts[2],
            text=parts[3] or "",
            expires_at_ms=segment.expires_at_ms,
        )
        with trio.move_on_after(self._send_s):
            outcome: Outcome = await self._channel.send_code(code)
            return _without_code(outcome, code.code)
        return Uncertain("TIMEOUT", "The channel did not return in time.")

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return None


class AnsweringChannelDriver(ChannelDriver):
    """One whose vendor calls back."""

    def __init__(self, channel: CodeChannel, answering: Answering) -> None:
        super().__init__(channel)
        self._answering = answering

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        return await self._answering.answer(request)


def _without_code(outcome: Outcome, code: str) -> Outcome:
    """An outcome whose words do not repeat the code, as an echo of the request may."""
    if fault_of(outcome) is not None or code not in f"{outcome.raw}{getattr(outcome, 'text', '')}":
        return outcome
    kind = type(outcome)
    values = {name: getattr(outcome, name) for name in kind.__slots__}
    hidden = {
        name: value.replace(code, "…") if name in ("raw", "text") else value
        for name, value in values.items()
    }
    return kind(**hidden)


def driver_of(channel: CodeChannel) -> ChannelDriver:
    """What sends by a channel."""
    if isinstance(channel, Answering):
        return AnsweringChannelDriver(channel, channel)
    return ChannelDriver(channel)
