"""The SIM's PIN (27.007 §8.3): typed once. Three wrong ones block the SIM."""

from __future__ import annotations

from typing import Final

import trio
from pydantic import SecretStr

from risala.drivers.modem.at.errors import WRONG_PIN, ErrorVerdict, trouble_of
from risala.drivers.modem.at.fields import first, number
from risala.drivers.modem.ready.identity import Identity, identify_card
from risala.drivers.modem.ready.pinmemory import FRESH_TRIES, PinMemory
from risala.drivers.modem.talk.asking import Asker
from risala.plugins.contract import HealthState, NotStoredError

__all__ = ["PinMemory", "sim_word", "tries_left", "unlock"]

SIM_LOOKS: Final = 30
SIM_LOOK_S: Final = 1.0
"""Between two checks of a busy SIM, which it is for up to half a minute after a start."""
_TYPE_S: Final = 20.0
LAST_TRIES: Final = 2
"""The fewest remaining tries at which a PIN is typed: we never use up the last one, even if the
operator asks for it."""
BLOCKED_S: Final = 300.0
UNSTORED_S: Final = 5.0
_READY: Final = ("READY", "SIM PIN2", "SIM PUK2", "")
"""Words of +CPIN? for a usable SIM; empty for a modem without that command."""


async def unlock(
    asker: Asker, identity: Identity, pin: SecretStr | None, memory: PinMemory
) -> None:
    """Return once the SIM is ready.

    Raises:
        Unready: the SIM cannot be used; the text is what to do.
    """
    is_taken = False
    for look in range(SIM_LOOKS):
        if look:
            await trio.sleep(SIM_LOOK_S)
        word = await sim_word(asker)
        if word is None or (is_taken and word == "SIM PIN"):
            continue  # the SIM is busy, or repeats its state from before the PIN was typed
        if word in _READY:
            if word and memory.has_notes:
                await identify_card(asker, identity)
                await memory.unlocked(identity)
            return
        if word != "SIM PIN":
            raise Unready(HealthState.SICK, locked(word), BLOCKED_S)
        await _type(asker, identity, pin, memory)
        is_taken = True
    raise Unready(HealthState.DOWN, "The SIM does not become ready.", 5.0)


async def sim_word(asker: Asker) -> str | None:
    """The word of +CPIN?; empty if the modem has no such command, None while it is busy.

    Raises:
        Unready: the SIM is missing or fails.
    """
    answer = await asker.try_("AT+CPIN?")
    if answer is None:
        return ""
    if answer.result.ok:
        fields = first(answer.rows, "+CPIN")
        # Some modems send OK first and "+CPIN: READY" later: the answer has no row then.
        return fields[0].upper() if fields else None
    trouble = trouble_of(answer.result)
    if trouble.verdict is ErrorVerdict.BUSY:
        return None
    if trouble.sick:
        raise Unready(HealthState.SICK, trouble.text)
    return ""


def locked(word: str) -> str:
    """The sentence for a SIM that wants something else than its PIN."""
    if word == "SIM PUK":
        return (
            "The SIM is blocked and needs its PUK. Put it into a phone and type the PUK there; "
            "Risala never does."
        )
    return f"The modem wants {word[:20]!r} and cannot be used with this SIM."


def may_type(
    identity: Identity, tries: int | None, pin: SecretStr | None, memory: PinMemory
) -> None:
    """Return if the PIN may be typed now.

    Args:
        tries: the remaining tries by the SIM's own counter; None if unknown.

    Raises:
        Unready: it may not; the text is what to do.
    """
    if memory.is_last(identity, tries):
        raise Unready(HealthState.SICK, TWICE, BLOCKED_S)
    if memory.forbids(identity, tries):
        raise Unready(HealthState.SICK, REFUSED, BLOCKED_S)
    if pin is None:
        raise Unready(HealthState.SICK, "The SIM needs its PIN. Set pin_env.", BLOCKED_S)
    fewest = LAST_TRIES if memory.may_retry else FRESH_TRIES
    if tries is not None and tries < fewest:
        left = "1 try is" if tries == 1 else f"{tries} tries are"
        text = f"A wrong PIN was typed before; {left} left. {UNLOCK}"
        raise Unready(HealthState.SICK, text, BLOCKED_S)


async def _type(asker: Asker, identity: Identity, pin: SecretStr | None, memory: PinMemory) -> None:
    await identify_card(asker, identity)
    tries = await tries_left(asker, identity)
    may_type(identity, tries, pin, memory)
    assert pin is not None
    try:
        # Written down before the PIN leaves: a lost answer or a crash must not lead to a second
        # try.
        await memory.types(identity, tries)
    except NotStoredError as fault:
        text = "The PIN is not typed: that it was typed could not be written down."
        raise Unready(HealthState.DOWN, text, UNSTORED_S) from fault
    answer = await asker.link.ask(f'AT+CPIN="{pin.get_secret_value()}"', _TYPE_S)
    if answer.result.ok:
        await memory.unlocked(identity)
        return
    trouble = trouble_of(answer.result)
    await memory.refused(identity, await tries_left(asker, identity))
    text = REFUSED if trouble is WRONG_PIN else f"The PIN was not taken. {trouble.text} {UNLOCK}"
    raise Unready(HealthState.SICK, text, BLOCKED_S)


UNLOCK: Final = (
    "It is not typed again: three wrong ones block the SIM. Correct the setting, restart, and run "
    "`risala carriers ask NAME retry-pin`; or unlock the SIM with a phone."
)
TWICE: Final = (
    "Two PINs were typed and not seen to be right, and the modem does not tell how many tries are "
    "left: a third may block the SIM. It is not typed; unlock the SIM with a phone."
)
REFUSED: Final = f"The PIN is wrong. {UNLOCK}"

_COUNTERS: Final = {
    # manufacturer: the command, the name of its row, the index of the field with the tries
    "huawei": ("AT^CPIN?", "^CPIN", 3),
    "quectel": ('AT+QPINC="SC"', "+QPINC", 1),
    "simcom": ("AT+SPIC", "+SPIC", 0),
    "cinterion": ("AT^SPIC", "^SPIC", 0),
    "siemens": ("AT^SPIC", "^SPIC", 0),
}


async def tries_left(asker: Asker, identity: Identity) -> int | None:
    """The remaining tries of a PIN; None if the modem does not report them (27.007 §8.65)."""
    rows = await asker.rows('AT+CPINR="SIM PIN"')
    for row in rows:
        fields = first([row], "+CPINR")
        if len(fields) > 1 and fields[0].upper() == "SIM PIN":
            return number(fields[1])
    maker = f"{identity.manufacturer} {' '.join(identity.lines)}".lower()
    for name, (command, row_name, at) in _COUNTERS.items():
        if name in maker:
            fields = first(await asker.rows(command), row_name)
            return number(fields[at]) if len(fields) > at else None
    return None


# Why a modem that answers cannot send.


class Unready(Exception):
    """``str()`` is one sentence for the operator; ``retry_s`` is when to look again."""

    def __init__(self, state: HealthState, text: str, retry_s: float | None = None) -> None:
        super().__init__(text)
        self.state = state
        self.retry_s = retry_s
