"""Messages of simulated phones: long ones in parts, in any order, and twice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import trio

from risala.drivers.smpp.protocol.inbound import InboundForm, inbound_pdus
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm
from risala.sms.numbering.plan import EXAMPLE


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundPlan:
    """The messages that phones send by themselves."""

    rate_per_s: float = 1.0
    messages_max: int | None = None
    """How many messages phones send in total; None: without end."""
    senders: Sequence[str] = (EXAMPLE,)
    recipient: str = "1234"
    texts: Sequence[str] = ("Hello",)
    forms: Sequence[InboundForm] = (InboundForm.UDH8,)
    twice_percent: float = 0.0
    """Parts that are sent twice."""
    shuffle: bool = False
    """Parts go in any order."""
    seed: int = 1


class DeliverCall(Protocol):
    """Send these; False if no suitable account has ever bound."""

    def __call__(self, *pdus: DeliverSm | DataSm) -> bool: ...


class Phones:
    """Sends by a plan; without one it sends nothing."""

    def __init__(self, plan: InboundPlan | None, deliver: DeliverCall) -> None:
        self._plan = plan
        self._deliver = deliver
        self.texts: list[str] = []
        """The sent messages of a plan with an end, in order."""

    async def run(self) -> None:
        plan = self._plan
        if plan is None:
            return
        rng = random.Random(plan.seed)  # noqa: S311 - a run should repeat itself
        count = 0
        while plan.messages_max is None or count < plan.messages_max:
            await trio.sleep(1 / plan.rate_per_s)
            text = plan.texts[count % len(plan.texts)]
            if not self._deliver(*self._message(plan, text, count, rng)):
                continue  # no receiver yet
            count += 1
            if plan.messages_max is not None:
                self.texts.append(text)

    def _message(
        self, plan: InboundPlan, text: str, count: int, rng: random.Random
    ) -> list[DeliverSm | DataSm]:
        sender = plan.senders[count % len(plan.senders)]
        form = plan.forms[count % len(plan.forms)]
        pdus = inbound_pdus(text, sender, plan.recipient, count + 1, form)
        if len(pdus) > 1:  # a whole message sent twice would be two messages
            pdus += [pdu for pdu in pdus if rng.uniform(0, 100) < plan.twice_percent]
            if plan.shuffle:
                rng.shuffle(pdus)
        return pdus
