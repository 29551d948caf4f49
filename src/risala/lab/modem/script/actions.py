"""Actions on a simulated modem in words: from a console, or as the steps of a scenario."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from risala.drivers.modem.tpdu.pdu import PduError
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.quirks import SendRefusal, Until
from risala.lab.modem.world import events as e
from risala.lab.modem.world.config import ReportStatus
from risala.lab.modem.world.network import UNKNOWN_SIGNAL
from risala.lab.modem.world.phones import delivers
from risala.lab.modem.world.storage import Stat
from risala.sms.numbering.plan import EXAMPLE, is_digits

REGISTRATION: Final = {
    "idle": 0,
    "home": 1,
    "searching": 2,
    "denied": 3,
    "roaming": 5,
    "sms-only": 6,
    "emergency": 8,
    "restricted": 11,
}
_SPAN_MAX_S: Final = 86_400.0
_FILLER: Final = (f"{EXAMPLE[:-6]}000000", "full")
_CMS_MAX: Final = 1023
_WITHHELD: Final = "withheld"

HELP: Final = {
    "sms FROM TEXT": "a phone sends a message; FROM is a number or a name",
    "flash FROM TEXT": "the same, of class 0",
    "shuffle FROM TEXT": "a long message, its parts in any order",
    "call FROM": "somebody calls, until it is hung up; FROM is a number, or withheld",
    "signal N": "0 to 31; 99 is unknown",
    "register STATUS": f"what the network says to the SIM: {', '.join(REGISTRATION)}",
    "hang [SECONDS] [UNTIL]": "hear and say nothing; until escape, reset or restart is typed",
    "wake": "end a hang",
    "vanish [SECONDS]": "the port is gone",
    "back": "the port is there again",
    "reboot": "restart, every setting gone, as by AT+CFUN=1,1",
    "off": "switch off",
    "report STATUS [SECONDS]": f"of the next sends: {', '.join(ReportStatus)}",
    "refuse N|off": "the next sends get +CMS ERROR: N",
    "fill [STORAGE]": "no place is left in it",
    "empty [STORAGE]": "delete all that is in it",
    "ussd CODE TEXT": "what a code is answered",
    "say LINE": "a line that nobody asked for",
}
"""Words and their actions."""


class ActionError(Exception):
    """An action cannot be done; ``str()`` is the reason, in one sentence."""


def perform(modem: ModemCore, line: str) -> None:
    """Do the action of a line.

    Raises:
        ActionError: an unknown word, or wrong arguments.
    """
    word, _, rest = line.strip().partition(" ")
    action = _ACTIONS.get(word.lower())
    if action is None:
        raise ActionError(f"There is no {word!r}; help tells what there is.")
    action(modem, rest.strip())


def check(line: str) -> None:
    """Check the word of a line, before the modem exists. Raises :class:`ActionError` for an unknown
    word."""
    word = line.strip().partition(" ")[0]
    if word.lower() not in _ACTIONS:
        raise ActionError(f"There is no {word!r}.")


def _usage(word: str) -> ActionError:
    usage = next(each for each in HELP if each.split()[0] == word)
    return ActionError(f"Use it so: {usage}")


def _span_s(word: str, text: str) -> float | None:
    """Seconds; None if not given."""
    if not text:
        return None
    try:
        span_s = float(text)
    except ValueError:
        raise _usage(word) from None
    if not math.isfinite(span_s) or not 0 <= span_s <= _SPAN_MAX_S:
        raise ActionError("Seconds are 0 to 86400.")
    return span_s


def _whole(word: str, text: str, top: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 6 or int(text) > top:
        raise _usage(word)
    return int(text)


def _message(
    word: str, *, message_class: int | None = None, shuffle: bool = False
) -> Callable[[ModemCore, str], None]:
    def act(modem: ModemCore, rest: str) -> None:
        sender, _, text = rest.partition(" ")
        if not sender or not text:
            raise _usage(word)
        try:
            modem.network.send(sender, text, message_class=message_class, shuffle=shuffle)
        except PduError as fault:
            raise ActionError(f"No message can say that: {fault}.") from fault

    return act


def _call(modem: ModemCore, rest: str) -> None:
    caller = "" if rest == _WITHHELD else rest
    if caller and not is_digits(caller.removeprefix("+")):
        raise _usage("call")
    if not rest:
        raise _usage("call")
    modem.ringing.ring(modem, caller)


def _signal(modem: ModemCore, rest: str) -> None:
    signal = _whole("signal", rest, UNKNOWN_SIGNAL)
    if 31 < signal < UNKNOWN_SIGNAL:
        raise _usage("signal")
    modem.set_signal(signal)


def _register(modem: ModemCore, rest: str) -> None:
    if rest not in REGISTRATION:
        raise _usage("register")
    modem.set_registration(REGISTRATION[rest])


def _hang(modem: ModemCore, rest: str) -> None:
    words = rest.split()
    until = Until.NOTHING
    if words and words[-1] in list(Until):
        until = Until(words.pop())
    if len(words) > 1:
        raise _usage("hang")
    modem.power.hang(_span_s("hang", "".join(words)), until)


def _report(modem: ModemCore, rest: str) -> None:
    status, _, after = rest.partition(" ")
    if status not in list(ReportStatus):
        raise _usage("report")
    after_s = _span_s("report", after.strip())
    if after_s is None:
        after_s = modem.config.report_after_s
    modem.configure(report_status=ReportStatus(status), report_after_s=after_s)


def _refuse(modem: ModemCore, rest: str) -> None:
    modem.mood.refusals.clear()
    if rest != "off":
        modem.mood.refusals.append(SendRefusal(_whole("refuse", rest, _CMS_MAX)))


def _store(modem: ModemCore, word: str, rest: str) -> str:
    name = rest.upper() or modem.memories[2]
    if name not in modem.stores:
        raise ActionError(f"There is no storage {name!r}.")
    return name


def _fill(modem: ModemCore, rest: str) -> None:
    store = modem.stores[_store(modem, "fill", rest)]
    [filler] = delivers(*_FILLER, 0, modem.wall())
    while store.add(filler, Stat.REC_READ) is not None:
        pass


def _empty(modem: ModemCore, rest: str) -> None:
    modem.stores[_store(modem, "empty", rest)].remove_all(frozenset(Stat))
    modem.network.flush()


def _ussd(modem: ModemCore, rest: str) -> None:
    code, _, text = rest.partition(" ")
    if not code or not text:
        raise _usage("ussd")
    modem.configure(ussd={**modem.config.ussd, code: text})


def _say(modem: ModemCore, rest: str) -> None:
    if not rest:
        raise _usage("say")
    modem.unsolicited(rest)


_ACTIONS: Final[dict[str, Callable[[ModemCore, str], None]]] = {
    "sms": _message("sms"),
    "flash": _message("flash", message_class=0),
    "shuffle": _message("shuffle", shuffle=True),
    "call": _call,
    "signal": _signal,
    "register": _register,
    "hang": _hang,
    "wake": lambda modem, _: modem.power.wake(),
    "vanish": lambda modem, rest: modem.power.vanish(_span_s("vanish", rest)),
    "back": lambda modem, _: modem.power.come_back(),
    "reboot": lambda modem, _: modem.power.restart("reboot"),
    "off": lambda modem, _: modem.power.off(),
    "report": _report,
    "refuse": _refuse,
    "fill": _fill,
    "empty": _empty,
    "ussd": _ussd,
    "say": _say,
}


# Steps of a scenario: actions on the modem, and their times. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    do: str
    """A line as on the console: ``signal 5``."""
    at_s: float | None = None
    """Seconds after the start."""
    after_sends: int | None = None
    """In place of a time: once this many segments were taken."""


class Script:
    def __init__(self, modem: ModemCore, steps: Sequence[ScriptStep]) -> None:
        self._modem = modem
        self._sends = 0
        self._by_sends = [step for step in steps if step.after_sends is not None]
        for step in steps:
            if step.at_s is not None:
                modem.timetable.after(step.at_s, partial(self._do, step))

    def hear(self, event: e.ModemEvent) -> None:
        """Count sends; the step comes after their answer."""
        if isinstance(event, e.Submitted) and event.is_taken:
            self._sends += 1
            for step in self._by_sends:
                if step.after_sends == self._sends:
                    self._modem.timetable.after(0, partial(self._do, step))

    def _do(self, step: ScriptStep) -> None:
        try:
            perform(self._modem, step.do)
        except ActionError as fault:
            self._modem.tell(e.Trouble(str(fault)))
