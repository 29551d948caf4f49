"""Tables of settings in the reference, from the fields: ``python -m proofs.settings``.

The drivers' settings, and those of the simulators: each field with its default and the docstring
below it. Also the programs that hooks have presets for. ``tests/docs/test_settings.py`` compares.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Final

from pydantic import BaseModel, SecretStr

from risala.drivers.hilink.settings import HilinkSettings
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.settings import ModemSettings, UssdBalance
from risala.drivers.payments.mobile_money import BankPattern, BankSmsSettings, MobileMoneySettings
from risala.drivers.payments.stripe import StripeSettings
from risala.drivers.phone.settings import PhoneSettings
from risala.drivers.smpp.settings import OutbindSettings, SmppSettings
from risala.engine.features.hooks.rules.presets import Preset, presets
from risala.lab.hilink.actions import HELP as HILINK_LINES
from risala.lab.modem.script.actions import HELP as MODEM_LINES
from risala.lab.modem.world.config import ModemConfig
from risala.lab.phone.actions import HELP as PHONE_LINES
from risala.lab.smsc.config import SimulatorConfig

REFERENCE: Final = Path(__file__).parents[1] / "docs/reference"
_HOW: Final = {"run": "run here", "source": "by its source"}
_WRITTEN: Final = "<!-- Written by `python -m proofs.settings`; change {where} instead. -->"
_DRIVERS: Final = f"""\
# Settings of carriers' drivers

{_WRITTEN.format(where="`src/risala/drivers/`")}

The tables that stand beneath `[[carriers]]`. What the words mean in use is told by each driver's
page: [SMPP](smpp-settings.md), [modem](modem-driver.md), [HiLink](hilink-driver.md),
[phone](phone-driver.md); an [aggregator](http-driver.md) has a page of its own. An unknown key is a
fault. A password, PIN or token is given by the name of a variable: the key and `_env`.
"""
_PAYMENTS: Final = f"""\
# Settings of payment methods

{_WRITTEN.format(where="`src/risala/drivers/payments/`")}

The tables of the built-in [payment methods](payment-methods.md), which tells what they mean in use.
"""
_SIMULATORS: Final = f"""\
# Settings of the simulators

{_WRITTEN.format(where="`src/risala/lab/`")}

For programs and tests that start the [SMSC simulator](smsc-simulator.md) or the [modem
simulator](modem-simulator.md) themselves; a scenario may set many of them. What is typed to a
simulator while it runs stands below.
"""
_LINES: Final = """
## Lines of the {kind} simulator

What is typed to it, one a line; `help` prints the same.

| Line | |
|---|---|
"""
_PROGRAMS: Final = f"""\
# Programs with a preset

{_WRITTEN.format(where="`src/risala/engine/features/hooks/rules/`")}

[Presets of hooks](hook-presets.md) tells what they mean. Each is tried by a request as the program
makes it, and by what the program checks of the answer. "Run here": the tests start that program
too, as its page says, and look at the phone (`tests/flows/connect`). "By its source": that request
is written from the version that is named, or from its documentation.

`code`: the message is a [code](verification-states.md), and Verify's limits apply. "Its own
numbers": those of the hook, up to 20.

| Program | Preset | Sends | To | Proofs, the first by default | Read | |
|---|---|---|---|---|---|---|
"""


def render_drivers() -> str:
    """The settings of the drivers."""
    return _DRIVERS + "".join(
        _section(title, model)
        for title, model in (
            ("`[carriers.smpp]`", SmppSettings),
            ("`[carriers.smpp.outbind]`", OutbindSettings),
            ("`[carriers.modem]`", ModemSettings),
            ("`[carriers.modem.ussd_balance]`", UssdBalance),
            ("`[carriers.modemmanager]`", ModemManagerSettings),
            ("`[carriers.hilink]`", HilinkSettings),
            ("`[carriers.phone]`", PhoneSettings),
        )
    )


def render_payments() -> str:
    """The settings of the built-in payment methods."""
    return _PAYMENTS + "".join(
        _section(title, model)
        for title, model in (
            ("Mobile money", MobileMoneySettings),
            ("The bank's SMS", BankSmsSettings),
            ("A pattern of the bank's texts", BankPattern),
            ("`[payments.stripe]`", StripeSettings),
        )
    )


def render_simulators() -> str:
    """The settings of the simulators."""
    return (
        _SIMULATORS
        + _section("`SimulatorConfig`", SimulatorConfig)
        + _section("`ModemConfig`", ModemConfig)
        + _lines("modem", MODEM_LINES)
        + _lines("HiLink", HILINK_LINES)
        + _lines("phone", PHONE_LINES)
    )


def _lines(kind: str, told: Mapping[str, str]) -> str:
    """What is typed to a simulator while it runs."""
    escaped = ((line.replace("|", "\\|"), text) for line, text in told.items())
    rows = (f"| `{line}` | {text} |\n" for line, text in escaped)
    return _LINES.format(kind=kind) + "".join(rows)


def render_programs() -> str:
    """The programs whose requests hooks take."""
    return _PROGRAMS + "".join(f"{program_row(each)}\n" for each in presets())


def program_row(each: Preset) -> str:
    """The line of one preset."""
    to = "its own numbers" if each.to == "fixed" else "the request's number"
    proofs = ", ".join(f"`{proof}`" for proof in each.proofs)
    read, how = ("", "")
    if each.tried is not None:
        read, how = f"{each.tried.version}, {each.tried.at}", _HOW[each.tried.how]
    cells = [each.title, f"`{each.name}`", each.sends, to, proofs, read, how]
    return re.sub(" +", " ", f"| {' | '.join(cells)} |")


def _section(title: str, model: type) -> str:
    meanings, defaults = dict(_below(model)), dict(_defaults(model))
    rows = "".join(
        f"| `{name}` | {default} | {meanings[name]} |\n" for name, default in defaults.items()
    )
    told = " ".join((model.__doc__ or "").partition("\n\n")[0].split()).replace("``", "`")
    head = f"\n{told}\n" if told and not told.startswith(model.__name__) else ""
    return f"\n## {title}\n{head}\n| Setting | Default | |\n|---|---|---|\n{rows}"


def _below(model: type) -> Iterator[tuple[str, str]]:
    """The docstrings below the fields, as Markdown."""
    tree = ast.parse(dedent(inspect.getsource(model))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for pair in pairwise(tree.body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                text = " ".join(inspect.cleandoc(words).split()).replace("``", "`")
                text = re.sub(r":\w+:`(?:~[\w.]*\.)?([^`]+)`", r"`\1`", text)
                yield name, text.replace("|", "\\|")


def _defaults(model: type) -> Iterator[tuple[str, str]]:
    if issubclass(model, BaseModel):
        for name, field in model.model_fields.items():
            yield name, "required" if field.is_required() else _shown(field.get_default())
        return
    assert dataclasses.is_dataclass(model)
    for each in dataclasses.fields(model):
        made = each.default_factory
        value = each.default if made is dataclasses.MISSING else made()
        yield each.name, "required" if value is dataclasses.MISSING else _shown(value)


def _shown(value: object) -> str:
    """A default as people write it; nothing where there is none."""
    match value:
        case bool():
            text = str(value).lower()
        case Enum():
            text = str(value.value)
        case SecretStr() | None:
            text = ""
        case int() | float():
            text = f"{value:,.10g}".replace(",", "")
        case str():
            text = value
        case Mapping():
            text = json.dumps(dict(value), ensure_ascii=False) if value else ""
        case _:
            text = getattr(value, "name", "")
    return f"`{text}`".replace("|", "\\|") if text else ""


PAGES: Final = {
    "carrier-settings.md": render_drivers,
    "payment-settings.md": render_payments,
    "simulator-settings.md": render_simulators,
    "hook-programs.md": render_programs,
}


def main() -> None:
    """Write the pages."""
    for name, render in PAGES.items():
        (REFERENCE / name).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
