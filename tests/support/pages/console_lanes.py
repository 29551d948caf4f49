"""Carriers of a console that is looked at: one of each kind of state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import trio

from risala.config.model import CarrierSection
from risala.plugins.answering import CarrierAnswer, CarrierRequest
from risala.plugins.contract import (
    Capabilities,
    DriverCommand,
    DriverContext,
    Health,
    HealthState,
)
from risala.plugins.page import (
    FormField,
    PageBlock,
    PageFigures,
    PageForm,
    PageHeading,
    PageService,
    PageTable,
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


_PHONE_WORDS = {
    "en": ("Phones", "Name", "SIM", "Seen", "In hand", "Today", "minutes ago", "Forget {name}",
           "It has to be paired again before it sends.", "Pair a phone", "Why",
           "A word for the trail"),
    "fr": ("Téléphones", "Nom", "SIM", "Vu", "En main", "Aujourd’hui", "minutes", "Oublier {name}",
           "Il faudra l’appairer de nouveau avant qu’il envoie.", "Appairer un téléphone",
           "Pourquoi", "Un mot pour le journal"),
    "ar": ("الهواتف", "الاسم", "الشريحة", "آخر ظهور", "لديه", "اليوم", "دقائق", "انس {name}",
           "يجب ربطه من جديد قبل أن يرسل.", "اربط هاتفا", "لماذا", "كلمة للسجل"),
}  # fmt: skip


class PhonePart:
    """What a driver of phones fills of its carrier's page."""

    redrawn_every_s = 1.0

    def __init__(self) -> None:
        self.drawn = 0

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        self.drawn += 1
        title, name, sim, seen, hand, today, ago, forget, sure, pair, why, hint = _PHONE_WORDS[
            service.language
        ]
        rows = (
            ("Samsung A12", "Mattel · +22236123456", f"2 {ago}", 3, 40 + self.drawn),
            ("Tecno Spark 8 C", "Chinguitel · +22222041190", f"11 {ago}", 0, 0),
        )
        fields = (FormField("device", "", "hidden", "dev_1"), FormField("why", why, hint=hint))
        return (
            PageHeading(title),
            PageFigures(((today, 40 + self.drawn), (hand, 3))),
            PageTable((name, sim, seen, hand, today), rows),
            PageForm("forget", forget.format(name=rows[0][0]), fields, confirm=sure),
            PageForm("pair", pair),
        )


@dataclass(slots=True)
class PhoneLine(Line):
    """A phone's line: it fills its page, and a secret in its address proves who calls."""

    part: PhonePart = field(default_factory=PhonePart)

    @property
    def console_page(self) -> PhonePart:
        return self.part

    @property
    def capabilities(self) -> Capabilities:
        return replace(FakeDriver.capabilities.fget(self), secret_address=True)

    async def command(self, name: str, arguments: Sequence[str]) -> Mapping[str, str]:
        return {"token": "q7Hx2mZk9PfW4tYv"} if name == "pair" else {"device": arguments[0]}

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        return CarrierAnswer()


PHONE = "phone-1"
LINES = {
    PHONE: PhoneLine(
        health=Health(HealthState.UP, "Bound."),
        commands=(
            DriverCommand("forget", "forgets a device", "DEVICE [WHY]"),
            DriverCommand("pair", "makes a token", needs_fresh_sign_in=True),
        ),
    ),
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
    CarrierSection(name=PHONE, driver="fake", prefixes=("+22223",)),
    CarrierSection(name=MODEM, driver="fake", prefixes=("+22220", "+22221")),
    CarrierSection(name=BROKEN, driver="fake", prefixes=("+22229",)),
)
