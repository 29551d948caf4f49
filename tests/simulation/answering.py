"""Phones that people and machines answer by: what arrives there brings a text back.

They know nothing of the service. A machine answers everything at once and for ever, as the service
itself may: what keeps two of them from writing to each other without end is on our side alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from risala.plugins.contract import Inbound, Segment

if TYPE_CHECKING:
    from tests.simulation.carriers import Carrier
    from tests.simulation.world import World

OURS: Final = "+22244000000"
"""The number that people write to: who writes there writes to the first organization."""
THEIRS: Final = "+22244000001"
"""Texts to it are the second one's."""
MACHINES: Final = frozenset(f"+2223000000{each}" for each in range(4))
"""Phones that a program answers by, each text after the same while."""
THANKS: Final = "We have got your message, and answer soon."
WORDS: Final = ("yes", "thanks, a lot", "STOP", "START", "HELP", "hello")
"""What people answer."""
ANSWERS: Final = 0.3
"""The chance that a person answers a text."""


class Answerers:
    """Everybody who has a phone."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.plan.stream("answerers")
        self.letters = 0

    def write(self, carrier: Carrier, sender: str, ours: str, text: str, after_s: float) -> Inbound:
        """Somebody writes to us by a carrier."""
        self.letters += 1
        message = Inbound(sender, ours, text, self._world.now_ms(), (f"in{self.letters}",))
        carrier.bring(message, after_s)
        return message

    def got(self, carrier: Carrier, segment: Segment) -> None:
        """A text arrives at a phone, which answers if it has whom to answer."""
        world = self._world
        if not world.plan.has("answering-phones") or world.at_rest or segment.number > 1:
            return
        ours = carrier.number or segment.sender
        if ours not in (OURS, THEIRS) or not segment.recipient.startswith("+22230000"):
            return
        # Thrown in any case: who is there takes nothing from the others.
        word, may_answer = self._dice.choice(WORDS), self._dice.random() < ANSWERS
        after_s = self._dice.choice((0.0, 1.0, 20.0))
        if segment.recipient in MACHINES:
            word, may_answer = THANKS, True
        if may_answer:
            world.tally["texts that phones answered"] += 1
            world.say(segment.recipient, "answers", world.short(segment.message_id), word)
            self.write(carrier, segment.recipient, ours, word, after_s)
