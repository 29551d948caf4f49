"""Actions on a simulated phone in words, as somebody types them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from risala.lab.phone.events import PhoneChanged
from risala.lab.phone.simulator import PhoneSimulator

HELP: Final = {
    "sms FROM TEXT": "somebody writes to the phone",
    "sms2 FROM TEXT": "the same, to its second SIM",
    "doze": "Android lets the app neither hear nor call",
    "wake": "ends that",
    "kill": "Android ends the app; what it keeps stays",
    "open": "somebody opens the app again",
    "restart": "somebody restarts the app",
    "wipe": "the app's data is deleted: its messages, and who it is",
    "late SECONDS": "reports of states come so much later",
    "order on|off": "Android's words overtake each other, or do not",
    "mute on|off": "the phone reports nothing, or does again",
    "fail WORD|off": "each send fails: RESULT_ERROR_NO_SERVICE",
    "limit N|off": "Android refuses more than N texts in half an hour",
    "clock SECONDS": "the phone's clock is so much ahead; with a minus behind",
    "drop N": "the next N calls do not arrive",
    "deaf N": "the next N calls arrive, and their answers are lost",
    "receipts on|off": "the network reports deliveries, or does not",
}
"""Words and their actions."""


class PhoneActionError(Exception):
    """An action cannot be done; ``str()`` is the reason, in one sentence."""


def perform(phone: PhoneSimulator, line: str) -> None:
    """Do the action of a line.

    Raises:
        PhoneActionError: an unknown word, or wrong arguments.
    """
    word, _, rest = line.strip().partition(" ")
    action = _ACTIONS.get(word.lower())
    if action is None:
        raise PhoneActionError(f"There is no {word!r}; help tells what there is.")
    action(phone, rest.strip())


def _sms(phone: PhoneSimulator, rest: str, sim: int = 1) -> None:
    sender, _, text = rest.partition(" ")
    if not text:
        raise PhoneActionError("sms needs a number and a text.")
    phone.receive(sender, text, sim)


def _number(rest: str) -> float:
    try:
        return float(rest)
    except ValueError:
        raise PhoneActionError(f"{rest!r} is no number.") from None


def _switch(rest: str) -> bool:
    if rest not in ("on", "off"):
        raise PhoneActionError("Write on or off.")
    return rest == "on"


def _behave(phone: PhoneSimulator, name: str, value: object, words: str) -> None:
    setattr(phone.behaviour, name, value)
    phone.tell(PhoneChanged(words))


def _drop(phone: PhoneSimulator, rest: str, *, answers: bool) -> None:
    if phone.network is None:
        raise PhoneActionError("The phone does not run yet.")
    setattr(phone.network, "drop_answers" if answers else "drop_calls", int(_number(rest)))
    phone.tell(PhoneChanged(f"{rest} {'answers' if answers else 'calls'} will be lost"))


def _limit(phone: PhoneSimulator, rest: str) -> None:
    limit = None if rest == "off" else int(_number(rest))
    _behave(phone, "half_hour_max", limit, f"texts in half an hour: {rest}")


_ACTIONS: Final[dict[str, Callable[[PhoneSimulator, str], None]]] = {
    "sms": _sms,
    "sms2": lambda phone, rest: _sms(phone, rest, 2),
    "doze": lambda phone, _: phone.doze(is_dozing=True),
    "wake": lambda phone, _: phone.doze(is_dozing=False),
    "kill": lambda phone, _: phone.kill(),
    "open": lambda phone, _: phone.open(),
    "restart": lambda phone, _: phone.restart(),
    "wipe": lambda phone, _: phone.wipe(),
    "late": lambda phone, rest: _behave(
        phone, "late_s", _number(rest), f"states are {rest} s late"
    ),
    "order": lambda phone, rest: _behave(
        phone, "is_out_of_order", _switch(rest), f"states out of order: {rest}"
    ),
    "mute": lambda phone, rest: _behave(phone, "is_mute", _switch(rest), f"mute: {rest}"),
    "fail": lambda phone, rest: _behave(
        phone, "fails_with", "" if rest == "off" else rest, f"sends fail: {rest}"
    ),
    "limit": _limit,
    "clock": lambda phone, rest: _behave(
        phone, "clock_off_s", _number(rest), f"its clock is {rest} s ahead"
    ),
    "drop": lambda phone, rest: _drop(phone, rest, answers=False),
    "deaf": lambda phone, rest: _drop(phone, rest, answers=True),
    "receipts": lambda phone, rest: _behave(
        phone, "gives_receipts", _switch(rest), f"receipts: {rest}"
    ),
}
