"""Checks of the SIM: is it there, does it open, does the network take it."""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.modem.at.fields import Registration
from risala.drivers.modem.doctor.bench import Bench
from risala.drivers.modem.doctor.findings import REGISTRATIONS, CheckVerdict, fail, ok, warn
from risala.drivers.modem.network.chips import chip_of
from risala.drivers.modem.network.lte import ask_ways, warning
from risala.drivers.modem.ready.identity import identify_card, identify_sim
from risala.drivers.modem.ready.pin import (
    SIM_LOOK_S,
    SIM_LOOKS,
    Unready,
    sim_word,
    tries_left,
    unlock,
)
from risala.drivers.modem.ready.pinmemory import FRESH_TRIES
from risala.drivers.modem.ready.start import find_smsc
from risala.drivers.modem.watch import operator_of, registration_of
from risala.plugins.contract import NotStoredError

_OPEN: Final = ("READY", "SIM PIN2", "SIM PUK2", "")
_SEARCH_S: Final = 30.0
"""A modem that was just plugged in takes so long to find its network."""
_LOOK_S: Final = 2.0
_SETTLED: Final = (
    None,
    *(state for state in Registration if state.registered or state.refused),
)


async def sim(bench: Bench) -> CheckVerdict:
    try:
        word = await _word(bench)
    except Unready as fault:
        bench.findings.sim = str(fault).rstrip(".")
        return fail(f"{fault} Push it in until it clicks, contacts down; try it in a phone.")
    if word is None:
        bench.findings.sim = "busy"
        return fail("The SIM does not become ready: replug the modem, and try the SIM in a phone.")
    bench.sim_word = word
    bench.findings.sim = word.lower() or "not told"
    if word:
        return ok("A SIM is present.")
    return ok("The modem does not tell of its SIM; the network will.")


async def _word(bench: Bench) -> str | None:
    """The word of +CPIN?, waited for while the SIM is busy; None if it stays busy.

    Raises:
        Unready: the SIM is missing or fails.
    """
    for look in range(SIM_LOOKS):
        if look:
            await trio.sleep(SIM_LOOK_S)
        word = await sim_word(bench.asker)
        if word is not None:
            return word
    return None


async def pin(bench: Bench) -> CheckVerdict:
    """Is the SIM open? Types the PIN if the SIM asks for it, at most once, as the driver does."""
    if bench.sim_word == "SIM PIN":
        await identify_card(bench.asker, bench.findings.identity)
        left = await tries_left(bench.asker, bench.findings.identity)
        refusal = _why_not_typed(bench, left)
        if refusal:
            return fail(refusal)
        if bench.types_anyway:
            bench.memory.retry()
        bench.memory.must_store = left is None
    try:
        await unlock(bench.asker, bench.findings.identity, bench.settings.pin, bench.memory)
    except Unready as fault:
        unstored = f" {fault.__cause__}" if isinstance(fault.__cause__, NotStoredError) else ""
        return fail(f"{fault}{unstored}{_tries(await _left_now(bench))}")
    bench.findings.sim = "ready"
    await identify_sim(bench.asker, bench.findings.identity)
    return ok("The PIN was right." if bench.sim_word not in _OPEN else "The SIM needs no PIN.")


def _why_not_typed(bench: Bench, left: int | None) -> str:
    if bench.settings.pin is None:
        return (
            f"The SIM needs its PIN.{_tries(left)} Name the environment variable that has it: "
            "--pin-env here, pin_env in the settings."
        )
    if left is not None and left < FRESH_TRIES and not bench.types_anyway:
        return (
            f"A wrong PIN was typed before.{_tries(left)} This one was not typed. If it is surely "
            "right, --type-pin types it, but never as the last try; a phone does as well."
        )
    if bench.memory.forbids(bench.findings.identity, left) and not bench.types_anyway:
        return (
            "A PIN was typed into this SIM before and not seen to be right, and the modem does not "
            "tell how many tries are left: this one was not typed. If it is surely right, "
            "--type-pin types it, once."
        )
    return ""


async def _left_now(bench: Bench) -> int | None:
    if bench.sim_word != "SIM PIN":
        return None
    return await tries_left(bench.asker, bench.findings.identity)


def _tries(left: int | None) -> str:
    if left is None:
        return ""
    return f" {left} {'try is' if left == 1 else 'tries are'} left."


async def registration(bench: Bench) -> CheckVerdict:
    """Does a network serve the SIM? Waits a little while the modem searches."""
    until = trio.current_time() + _SEARCH_S
    service = bench.findings.service
    state = await registration_of(bench.asker, service)
    while state not in _SETTLED and trio.current_time() < until:
        await trio.sleep(_LOOK_S)
        state = await registration_of(bench.asker, service)
    bench.findings.registration = state
    if state is None or state.registered:
        bench.findings.operator = await operator_of(bench.asker, service)
    return _judged(state, bench.findings.operator)


def _judged(state: Registration | None, operator: str) -> CheckVerdict:
    where = f" ({operator})" if operator else ""
    match state:
        case None:
            return warn("The modem does not tell; a send will.")
        case Registration.ROAMING | Registration.SMS_ONLY_ROAMING | Registration.CSFB_ROAMING:
            return warn(f"Roaming{where}: it sends, but each message may cost more, or be barred.")
        case Registration.HOME | Registration.SMS_ONLY_HOME | Registration.CSFB_HOME:
            return ok(f"In its {REGISTRATIONS[state]}{where}.")
        case Registration.DENIED:
            return fail(
                "The network denies this SIM: it is not active, its subscription is over, or the "
                "modem is locked to another operator. Try it in a phone; ask its operator."
            )
        case Registration.EMERGENCY | Registration.RESTRICTED:
            return fail(
                f"The network gives this SIM {REGISTRATIONS[state]}: it is not active, or has no "
                "contract for this network. Try it in a phone; ask its operator."
            )
        case Registration.IDLE:
            return fail(
                "Not registered, and not searching: it finds no network that it may use. See the "
                "antenna; AT+COPS=0 lets it choose by itself."
            )
        case _:
            return fail(
                "Searching for a network, and none is found: see the antenna, the place, and the "
                "operator's coverage; give it another minute after plugging in."
            )


async def lte(bench: Bench) -> CheckVerdict:
    """Do texts have a way on LTE? Asks, and changes nothing."""
    service, chip = bench.findings.service, chip_of(bench.findings.identity)
    if not service.is_lte and not service.is_data_alone:
        return ok("The modem is not on LTE now." if service.technology is not None else "Not told.")
    await ask_ways(bench.asker, service)
    if doubt := warning(service, chip, "NAME"):
        return warn(doubt)
    if service.ims:
        return ok("Texts go over IMS.")
    if service.circuit is not None and service.circuit.registered:
        return ok("Texts go over SGs: the modem is registered for circuits too.")
    return warn("The modem does not tell whether the network takes texts there; a send will.")


async def smsc(bench: Bench) -> CheckVerdict:
    try:
        number = bench.findings.smsc = await find_smsc(bench.asker, bench.settings.smsc_number)
    except Unready:
        return fail(
            "The SIM has no SMSC number, without which nothing is sent: ask its operator, and set "
            'smsc_number = "+…" in [carriers.modem].'
        )
    if number:
        return ok(f"{number}.")
    return warn("The modem does not tell it; a send will.")
