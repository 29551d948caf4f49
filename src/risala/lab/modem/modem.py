"""A simulated modem: octets in, octets out, and events. Pure.

It has no port, clock or random generator of its own; all three are arguments::

    modem.receive(octets)      octets that a client wrote
    modem.advance()            when ``due_s`` has come
    modem.take_output()        its output so far
    modem.power.is_present     False while its port is gone
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from risala.lab.modem.answering import Answering
from risala.lab.modem.commands import table
from risala.lab.modem.incoming import Incoming
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.quirks import ModemBehaviour
from risala.lab.modem.world.config import ModemConfig
from risala.lab.modem.world.events import ModemEvent
from risala.lab.modem.world.phones import Dice


def _nothing(_: ModemEvent) -> None:
    pass


class SimulatedModem(ModemCore):
    """A modem with its commands.

    Args:
        now_s: seconds of a clock that only goes forward.
        wall: the network's clock, with its time zone.
        tell: called with each event. Must not block.
    """

    def __init__(
        self,
        config: ModemConfig,
        *,
        dice: Dice,
        now_s: Callable[[], float],
        wall: Callable[[], datetime],
        tell: Callable[[ModemEvent], None] = _nothing,
        mood: ModemBehaviour | None = None,
    ) -> None:
        super().__init__(
            config,
            settings=table.SETTINGS,
            make_voice=Answering,
            make_inlet=Incoming,
            dice=dice,
            now_s=now_s,
            wall=wall,
            tell=tell,
            mood=mood,
        )
