"""From an open port to a modem that can send: the questions and settings, in their order.

Any step may be refused by some modem. Most steps are optional; only PDU mode, a usable SIM and an
SMSC number are required.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from risala.drivers.modem.at.fields import first
from risala.drivers.modem.ready.identity import Identity, identify_modem, identify_sim
from risala.drivers.modem.ready.pin import PinMemory, Unready, unlock
from risala.drivers.modem.ready.routing import Routing, choose_routing, choose_storage
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.talk.link import NoAnswerError
from risala.plugins.contract import HealthState

_RAW_MAX: Final = 80
"""Characters of a refusal that are shown."""
_WAKE_S: Final = 2.0
_RADIO_S: Final = 30.0
_PDU_MODE_TRIES: Final = 3
_OFF: Final = ("0", "4")
"""+CFUN: minimum functionality, flight mode (27.007 §8.2)."""


@dataclass(slots=True)
class Facts:
    """The data of a ready modem."""

    identity: Identity
    smsc: str = ""
    storage: str = ""
    """The storage in which it keeps received messages; empty if it has no +CPMS."""
    storages: tuple[str, ...] = ()
    routing: Routing = field(default_factory=Routing)
    shows_callers: bool = False
    """The modem tells who calls (+CLIP): calls are reported, and hung up."""
    more_messages: bool = False
    """The modem takes +CMMS, which keeps the radio link between two messages."""
    init_refused: list[str] = field(default_factory=list)
    """Commands of the setting ``init`` that the modem refused."""


async def wake(asker: Asker) -> None:
    """Get any answer from the modem. After idling, the first AT may be lost.

    Raises:
        NoAnswerError: the modem is silent.
        PortLostError: the line was hung up.
    """
    try:
        await asker.link.ask("AT", _WAKE_S)
    except NoAnswerError:
        if not await asker.link.resync():
            raise


async def bring_up(asker: Asker, settings: ModemSettings, memory: PinMemory) -> Facts:
    """Make a modem ready to send, from any settings; returns its data.

    Raises:
        Unready: it answers, but cannot send; the text is the reason.
        LinkError: it does not answer.
    """
    asker.link.engine.numeric = True
    await wake(asker)
    await asker.ok("ATZ")
    await talk_plainly(asker)
    identity = await identify_modem(asker)
    if identity.is_huawei:
        await asker.ok("AT^CURC=0")
    facts = Facts(identity)
    facts.init_refused = await initialize(asker, settings.init)
    if await radio_is_off(asker):
        await turn_radio_on(asker)
    await unlock(asker, identity, settings.pin, memory)
    await identify_sim(asker, identity)
    await choose_pdu_mode(asker, identity)
    await asker.ok('AT+CSCS="GSM"')
    await asker.ok("AT+COPS=3,0")
    facts.smsc = await find_smsc(asker, settings.smsc_number)
    await _receive(asker, settings, facts)
    facts.more_messages = await asker.ok("AT+CMMS=?")
    facts.shows_callers = settings.calls and await asker.ok("AT+CLIP=1")
    return facts


async def initialize(asker: Asker, commands: Iterable[str]) -> list[str]:
    """Send the commands of the setting ``init``; returns those that the modem refused."""
    refused = []
    for command in commands:
        answer = await asker.try_(command, by_operator=True)
        if answer is None:
            refused.append(f"{command} (no answer)")
        elif not answer.result.ok:
            refused.append(f"{command} ({answer.result.raw[:_RAW_MAX]})")
    return refused


async def choose_pdu_mode(asker: Asker, identity: Identity) -> None:
    """Choose PDU mode (27.005 §3.2.3), with a few tries for a line that loses octets.

    Raises:
        Unready: the modem does not take it; we can do nothing without it.
    """
    for _ in range(_PDU_MODE_TRIES):
        async with asker.link.turn():
            await asker.fall_in_step()
            # Asked on the link itself: the asker would not repeat a command without an answer.
            with suppress(NoAnswerError):
                answer = await asker.link.ask("AT+CMGF=0")
                if answer.result.ok:
                    return
    raise Unready(HealthState.SICK, f"The {identity.name} has no PDU mode for messages.")


async def talk_plainly(asker: Asker) -> None:
    """Set no echo, results in words, and errors with their numbers (V.250 §6.2, 27.007 §9.1)."""
    await asker.ok("ATE0")
    if await asker.ok("ATV1"):
        asker.link.engine.numeric = False
    await asker.ok("AT+CMEE=1")


async def radio_is_off(asker: Asker) -> bool:
    """True in flight mode; False also if unknown."""
    mode = first(await asker.rows("AT+CFUN?"), "+CFUN")
    return bool(mode) and mode[0] in _OFF


async def turn_radio_on(asker: Asker) -> bool:
    return await asker.ok("AT+CFUN=1", _RADIO_S)


async def find_smsc(asker: Asker, number: str | None = None) -> str:
    """The number of the service centre, set if the settings have one (27.005 §3.3.1).

    Raises:
        Unready: neither the SIM nor the settings have one.
    """
    answer = await asker.try_("AT+CSCA?")
    known = ""
    if answer is not None and answer.result.ok:
        fields = first(answer.rows, "+CSCA")
        known = fields[0] if fields else ""
    if number is not None and number != known:
        kind = 145 if number.startswith("+") else 129
        if await asker.ok(f'AT+CSCA="{number}",{kind}'):
            return number
    if not known.strip("+") and answer is not None and answer.result.ok:
        raise Unready(
            HealthState.SICK,
            "The SIM has no SMSC number; ask its operator, and set smsc_number.",
        )
    return known


async def _receive(asker: Asker, settings: ModemSettings, facts: Facts) -> None:
    """Choose the storage of received messages and their announcement; noted in ``facts``."""
    facts.storages, facts.storage = await choose_storage(asker, settings.storage)
    acknowledges = await asker.ok("AT+CSMS=1")
    if not acknowledges:
        await asker.ok("AT+CSMS=0")
    facts.routing = await choose_routing(
        asker, inbound=settings.inbound, reports=settings.reports, acknowledges=acknowledges
    )
