"""Carriers of a console that is looked at: one of each kind of state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import trio

from risala.config.model import CarrierSection
from risala.plugins.contract import (
    DriverCommand,
    DriverContext,
    Health,
    HealthState,
)
from risala.plugins.testing.fake_driver import FakeDriver

MODEM = "chinguitel-1"
BROKEN = "chinguitel-2"
_SIM = {
    "registration": "home",
    "operator": "Chinguitel",
    "number": "+22222041190",
    "signal_dbm": -81,
    "segments_today": 412,
    "segments_per_day_max": 500,
    "sim_balance": 318.0,
    "sim_balance_is": "fine",
    "ussd": "Solde: 318.00 MRU",
}


UP = Health(HealthState.UP, "Bound.")
COMMANDS = (DriverCommand("ussd", "asks the network", "CODE"),)


@dataclass(slots=True)
class Line(FakeDriver):
    """A line that tells this of itself."""

    health: Health = UP
    commands: tuple[DriverCommand, ...] = COMMANDS

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        self.context = context
        task_status.started()
        context.health(self.health)
        await trio.sleep_forever()

    async def command(self, name: str, arguments: Sequence[str]) -> Mapping[str, str]:
        return {"text": f"{' '.join(arguments)} → 318,00 MRU"}


LINES = {
    MODEM: Line(health=Health(HealthState.UP, "Registered at Chinguitel.", _SIM)),
    BROKEN: Line(
        health=Health(
            HealthState.SICK,
            "The SIM asks for a PIN: put it into the settings (pin_env).",
            {"signal_dbm": -95},
        )
    ),
}
SECTIONS = (
    CarrierSection(name=MODEM, driver="fake", prefixes=("+22220", "+22221")),
    CarrierSection(name=BROKEN, driver="fake", prefixes=("+22229",)),
)
