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
from functools import partial
from typing import Final

from risala.drivers.modem.tpdu.pdu import Deliver, StatusReport, to_hex
from risala.lab.modem.answering import VoiceAnswering
from risala.lab.modem.at.replies import Cms, CmsError, Rows
from risala.lab.modem.at.syntax import CommandArguments
from risala.lab.modem.commands import table
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.quirks import ModemBehaviour
from risala.lab.modem.world import events as e
from risala.lab.modem.world.config import ModemConfig
from risala.lab.modem.world.events import ModemEvent
from risala.lab.modem.world.phones import Dice
from risala.lab.modem.world.storage import REPORTS, Stat


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
            make_voice=VoiceAnswering,
            make_inlet=Incoming,
            dice=dice,
            now_s=now_s,
            wall=wall,
            tell=tell,
            mood=mood,
        )


# Messages from the network, and their destination: +CNMI, +CNMA, the storages (27.005 §3.4).

HELD_MAX: Final = 64
"""Lines that wait until +CNMI lets them out (mode 1 or 2); when there are more, the oldest is
dropped (27.005 §3.4.1)."""
_RETRY_S: Final = 5.0
"""How long after a negative acknowledgement the service centre tries again."""
_CLASS_2: Final = 2
_CLASS_3: Final = 3


class Incoming:
    def __init__(self, modem: ModemCore) -> None:
        self._modem = modem
        self._held: list[str] = []
        self._unacknowledged: Deliver | StatusReport | None = None
        self._told_full: set[str] = set()

    def reset(self) -> None:
        """Start again, as after power on. Unacknowledged messages are delivered again."""
        self._held.clear()
        pending, self._unacknowledged = self._unacknowledged, None
        if pending is not None:
            self._modem.network.hold(pending)

    def take(self, tpdu: Deliver | StatusReport) -> str | None:
        """Take a TPDU; returns its destination (``+CMT``, a storage), None if it cannot be taken
        now."""
        if not self._modem.can_receive or self._unacknowledged is not None:
            return None
        if isinstance(tpdu, StatusReport):
            return self._report(tpdu)
        return self._message(tpdu)

    def _message(self, deliver: Deliver) -> str | None:
        modem = self._modem
        message_class, mt = deliver.user_data.coding.message_class, modem.settings["+CNMI"][1]
        direct = (mt == 2 and message_class != _CLASS_2) or (mt == 3 and message_class == _CLASS_3)
        if direct or (message_class == 0 and modem.profile.class_0_direct):
            self._say(self._header(deliver), needs=deliver)
            return "+CMT"
        name = "SM" if message_class == _CLASS_2 else modem.memories[2]
        index = self._store(name, deliver)
        if index is None:
            return None
        if mt:
            self._say(f'+CMTI: "{name}",{index}')
        return name

    def _report(self, report: StatusReport) -> str | None:
        modem = self._modem
        ds = modem.settings["+CNMI"][3]
        if ds == 1:
            self._say(self._header(report), needs=report)
            return "+CDS"
        if ds == 0:
            return "nowhere"
        # Without a storage of their own, reports are kept among the messages, where other programs
        # look for them.
        name = REPORTS if REPORTS in modem.stores else modem.memories[2]
        index = self._store(name, report)
        if index is None:
            return None
        self._say(f'+CDSI: "{name}",{index}')
        return name

    def _store(self, name: str, tpdu: Deliver | StatusReport) -> int | None:
        index = self._modem.stores[name].add(tpdu, Stat.REC_UNREAD)
        if index is not None:
            self._told_full.discard(name)
        elif name not in self._told_full:
            self._told_full.add(name)
            if line := self._modem.profile.full_line:
                self._say(line.format(storage=name))
        return index

    def _header(self, tpdu: Deliver | StatusReport) -> str:
        modem = self._modem
        if modem.settings["+CMGF"][0]:
            if isinstance(tpdu, StatusReport):
                return f"+CDS: {modem.writer.report(tpdu)}"
            return modem.writer.direct(tpdu)
        pdu, octets = to_hex(tpdu, modem.smsc)
        name = "+CDS: " if isinstance(tpdu, StatusReport) else "+CMT: ,"
        return f"{name}{octets}\r\n{pdu}"

    # -- +CNMA ---------------------------------------------------------------------------------

    def acknowledge(self, *, good: bool = True) -> Rows:
        """Raises :class:`CmsError` 340 if nothing waits for it."""
        pending, self._unacknowledged = self._unacknowledged, None
        if pending is None:
            raise CmsError(Cms.NO_ACKNOWLEDGEMENT_EXPECTED)
        if not good:
            modem, again = self._modem, pending
            modem.timetable.after(_RETRY_S, lambda: modem.network.hold(again))
        self._modem.after_answer(self._modem.network.flush)
        return ()

    def _expect(self, tpdu: Deliver | StatusReport) -> None:
        self._unacknowledged = tpdu

        def overdue() -> None:
            if self._unacknowledged is not tpdu:
                return
            # Without the acknowledgement, messages are no longer sent straight to the port until
            # +CNMI is set again (27.005 §3.4.4).
            self._unacknowledged = None
            cnmi = self._modem.settings["+CNMI"]
            cnmi[1] = cnmi[3] = 0
            self._modem.tell(e.Trouble("No +CNMA came: +CMT and +CDS are off."))
            self._modem.network.hold(tpdu)

        self._modem.power.own_after(self._modem.config.acknowledge_s, overdue)

    # -- +CNMI ---------------------------------------------------------------------------------

    def set_routing(self, arguments: CommandArguments) -> Rows:
        modem = self._modem
        modem.settings.set(modem.cnmi, arguments)
        mode, *_, buffer = modem.settings["+CNMI"]
        if mode and self._held:
            held, self._held = self._held, []
            if buffer == 0:
                for line in held:
                    modem.after_answer(partial(modem.unsolicited, line))
        modem.after_answer(modem.network.flush)
        return ()

    def _say(self, line: str, needs: Deliver | StatusReport | None = None) -> None:
        if needs is not None and self._modem.settings["+CSMS"][0] == 1:
            self._expect(needs)
        if self._modem.settings["+CNMI"][0] == 0:
            self._held = [*self._held, line][-HELD_MAX:]
        else:
            self._modem.unsolicited(line)
