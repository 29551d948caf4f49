"""Looking after a modem at rest: signal, registration, operator, storage. Finds one that hangs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import trio

from risala.drivers.modem.at.fields import Registration, first, number, registration, signal_dbm
from risala.drivers.modem.inbound.inbox import ModemInbox
from risala.drivers.modem.network.lte import NetworkService, ask_ways
from risala.drivers.modem.ready.storage import Usage
from risala.drivers.modem.talk.asking import Asker

_SEARCH_S: Final = 2.0
"""Seconds between two looks while the modem searches for a network."""
_OPERATOR_LOOKS: Final = 10
"""The operator is queried at every tenth check: +COPS? can take seconds."""
_OPERATOR_S: Final = 30.0
_PROBE_S: Final = 10.0
_CIRCUIT: Final = "+CREG"
_REGISTRATIONS: Final = (_CIRCUIT, "+CEREG", "+CGREG")
"""Commands that report the registration (27.007 §7.2, §10.1.22, §10.1.20). A modem that uses only
LTE may report it by the second only."""


@dataclass(slots=True)
class Sight:
    """The result of the last check of the modem."""

    signal_dbm: int | None = None
    registration: Registration | None = None
    operator: str = ""
    usage: Usage | None = None
    service: NetworkService = field(default_factory=NetworkService)

    @property
    def registered(self) -> bool:
        """Whether a network serves the modem. True also if unknown: the next send will show."""
        return self.registration is None or self.registration.registered


class Watch:
    def __init__(
        self, asker: Asker, inbox: ModemInbox, every_s: float, on_sight: Callable[[Sight], None]
    ) -> None:
        self._asker = asker
        self._inbox = inbox
        self._every_s = every_s
        self._on_sight = on_sight
        self.sight = Sight()

    async def run(self) -> None:
        """Check regularly until cancelled; raises LinkError when the modem does not answer."""
        look = 0
        while True:
            await self._poll(with_operator=look % _OPERATOR_LOOKS == 0)
            self._on_sight(self.sight)
            look = look + 1 if self.sight.registered else 0
            await trio.sleep(self._every_s if self.sight.registered else _SEARCH_S)

    async def _poll(self, *, with_operator: bool) -> None:
        sight, asker = self.sight, self._asker
        async with asker.link.turn():
            await asker.fall_in_step()
            # Asked on the link itself: the asker would hide a silence, but the operator must see
            # the recovery.
            await asker.link.ask("AT", _PROBE_S)
        sight.signal_dbm = signal_dbm(first(await asker.rows("AT+CSQ"), "+CSQ"))
        sight.registration = await registration_of(asker, sight.service)
        if with_operator and sight.registered:
            sight.operator = await operator_of(asker, sight.service)
        if (with_operator and sight.service.is_lte) or sight.service.is_data_alone:
            await ask_ways(asker, sight.service)
        sight.usage = await self._inbox.poll()


async def registration_of(asker: Asker, service: NetworkService) -> Registration | None:
    """The best registration that any of the three commands reports; None if none does. What they
    say is noted in ``service``."""
    best: Registration | None = None
    service.circuit = service.packet = None
    for name in _REGISTRATIONS:
        state = registration(first(await asker.rows(f"AT{name}?"), name))
        if name == _CIRCUIT:
            service.circuit = state
        elif state is not None:
            service.packet = state
        if state is not None and state.registered:
            return state
        # Not registered so far: the first word (+CREG's) counts, unless a later one is final.
        if best is None or (state is not None and state.refused):
            best = state
    return best


async def operator_of(asker: Asker, service: NetworkService) -> str:
    """The network's name; empty if unknown (27.007 §7.3). Its technology is noted in
    ``service``."""
    fields = first(await asker.rows("AT+COPS?", _OPERATOR_S), "+COPS")
    service.technology = number(fields[3]) if len(fields) > 3 else None
    return fields[2][:40] if len(fields) > 2 else ""
