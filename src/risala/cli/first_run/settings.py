"""The answers of the first run and the settings: what stands, and what is to be written."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final

from risala.cli.reach.refused import CommandRefused
from risala.config.faults import ConfigError
from risala.config.files.replacing import replace_file
from risala.config.files.secrets_file import read_secrets, secrets_path, with_secrets
from risala.config.files.toml_edit import Change, EditRefused, edited
from risala.config.load import load_settings
from risala.config.template import render_template
from risala.engine.model.records.ledger import CUSTOMERS, SELF
from risala.http.first_run.answers import NO, YES, Answers, rate, yes_or_no
from risala.http.first_run.questions import (
    ANDROID,
    HILINK,
    HTTP,
    MODEM,
    QUESTIONS,
    SMPP,
    STEPS,
    TRIAL,
    Question,
)
from risala.sms.currencies import currency_of
from risala.sms.numbering.plan import DEFAULT

_DRIVERS: Final = {
    ANDROID: "phone",
    HILINK: "hilink",
    SMPP: "smpp",
    HTTP: "http",
    MODEM: "modem",
    TRIAL: "loopback",
}
_MODEM_RATE: Final = 0.2
"""One part in five seconds: networks block SIMs that send faster for long."""
_LOW_PARTS: Final = 5
"""Parts that a balance is enough for when it is called low: a quarter of what a new organization
gets."""
_FREE: Final = "0"
REFERENCE: Final = ".reference"
"""Before the ending of the file beside the settings that explains all of them."""
_HEAD: Final = """\
# The settings of Risala, as `risala init` asked for them. {reference}
# explains all others. Passwords are in the file `secrets` beside this one.
"""
_OF_CARRIER: Final = "carriers."
_PLAIN: Final = [
    each for each in QUESTIONS.values() if each.setting and not each.setting.startswith(_OF_CARRIER)
]
_check: Final = partial(load_settings, environ={})
_Where = tuple[str | int, ...]
"""The place of a setting in the file; a number counts the carriers."""


def of_carrier(kind: str) -> list[Question]:
    """The questions that are a setting of a carrier of that kind each."""
    steps = [step for step in STEPS if step.when({"carrier": kind}) and not step.when({})]
    questions = [each for step in steps for each in step.questions]
    return [each for each in questions if each.setting.startswith(_OF_CARRIER)]


def value_of(question: Question, answers: Answers) -> object:
    """The value of its setting; None: it is not set."""
    text = answers.get(question.name)
    return question.means(text) if text else None


def text_of(value: object) -> str:
    """A value of TOML as an answer."""
    if isinstance(value, bool):
        return YES if value else NO
    return str(value)


def table_of(section: str, answers: Answers) -> dict[str, Any]:
    """What the answers are of a section, by its keys."""
    table: dict[str, Any] = {}
    for each in QUESTIONS.values():
        value = value_of(each, answers) if each.when(answers) else None
        if each.setting.startswith(f"{section}.") and value is not None:
            _set(table, each.setting.removeprefix(f"{section}.").split("."), value)
    return table


def _set(table: dict[str, Any], keys: Sequence[str], value: object) -> None:
    *outer, last = keys
    for key in outer:
        table = table.setdefault(key, {})
    table[last] = value


@dataclass(slots=True)
class SettingsFile:
    """A settings file, there or not yet, with the passwords beside it."""

    path: Path
    text: str = field(default="", repr=False)
    """Empty: there is no file."""
    tree: dict[str, Any] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, path: Path) -> SettingsFile:
        """The file as it stands.

        Raises:
            CommandRefused: it cannot be read, or is no TOML.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")
            tree = tomllib.loads(text)
        except FileNotFoundError:
            text, tree = "", {}
        except OSError as error:
            raise CommandRefused(f"{path} cannot be read: {error.strerror}.") from None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            text = f"{path} is not TOML. Mend it, or name another file. In detail: {error}"
            raise CommandRefused(text) from None
        return cls(path, text, tree, read_secrets(secrets_path(path)))

    # -- what stands

    def present_answers(self) -> dict[str, str]:
        """The answers that the file has already; empty for a new file."""
        number = self._carrier()
        if number is None:
            return self._present("", 0)
        kind = self._kind(number)
        present = {
            "country": DEFAULT.home.code,  # as the service reads a file that does not say
            "carrier": kind,
            "carrier_name": self._carriers[number].get("name", ""),
        }
        return present | self._present(kind, number)

    def _present(self, kind: str, number: int) -> dict[str, str]:
        """The answers of the file, those of a carrier of that kind too."""
        present: dict[str, str] = {}
        countries = self._at(("numbers", "countries"))
        if countries:
            present["country"] = str(countries[0])
        for each in (*_PLAIN, *of_carrier(kind)):
            where = _where(each, number)
            value = self._secret(where) or None if each.secret else self._at(where)
            if value is None and each.reads is yes_or_no and self._at(where[:-1]) is not None:
                value = False  # as it is without the setting
            if value is not None:
                present[each.name] = f"{value:g}" if each.reads is rate else text_of(value)
        if present.get("price") == _FREE:  # nobody pays
            del present["price"]
        elif "price" in present:
            present.setdefault("payer", CUSTOMERS)  # as the service reads a file that does not say
        return present

    def _at(self, where: _Where) -> Any:  # noqa: ANN401 -- a value of TOML
        """What stands there; None: nothing."""
        value: Any = self.tree
        for key in where:
            try:
                value = value[key]
            except (KeyError, IndexError):
                return None
        return value

    def _secret(self, where: _Where) -> str:
        variable = self._at(_variable_at(where)) or ""
        return str(self._at(where) or os.environ.get(variable) or self.secrets.get(variable, ""))

    @property
    def _carriers(self) -> list[dict[str, Any]]:
        carriers: list[dict[str, Any]] = self.tree.get("carriers", [])
        return carriers

    def _kind(self, number: int) -> str:
        """The kind of a carrier; empty: it has another driver."""
        driver = self._carriers[number].get("driver")
        return next((kind for kind, each in _DRIVERS.items() if each == driver), "")

    def _carrier(self, kind: str = "") -> int | None:
        """The carrier that the answers are about: the first one that is on, or of a kind."""
        kinds = [kind] if kind else [*_DRIVERS]
        numbers = [n for n in range(len(self._carriers)) if self._kind(n) in kinds]
        on = [n for n in numbers if self._carriers[n].get("enabled", True)]
        return next(iter(on or (numbers if kind else ())), None)

    # -- what is to be written

    def changes(
        self, answers: Answers, data: Path | None = None
    ) -> tuple[list[Change], dict[str, str]]:
        """The settings that these answers change, and the passwords, by the variables' names.

        Args:
            data: the data directory, where it is an answer too.
        """
        kind, before = answers.get("carrier", ""), self._carrier()
        there = self._carrier(kind)
        number = len(self._carriers) if there is None else there
        present, own = self._present(kind, number), of_carrier(kind)

        def asked(questions: Sequence[Question]) -> list[Change]:
            new = [
                (_where(each, number), value_of(each, answers))
                for each in questions
                if each.name in answers and answers[each.name] != present.get(each.name)
                if not each.secret
            ]
            return [(where, value) for where, value in new if value != self._at(where)]

        changes: list[Change] = []
        country, countries = answers.get("country", ""), self._at(("numbers", "countries")) or []
        if countries[:1] != [country]:
            others = countries if country in countries else countries[1:]
            rest = [each for each in others if each != country]
            changes.append((("numbers", "countries"), [country, *rest]))
        if data is not None and self._at(("storage", "data_dir")) != str(data):
            changes.append((("storage", "data_dir"), str(data)))
        changes += [*asked(_PLAIN), *self._money(answers)]
        called = self._called(answers, number) if kind == HTTP else []
        if before is not None and before != there:
            changes.append((("carriers", before, "enabled"), False))
        if there is None:
            new = {"name": self.carrier_name(answers), "driver": _DRIVERS[kind]}
            changes.append((("carriers", number), _table(kind, new, [*asked(own), *called])))
        else:
            changes += [*asked(own), *called]
            if not self._carriers[there].get("enabled", True):
                changes.append((("carriers", there, "enabled"), True))
        secrets: dict[str, str] = {}
        for each in (*own, *_PLAIN):
            if each.secret and each.when(answers) and answers.get(each.name):
                owner = self.carrier_name(answers) if each in own else each.setting.split(".")[0]
                self._keep(answers[each.name], _where(each, number), owner, changes, secrets)
        return changes, secrets

    def carrier_name(self, answers: Answers) -> str:
        """The name of the carrier that the answers are about. Nobody is asked for a trial's, which
        keeps its own."""
        if answers.get("carrier") != TRIAL:
            return answers.get("carrier_name", "")
        there = self._carrier(TRIAL)
        return TRIAL if there is None else str(self._at(("carriers", there, "name")))

    def _called(self, answers: Answers, number: int) -> list[Change]:
        """The address that an aggregator calls and signs, which its carrier has to know.

        Raises:
            CommandRefused: the service has no address that could be called.
        """
        from risala.drivers.http.presets import ShapeError, preset

        try:
            shape = preset(answers.get("http_preset", ""))
        except ShapeError as error:
            raise CommandRefused(f"{error}.") from None
        where = ("carriers", number, "http", "secret_address")
        if "secret_address" not in shape.needs or self._at(where) or self._at(_variable_at(where)):
            return []
        if not answers.get("public_url"):
            raise CommandRefused(
                f"Calls of {shape.title}, which say what became of a message, are signed with your"
                " public address. Begin again, and answer with one."
            )
        return [(where, f"{answers['public_url']}/carriers/{self.carrier_name(answers)}")]

    def _money(self, answers: Answers) -> list[Change]:
        """What follows from who pays: when a balance is low; and a currency also where nobody pays,
        because it cannot change later."""
        pricing = self.tree.get("pricing", {})
        if answers.get("payer") == SELF:
            usual = {
                ("service", "currency"): currency_of(answers.get("country", "")),
                ("pricing", "per_segment"): _FREE,
                ("pricing", "low_balance"): _FREE,
            }
            return [(where, value) for where, value in usual.items() if self._at(where) is None]
        is_first_price = pricing.get("per_segment", _FREE) == _FREE
        if is_first_price and pricing.get("low_balance", _FREE) == _FREE and answers.get("price"):
            low = Decimal(answers.get("price", "")) * _LOW_PARTS
            return [(("pricing", "low_balance"), f"{low:f}")]
        return []

    def _keep(
        self,
        secret: str,
        where: _Where,
        owner: str,
        changes: list[Change],
        secrets: dict[str, str],
    ) -> None:
        """Keep a password where it stands, else in the file of passwords."""
        if self._secret(where) == secret:
            return
        if self._at(where) is not None:
            changes.append((where, secret))
            return
        variable = re.sub("[^A-Z0-9]", "_", f"{owner}_{where[-1]}".upper())
        variable = variable if variable[0].isalpha() else f"_{variable}"
        name = self._at(_variable_at(where))
        secrets[str(name or variable)] = secret
        if name is None:
            changes.append((_variable_at(where), variable))

    def write(
        self, answers: Answers, data: Path | None = None
    ) -> tuple[list[Change], dict[str, str]]:
        """Write what the answers change; the changes, and the new passwords by their variables.

        Args:
            data: the data directory, where it is an answer too.

        Raises:
            CommandRefused: a file cannot be written, or is written in a way that this cannot
                change.
        """
        changes, secrets = self.changes(answers, data)
        reference = self.path.with_name(f"{self.path.stem}{REFERENCE}{self.path.suffix}")
        try:
            text = edited(self.text or _HEAD.format(reference=reference.name), changes)
            if changes or not self.text:
                replace_file(self.path, text, group=True, check=_check)
            if not self.text:
                replace_file(reference, render_template(), group=True)
            if secrets:
                beside = secrets_path(self.path)
                before = beside.read_text(encoding="utf-8") if beside.exists() else ""
                replace_file(beside, with_secrets(before, secrets), group=False)
                os.environ.update(secrets)  # for the service, should it be our child
        except (ConfigError, EditRefused) as error:
            raise CommandRefused(f"{self.path} is unchanged. {error}") from None
        except OSError as error:
            name = error.filename or self.path
            raise CommandRefused(f"{name} cannot be written: {error.strerror}.") from None
        return changes, secrets


def _where(question: Question, number: int) -> _Where:
    section, *keys = question.setting.split(".")
    return (section, number, *keys) if section == "carriers" else (section, *keys)


def _table(kind: str, table: dict[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """A new carrier with what was answered."""
    if kind in (MODEM, HILINK):
        table["rate_per_s"] = _MODEM_RATE
    for where, value in changes:
        _set(table, [str(key) for key in where[2:]], value)
    return table


def _variable_at(where: _Where) -> _Where:
    """The setting that names the variable of a password."""
    return (*where[:-1], f"{where[-1]}_env")
