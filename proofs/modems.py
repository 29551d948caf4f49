"""The page of known modems, from a data file and from the driver's own tables:
``python -m proofs.modems``. ``tests/docs/test_known_modems.py`` compares.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from risala.drivers.modem.at.errors import CMS
from risala.drivers.modem.at.fields import Registration
from risala.drivers.modem.network.chips import CHIPS, MODES, UNKNOWN, ModemFamily
from risala.drivers.modem.network.lte import ANY_WAY, ANY_WAY_COMMAND, NetworkService, reason

PAGE: Final = Path(__file__).parents[1] / "docs/reference/known-modems.md"
DATA: Final = Path(__file__).with_name("known_modems.toml")
CARRIER: Final = "sim-1"
LTE: Final = 7
SITUATIONS: Final = {
    "`+CREG: 0,1`, on LTE": NetworkService(circuit=Registration.HOME, technology=LTE),
    "`+CREG: 0,6` (SMS only), on LTE": NetworkService(
        circuit=Registration.SMS_ONLY_HOME, technology=LTE
    ),
    "`+CREG: 0,9`, on LTE": NetworkService(circuit=Registration.CSFB_HOME, technology=LTE),
    "`+CREG: 0,3`, `+CEREG: 0,1`": NetworkService(
        circuit=Registration.DENIED, packet=Registration.HOME, technology=LTE
    ),
    "`+CGSMS: 0`, on LTE": NetworkService(circuit=Registration.HOME, technology=LTE, way=0),
    "`+CREG: 0,1`, on 3G": NetworkService(circuit=Registration.HOME, technology=2),
}
"""What the modem says of its network when a text fails by ``+CMS ERROR: 500``."""
_HEAD: Final = """\
# Known modems

<!-- Written by `python -m proofs.modems`; change `proofs/known_modems.toml` and
`src/risala/drivers/modem/network/` instead. -->

Modems that Risala's people or others have seen at work. One that is not here works as well, if it
has AT commands and PDU mode: `risala modem doctor PORT` tells.

"""
_MODES: Final = """
## Network modes

Risala never changes a modem's mode by itself. `risala carriers ask NAME network MODE` does, and
`risala carriers ask NAME network` tells the mode. The modem keeps it. `{any_way}` sends
`{command}`: texts go by circuits, and as data where there are none.

| Modems | {modes} |
|---|{lines}|
"""
_REPORT: Final = """
## Send a report of yours

<!-- not run: needs a modem -->
```sh
risala modem report /dev/ttyUSB0
risala modem report http://192.168.8.1
risala modem report modemmanager
```

writes `modem-report.json`: by its AT port, as a HiLink stick, through ModemManager. A carrier's
name does as well. It has maker, model, firmware, registration, checks and answers; no phone number,
IMEI, IMSI, ICCID, PIN, text, answer of USSD, cell, or name of a person or a machine. A test plants
all of those. Read it, then open an issue named after the modem at the forge that hosts this
repository, attach the file, and write what works and what does not.
"""
_TEXTS: Final = """
## Texts that fail on LTE

A modem on LTE sends texts over SGs, where `+CREG` says that it is registered too, or over IMS.
Without either it shows a good signal, and each text fails. This is what a text's timeline says
after `+CMS ERROR: 500`, in the reader's language.

| Modem | What it says of its network | The sentence |
|---|---|---|
"""


def rows() -> Iterator[tuple[ModemFamily, str, str]]:
    """Each family of modems with LTE in each situation, with the sentence of a text that fails."""
    for chip in (*(each for each in CHIPS if each.modes), UNKNOWN):
        for situation, service in SITUATIONS.items():
            yield chip, situation, reason(service, chip, CARRIER, CMS[500])


def render() -> str:
    """The page."""
    modems: list[dict[str, Any]] = tomllib.loads(DATA.read_text("utf-8"))["modems"]
    known = ["| Modem | Seen | Its texts | | Where |", "|---|---|---|---|---|"]
    known += [
        f"| {each['model']} | {each['seen']} | {each['texts']} | {each['note']} | {each['where']} |"
        for each in modems
    ]
    modes = _MODES.format(
        any_way=ANY_WAY,
        command=ANY_WAY_COMMAND,
        modes=" | ".join(f"`{mode}`" for mode in MODES),
        lines="|".join("---" for _ in MODES),
    )
    for chip in CHIPS:
        commands = (f"`{chip.modes[mode]}`" if mode in chip.modes else "" for mode in MODES)
        modes += f"| {chip.name} | {' | '.join(commands)} |\n"
    return _HEAD + "\n".join(known) + "\n" + _REPORT + modes + _TEXTS + "".join(_failures())


def _failures() -> Iterator[str]:
    """Situations with one sentence are one row, and so are families with the same ones."""
    told: dict[tuple[str, str], list[str]] = {}
    for chip, situation, sentence in rows():
        told.setdefault((chip.name or "another", sentence), []).append(situation)
    same: dict[tuple[str, str], list[str]] = {}
    for (chip_name, sentence), situations in told.items():
        same.setdefault((sentence, "; ".join(situations)), []).append(chip_name)
    for (sentence, situation), chips in same.items():
        yield f"| {', '.join(chips)} | {situation} | {sentence or CMS[500].text} |\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
