"""The SIM's PIN (27.007 §8.3): typed once. Three wrong ones block the SIM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import trio
from pydantic import SecretStr

from risala.drivers.modem.asking import Asker
from risala.drivers.modem.errors import WRONG_PIN, Verdict, trouble_of
from risala.drivers.modem.fields import first, number
from risala.drivers.modem.identity import Identity
from risala.drivers.modem.unready import Unready
from risala.plugins.contract import HealthState

SIM_LOOKS: Final = 30
SIM_LOOK_S: Final = 1.0
"""A SIM is busy for up to half a minute after a start."""
_TYPE_S: Final = 20.0
_FRESH_TRIES: Final = 3
_BLOCKED_S: Final = 300.0


@dataclass(slots=True)
class PinMemory:
    """What must not be forgotten while this process lives, whatever becomes of the port."""

    is_refused: bool = False
    is_typed: bool = False
    """Typed, and not yet seen to be right."""


async def unlock(
    asker: Asker, identity: Identity, pin: SecretStr | None, memory: PinMemory
) -> None:
    """Return once the SIM is ready.

    Raises:
        Unready: it is not; the text says what to do.
    """
    for look in range(SIM_LOOKS):
        if look:
            await trio.sleep(SIM_LOOK_S)
        word = await sim_word(asker)
        if word is None:
            continue
        if word in ("READY", "SIM PIN2", "SIM PUK2", ""):
            memory.is_typed = False
            return
        if word != "SIM PIN":
            raise Unready(HealthState.SICK, _locked(word), _BLOCKED_S)
        await _type(asker, identity, pin, memory)
    raise Unready(HealthState.DOWN, "The SIM does not become ready.", 5.0)


async def sim_word(asker: Asker) -> str | None:
    """The word of +CPIN?; empty where the modem has no such command, None while it is busy.

    Raises:
        Unready: there is no SIM, or it fails.
    """
    answer = await asker.try_("AT+CPIN?")
    if answer is None:
        return ""
    if answer.result.ok:
        fields = first(answer.rows, "+CPIN")
        # "+CPIN: READY" may come late: the answer is empty then.
        return fields[0].upper() if fields else None
    trouble = trouble_of(answer.result)
    if trouble.verdict is Verdict.BUSY:
        return None
    if trouble.sick:
        raise Unready(HealthState.SICK, trouble.text)
    return ""


def _locked(word: str) -> str:
    if word == "SIM PUK":
        return (
            "The SIM is blocked and wants its PUK. Put it into a phone and type the PUK there; "
            "Risala never does."
        )
    return f"The modem wants {word[:20]!r} and cannot be used with this SIM."


async def _type(asker: Asker, identity: Identity, pin: SecretStr | None, memory: PinMemory) -> None:
    if memory.is_refused or memory.is_typed:
        memory.is_refused = True
        raise Unready(HealthState.SICK, _REFUSED, _BLOCKED_S)
    if pin is None:
        raise Unready(HealthState.SICK, "The SIM wants its PIN. Set pin_env.", _BLOCKED_S)
    tries = await tries_left(asker, identity)
    if tries is not None and tries < _FRESH_TRIES:
        memory.is_refused = True
        text = f"A wrong PIN was typed before; {tries} tries are left. {_UNLOCK}"
        raise Unready(HealthState.SICK, text, _BLOCKED_S)
    memory.is_typed = True  # before it leaves: a lost answer must not lead to a second try
    answer = await asker.link.ask(f'AT+CPIN="{pin.get_secret_value()}"', _TYPE_S)
    if answer.result.ok:
        return
    memory.is_refused = True
    trouble = trouble_of(answer.result)
    text = _REFUSED if trouble is WRONG_PIN else f"The PIN was not taken. {trouble.text} {_UNLOCK}"
    raise Unready(HealthState.SICK, text, _BLOCKED_S)


_UNLOCK: Final = (
    "It is not typed again: three wrong ones block the SIM. Put the right one into the setting, "
    "or take it off the SIM with a phone, and restart."
)
_REFUSED: Final = f"The PIN is wrong. {_UNLOCK}"

_COUNTERS: Final = {
    # manufacturer: command, name of its row, which field
    "huawei": ("AT^CPIN?", "^CPIN", 3),
    "quectel": ('AT+QPINC="SC"', "+QPINC", 1),
    "simcom": ("AT+SPIC", "+SPIC", 0),
    "cinterion": ("AT^SPIC", "^SPIC", 0),
    "siemens": ("AT^SPIC", "^SPIC", 0),
}


async def tries_left(asker: Asker, identity: Identity) -> int | None:
    """How often a PIN may still be typed; None where the modem does not tell (27.007 §8.65)."""
    rows = await asker.rows('AT+CPINR="SIM PIN"')
    for row in rows:
        fields = first([row], "+CPINR")
        if len(fields) > 1 and fields[0].upper() == "SIM PIN":
            return number(fields[1])
    maker = f"{identity.manufacturer} {' '.join(identity.said)}".lower()
    for name, (command, row_name, at) in _COUNTERS.items():
        if name in maker:
            fields = first(await asker.rows(command), row_name)
            return number(fields[at]) if len(fields) > at else None
    return None
