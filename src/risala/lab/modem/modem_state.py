"""The state of a simulated modem, without its commands. Pure.

Commands, input and network messages all use this; they are combined in
:mod:`risala.lab.modem.modem`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

from risala.drivers.modem.tpdu.pdu import Deliver, StatusReport, TpAddress
from risala.lab.modem.at.replies import Rows
from risala.lab.modem.at.syntax import CommandArguments, NumberSetting, NumberSettings
from risala.lab.modem.at.textmode import Parameters, Writer, ussd_answer, ussd_code, written
from risala.lab.modem.card import Card
from risala.lab.modem.power import Power
from risala.lab.modem.quirks import ModemBehaviour
from risala.lab.modem.ringing import Ringing
from risala.lab.modem.world import events as e
from risala.lab.modem.world.config import ModemConfig
from risala.lab.modem.world.network import REGISTERED, UNKNOWN_SIGNAL, SimulatedNetwork, Timetable
from risala.lab.modem.world.phones import Dice
from risala.lab.modem.world.profiles import Profile
from risala.lab.modem.world.storage import REPORT_PLACES, REPORTS, SimulatedStorage

OUTPUT_OCTETS_MAX: Final = 65_536
"""Octets that wait to be read; more are lost, as on a real line."""
UNSAID_MAX: Final = 64
"""Unsolicited lines that wait while a body is typed; when there are more, the oldest is dropped."""
REGISTRATIONS: Final = ("+CREG", "+CGREG", "+CEREG")
_LOCATION: Final = '"00C3","0001A2B4"'
_SEARCHING: Final = 2
_FULL: Final = 1


class Voice(Protocol):
    """The part of a modem that hears and answers, from one start of the modem to the next."""

    registers: dict[int, int]
    """The values of the S registers, by number."""

    @property
    def is_typing(self) -> bool:
        """Whether a line or a body is being typed."""

    def receive(self, octets: bytes) -> None: ...

    def say(self, line: str) -> None:
        """An unsolicited line."""

    def after(self, action: Callable[[], object]) -> None:
        """Call ``action`` after the final result of the current line."""

    def switch(self, name: str, value: int) -> None:
        """Set E (echo), V (results in words) or Q (no results)."""

    def reset_format(self) -> None:
        """Set echo and result codes as ATZ does."""

    def interrupt(self) -> None:
        """Forget the input and running commands."""


class Inlet(Protocol):
    """The part of a modem that takes network messages, by +CNMI, +CNMA and the storages."""

    def reset(self) -> None:
        """Start again, as after power on."""

    def take(self, tpdu: Deliver | StatusReport) -> str | None:
        """Take a TPDU; returns its destination (``+CMT``, a storage), None if it cannot be taken
        now."""

    def acknowledge(self, *, good: bool = True) -> Rows:
        """Handle +CNMA."""

    def set_routing(self, arguments: CommandArguments) -> Rows:
        """Handle +CNMI."""


class ModemCore:
    """The state of one simulated modem.

    Args:
        settings: all settings of commands except +CNMI.
        make_voice: makes the part that receives and answers, at each start.
        make_inlet: makes the part that takes messages from the network.
        now_s: seconds of a clock that only goes forward.
        wall: the network's clock, with its time zone.
        tell: called with each event. Must not block.
    """

    settings: NumberSettings
    charset: str
    """The character set (+CSCS)."""
    parameters: Parameters
    """The parameters of a typed text (+CSMP)."""
    smsc_number: str
    """The service centre's number (+CSCA)."""
    memories: tuple[str, str, str]
    """The storages to read from, to write to, and for received messages (+CPMS)."""
    operator_mode: tuple[int, int]
    """Mode and format of +COPS."""
    is_noisy: bool
    """Whether unsolicited lines that begin with ``^`` may come (^CURC)."""
    function: int
    """The level of +CFUN."""

    def __init__(
        self,
        config: ModemConfig,
        *,
        settings: Iterable[NumberSetting],
        make_voice: Callable[[ModemCore], Voice],
        make_inlet: Callable[[ModemCore], Inlet],
        dice: Dice,
        now_s: Callable[[], float],
        wall: Callable[[], datetime],
        tell: Callable[[e.ModemEvent], None],
        mood: ModemBehaviour | None = None,
    ) -> None:
        self.config: ModemConfig = config
        self.dice = dice
        self.wall = wall
        self.tell = tell
        self.mood = mood or ModemBehaviour(dice)
        self.timetable = Timetable(now_s)
        self.card: Card = Card(config)
        profile = config.profile
        places = {REPORTS: REPORT_PLACES, **profile.places, **config.places}
        self.stores = {
            name: SimulatedStorage(name, places[name], profile.first_index)
            for name in (*profile.storages, *((REPORTS,) if config.reports_apart else ()))
        }
        self.incoming = make_inlet(self)
        self.network = SimulatedNetwork(
            config, self.timetable, dice, wall, tell, self.incoming.take
        )
        self.cnmi: NumberSetting = NumberSetting("+CNMI", profile.cnmi, (0,) * len(profile.cnmi))
        self.settings = NumberSettings((*settings, self.cnmi))
        self.power = Power(self)
        self.ringing = Ringing()
        self._make_voice = make_voice
        self._voice = make_voice(self)
        self._output = bytearray()
        self._unsaid: deque[str] = deque(maxlen=UNSAID_MAX)
        self._is_searching = False
        self._forget_settings()
        if config.is_booted:
            self.power.is_listening = True
            self._next_noise()
        else:
            self.power.boot("switched on")

    # -- octets ------------------------------------------------------------------------------------

    def receive(self, octets: bytes) -> None:
        """Take octets that a client wrote."""
        if not self.power.is_present:
            return
        octets = self.mood.heard(octets)
        if not self.power.is_awake:
            self.power.hear_hung(octets)
        elif self.power.is_listening:
            self._voice.receive(octets)

    def advance(self) -> None:
        """Run the due actions."""
        self.timetable.advance()

    @property
    def due_s(self) -> float | None:
        """When :meth:`advance` has something to do."""
        return self.timetable.due_s

    def take_output(self) -> bytes:
        octets, self._output = bytes(self._output), bytearray()
        return octets

    def emit(self, octets: bytes) -> None:
        """Output octets; they are lost while the modem hangs or its port is gone."""
        if not self.power.is_awake:
            return
        octets = self.mood.said(octets)
        if len(self._output) + len(octets) > OUTPUT_OCTETS_MAX:
            self.tell(e.Trouble("Nobody reads; what the modem says is lost."))
            return
        self._output += octets

    def unsolicited(self, line: str) -> None:
        """Output an unsolicited line; it waits while a line or a body is typed."""
        if self._voice.is_typing:
            self._unsaid.append(line)
        else:
            self._voice.say(line)

    def release_unsolicited(self) -> None:
        """Output the unsolicited lines that waited while something was typed."""
        while self._unsaid and not self._voice.is_typing:
            self._voice.say(self._unsaid.popleft())

    def say_fact(self, line: str) -> None:
        """Output a line of the profile, with the current values in it."""
        self.unsolicited(self.with_facts(line))

    def with_facts(self, line: str) -> str:
        word = self.card.word if self.card.is_in else "NOT INSERTED"
        return line.format(rssi=self.signal, sim=word)

    def after_answer(self, action: Callable[[], object]) -> None:
        """Call ``action`` after the final result of the current line."""
        self._voice.after(action)

    def is_current(self, voice: Voice) -> bool:
        """Whether ``voice`` is the current one: not from before a restart, nor of a modem that
        receives nothing."""
        return voice is self._voice and self.power.is_awake and self.power.is_listening

    # -- settings ----------------------------------------------------------------------------------

    @property
    def profile(self) -> Profile:
        return self.config.profile

    def configure(self, **changes: Any) -> None:  # noqa: ANN401 - as dataclasses.replace
        """Change fields of its :class:`ModemConfig`: ``report_after_s=5``."""
        self.config = self.network.config = replace(self.config, **changes)

    @property
    def registers(self) -> dict[int, int]:
        return self._voice.registers

    def switch(self, name: str, value: int) -> None:
        """E, V and Q."""
        self._voice.switch(name, value)

    def reset_settings(self) -> None:
        """Reset settings as ATZ does: radio, SIM, storages and +CNMI stay as they are."""
        self.settings.reset()
        self.settings["+CMEE"][0] = self.profile.cmee
        self._voice.reset_format()

    def _forget_settings(self) -> None:
        self.reset_settings()
        self.charset = self.profile.alphabets[0]
        self.parameters = Parameters()
        self.smsc_number = self.config.smsc_number
        default = self.profile.storages[0]
        self.memories = (default, default, default)
        self.operator_mode = (0, 0)
        self.is_noisy = bool(self.profile.noise)
        self.function = _FULL

    @property
    def smsc(self) -> TpAddress | None:
        """The service centre that received PDUs come from."""
        return TpAddress.of_number(self.smsc_number) if self.smsc_number else None

    @property
    def writer(self) -> Writer:
        return Writer(self.charset, bool(self.settings["+CSDH"][0]), self.smsc_number)

    def written(self, text: str) -> str:
        return written(text, self.charset)

    def clock_text(self) -> str:
        return f"{self.wall():%y/%m/%d,%H:%M:%S}+00"

    # -- radio and SIM -----------------------------------------------------------------------------

    @property
    def registration(self) -> int:
        """``<stat>`` of +CREG, as the modem sees it."""
        if self.function != _FULL or not self.power.is_listening or not self.card.is_ready:
            return 0
        return _SEARCHING if self._is_searching else self.network.registration

    @property
    def is_registered(self) -> bool:
        return self.registration in REGISTERED

    @property
    def can_receive(self) -> bool:
        return self.is_registered and self.power.is_awake

    @property
    def signal(self) -> int:
        return self.network.signal if self.function == _FULL else UNKNOWN_SIGNAL

    def set_function(self, level: int) -> None:
        """+CFUN."""
        if level != self.function:
            self.function = level
            if level == _FULL:
                self._search()
            self.registration_changed()

    def set_signal(self, signal: int) -> None:
        """Set the signal: 0 to 31, or 99 for unknown (27.007 §8.5)."""
        self.network.signal = signal
        self.tell(e.SignalChanged(signal, self.registration))
        line = next((line for line in self.profile.noise if "{rssi}" in line), None)
        if line is not None and self.is_noisy and self.power.is_listening:
            self.say_fact(line)

    def set_registration(self, stat: int) -> None:
        """Set the registration of this SIM in the network: ``<stat>`` of +CREG."""
        self.network.registration = stat
        self.registration_changed()

    def registration_changed(self) -> None:
        self.tell(e.SignalChanged(self.signal, self.registration))
        for name in REGISTRATIONS:
            if self.settings[name][0] and self.power.is_listening:
                self.unsolicited(self.registration_line(name, is_read=False))
        self.network.flush()

    def registration_line(self, name: str, *, is_read: bool) -> str:
        """A line about the registration: ``+CREG: 0,1`` when it is read, ``+CREG: 1`` unsolicited;
        under n=2 with area and cell."""
        mode = self.settings[name][0]
        fields = [str(mode)] if is_read else []
        fields.append(str(self.registration))
        if mode == 2 and self.is_registered:
            fields.append(_LOCATION)
            if name != "+CREG":
                fields.append("7")
        return f"{name}: {','.join(fields)}"

    def card_is_ready(self) -> None:
        """The SIM is ready: at the start, or after the right PIN."""
        for after_s, line in self.profile.ready:
            self.power.own_after(after_s, partial(self.say_fact, line))
        self._search()

    def _search(self) -> None:
        self._is_searching = True
        self.power.own_after(self.profile.register_s, self._registered_now)

    def _registered_now(self) -> None:
        self._is_searching = False
        self.registration_changed()

    def dial_ussd(self, text: str) -> None:
        """Dial a code in the form of +CUSD. Raises :class:`CmeError` for a form that this modem
        does not accept."""
        packed, charset = self.profile.ussd_packed, self.charset
        self.ask_ussd(ussd_code(text, packed=packed, charset=charset))

    def ask_ussd(self, code: str) -> None:
        """Ask the network; its answer comes a little later."""
        text = self.config.ussd.get(code)
        self.tell(e.UssdAsked(code, text))
        line = ussd_answer(text, packed=self.profile.ussd_packed, charset=self.charset)
        self.power.own_after(self.config.ussd_after_s, lambda: self.unsolicited(line))

    # -- starts and hangs --------------------------------------------------------------------------

    def forget(self) -> None:
        """Forget all that a start takes away; storages and the SIM's numbers stay."""
        self._unsaid.clear()
        self._voice = self._make_voice(self)
        self._is_searching = False
        self._forget_settings()
        self.card.restart()
        self.incoming.reset()

    def lose_port(self) -> None:
        """Drop the octets that were not read yet."""
        self._output.clear()

    def started(self) -> None:
        """The modem has started and listens now."""
        if self.card.is_ready:
            self.card_is_ready()
        self._next_noise()

    def interrupt(self) -> None:
        """A hang is over: forget the input and running commands."""
        self._voice.interrupt()
        self.network.flush()

    def _next_noise(self) -> None:
        if self.profile.noise_every_s:
            wait_s = self.profile.noise_every_s * (0.5 + self.dice.random())
            self.power.own_after(wait_s, self._make_noise)

    def _make_noise(self) -> None:
        if self.is_noisy:
            self.say_fact(self.dice.choice(self.profile.noise))
        self._next_noise()
