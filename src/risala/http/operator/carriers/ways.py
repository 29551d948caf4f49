"""The ways to a modem: which one a carrier takes, and what each of them cannot do."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.http.web.languages import N_, Words


@dataclass(frozen=True, slots=True)
class ModemWay:
    """One way, as the page of a carrier shows it."""

    title: Markup
    lacks: Markup
    is_taken: bool


_WAYS: Final = {
    "modem": (
        N_("Its AT port"),
        N_(
            "No modem without AT commands (QMI, MBIM), and no port that ModemManager or another"
            " program has."
        ),
    ),
    "modemmanager": (
        N_("ModemManager"),
        N_(
            "No USSD, SIM balance, missed calls or SMSC number of your own. A modem that hangs is"
            " left to ModemManager."
        ),
    ),
    "hilink": (
        N_("A HiLink stick’s page"),
        N_(
            "No USSD, SIM balance, missed calls, flash messages, validity or SMSC number of your"
            " own. Texts are not told apart in reports."
        ),
    ),
}
"""By driver: the way, and what it cannot do."""


def ways_to_modem(words: Words, driver: str) -> list[ModemWay]:
    """All ways, if the carrier takes one of them; the taken one comes first."""
    if driver not in _WAYS:
        return []
    order = sorted(_WAYS, key=lambda each: each != driver)
    return [
        ModemWay(words(_WAYS[each][0]), words(_WAYS[each][1]), each == driver) for each in order
    ]
