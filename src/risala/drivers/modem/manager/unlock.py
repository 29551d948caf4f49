"""A SIM's PIN by ModemManager: typed once. Three wrong ones block the SIM."""

from __future__ import annotations

from typing import Final

from pydantic import SecretStr

from risala.drivers.modem.manager.bus import BusCallError, BusTimeoutError, ModemBus
from risala.drivers.modem.manager.objects import SeenModem
from risala.drivers.modem.manager.words import MANAGER, PROPERTIES, ModemLock, has_not_typed
from risala.drivers.modem.ready.identity import Identity
from risala.drivers.modem.ready.pin import (
    BLOCKED_S,
    REFUSED,
    UNSTORED_S,
    Unready,
    locked,
    may_type,
)
from risala.drivers.modem.ready.pinmemory import PinMemory
from risala.plugins.contract import HealthState, NotStoredError

SIM: Final = f"{MANAGER}.Sim"
UNTYPED_AGAIN_S: Final = 10.0
"""Until a PIN is typed that ModemManager did not pass on: it still prepares the modem, say."""
_TYPE_S: Final = 60.0
"""ModemManager waits for the SIM to become ready, up to half a minute."""
_WORDS: Final = {ModemLock.SIM_PIN2: "SIM PIN2", ModemLock.SIM_PUK: "SIM PUK"}
USABLE: Final = (ModemLock.UNKNOWN, ModemLock.NONE, ModemLock.SIM_PIN2, ModemLock.SIM_PUK2)
"""Locks with which a SIM sends: those of the second PIN are for other things."""


async def identity_of(bus: ModemBus, modem: SeenModem) -> Identity:
    """Modem and SIM, as far as a locked one tells."""
    iccid = ""
    if modem.sim != "/":
        try:
            got = await bus.call(modem.sim, f"{PROPERTIES}.Get", "ss", (SIM, "SimIdentifier"))
            iccid = str(got[0][1])
        except (BusCallError, BusTimeoutError):
            pass  # it tells after the PIN
    return Identity(imei=modem.imei, iccid=iccid)


async def unlock(bus: ModemBus, modem: SeenModem, pin: SecretStr | None, memory: PinMemory) -> None:
    """Type the PIN of a locked SIM.

    Raises:
        Unready: it is not typed, or was refused; the text is what to do.
        BusGoneError: the connection has ended.
    """
    if modem.lock != ModemLock.SIM_PIN:
        lock = modem.lock
        word = _WORDS[ModemLock(lock)] if lock in _WORDS else f"lock {lock}"
        raise Unready(HealthState.SICK, locked(word), BLOCKED_S)
    identity = await identity_of(bus, modem)
    may_type(identity, modem.tries, pin, memory)
    assert pin is not None
    try:
        await memory.types(identity, modem.tries)
    except NotStoredError as fault:
        text = "The PIN is not typed: that it was typed could not be written down."
        raise Unready(HealthState.DOWN, text, UNSTORED_S) from fault
    try:
        await bus.call(
            modem.sim, f"{SIM}.SendPin", "s", (pin.get_secret_value(),), timeout_s=_TYPE_S
        )
    except BusTimeoutError as late:
        raise Unready(HealthState.DOWN, "The SIM does not become ready.", 5.0) from late
    except BusCallError as error:
        if has_not_typed(error.name, str(error)):
            await memory.untyped()
            text = f"ModemManager refuses: {error.name}."
            raise Unready(HealthState.DOWN, text, UNTYPED_AGAIN_S) from error
        await memory.refused(identity, None if modem.tries is None else modem.tries - 1)
        raise Unready(HealthState.SICK, REFUSED, BLOCKED_S) from error
    await memory.unlocked(identity)
