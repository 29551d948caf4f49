"""Actions on a simulated stick in words, as somebody types them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from risala.lab.hilink.boxes import INBOX, SIM_INBOX
from risala.lab.hilink.simulator import HilinkSimulator
from risala.lab.hilink.stick import StickChanged

GONE_S: Final = 5.0
ERRORS_MAX: Final = 1000
HELP: Final = {
    "sms FROM TEXT": "somebody writes to the stick",
    "simsms FROM TEXT": "the same, and the text is kept on the SIM",
    "report NUMBER ok|failed": "a delivery report comes",
    "reboot [SECONDS]": "the stick restarts, and is gone for so long",
    "expire": "its session and tokens end",
    "error PATH CODE [N]": "the next N requests are answered so: error sms/send-sms 113018 3",
    "lose PATH": "the next request is done, and its answer is lost: lose sms/send-sms",
    "slow SECONDS": "it answers so much later",
    "mute on|off": "it answers nothing, or does again",
    "fail on|off": "the network takes no text, or does again",
    "service on|off": "it has no network, or has it again",
    "stuck on|off": "texts stay on their way, or leave",
    "outbox on|off": "sent texts are kept, or are not",
    "fill N": "its storage has room for N messages in all",
    "sim on|off": "the SIM is there, or is not",
    "lock": "the SIM wants its PIN again",
}
"""Words and their actions."""


class StickActionError(Exception):
    """An action cannot be done; ``str()`` is the reason, in one sentence."""


def perform(stick: HilinkSimulator, line: str) -> None:
    """Do the action of a line.

    Raises:
        StickActionError: an unknown word, or wrong arguments.
    """
    word, _, rest = line.strip().partition(" ")
    action = _ACTIONS.get(word.lower())
    if action is None:
        raise StickActionError(f"There is no {word!r}; help tells what there is.")
    action(stick, rest.strip())
    stick.tell(StickChanged(line.strip() if word.lower() not in ("sms", "simsms") else word))


def _receive(stick: HilinkSimulator, rest: str, box: int) -> None:
    sender, _, text = rest.partition(" ")
    if not text:
        raise StickActionError("sms needs a number and a text.")
    stick.device.receive(sender, text, box=box)


def _report(stick: HilinkSimulator, rest: str) -> None:
    number, _, word = rest.partition(" ")
    if not number or word not in ("", "ok", "failed"):
        raise StickActionError("report needs a number, and ok or failed.")
    stick.device.report(number, is_delivered=word != "failed")


def _error(stick: HilinkSimulator, rest: str) -> None:
    path, _, numbers = rest.partition(" ")
    code, _, count = numbers.partition(" ")
    if not path or not code.isdecimal() or not (count or "1").isdecimal():
        raise StickActionError("error needs a path and a code.")
    times = min(int(count or "1"), ERRORS_MAX)
    stick.device.behaviour.errors[path] = [int(code)] * times


def _number(rest: str) -> float:
    try:
        return float(rest)
    except ValueError:
        raise StickActionError(f"{rest!r} is no number.") from None


def _is_on(rest: str) -> bool:
    if rest not in ("on", "off"):
        raise StickActionError("Say on or off.")
    return rest == "on"


def _stuck(stick: HilinkSimulator, rest: str) -> None:
    if _is_on(rest):
        stick.device.behaviour.stuck = True
    else:
        stick.device.unstick()


def _set(name: str, *, opposite: bool = False) -> Callable[[HilinkSimulator, str], None]:
    def act(stick: HilinkSimulator, rest: str) -> None:
        setattr(stick.device.behaviour, name, _is_on(rest) is not opposite)

    return act


def _slow(stick: HilinkSimulator, rest: str) -> None:
    stick.device.behaviour.slow_s = _number(rest)


def _fill(stick: HilinkSimulator, rest: str) -> None:
    stick.device.boxes.most = int(_number(rest))


def _sim(stick: HilinkSimulator, rest: str) -> None:
    stick.device.has_card = _is_on(rest)


def _lock(stick: HilinkSimulator, _rest: str) -> None:
    stick.device.is_locked = True


_ACTIONS: Final[dict[str, Callable[[HilinkSimulator, str], None]]] = {
    "sms": lambda stick, rest: _receive(stick, rest, INBOX),
    "simsms": lambda stick, rest: _receive(stick, rest, SIM_INBOX),
    "report": _report,
    "reboot": lambda stick, rest: stick.reboot(_number(rest) if rest else GONE_S),
    "expire": lambda stick, _rest: stick.device.gate.forget(),
    "error": _error,
    "lose": lambda stick, rest: stick.device.behaviour.lose_answers.append(rest),
    "slow": _slow,
    "mute": _set("is_mute"),
    "fail": _set("fails_sends"),
    "service": _set("has_service"),
    "stuck": _stuck,
    "outbox": _set("keeps_sent"),
    "fill": _fill,
    "sim": _sim,
    "lock": _lock,
}
