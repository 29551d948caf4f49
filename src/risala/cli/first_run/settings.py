"""The answers of the first run and the settings: what stands, and what is to be written."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from risala.cli.reach.refused import CommandRefused
from risala.config.faults import ConfigError
from risala.config.files.secrets_file import read_secrets, secrets_path, with_secrets
from risala.config.files.toml_edit import Change, EditRefused, edited
from risala.config.load import load_settings
from risala.config.template import render_template
from risala.engine.model.records.payer import CUSTOMERS, SELF
from risala.http.first_run.questions import MODEM, SMPP, TRIAL
from risala.http.first_run.reading import NO, YES, Answers
from risala.sms.currencies import currency_of

Tree = dict[str, Any]
_DRIVERS: Final = {SMPP: "smpp", MODEM: "modem", TRIAL: "loopback"}
_TRIAL_NAME: Final = "trial"
_MODEM_RATE: Final = 0.2
"""One part in five seconds: networks block SIMs that send faster for long."""
_PLAIN: Final = {
    "payer": ("billing", "payer"),
    "parts_per_day": ("billing", "self_parts_per_day"),
    "currency": ("service", "currency"),
    "price": ("pricing", "per_segment"),
    "sender": ("service", "default_sender"),
    "public_url": ("http", "public_url"),
    "port": ("http", "port"),
    "mail_host": ("mail", "host"),
    "mail_port": ("mail", "port"),
    "mail_security": ("mail", "security"),
    "mail_user": ("mail", "user"),
    "mail_sender": ("mail", "sender"),
}
"""Answers that are one setting each."""
_OF_CARRIER: Final = {
    SMPP: {
        "smpp_host": "host",
        "smpp_port": "port",
        "smpp_system_id": "system_id",
        "smpp_tls": "tls",
    },
    MODEM: {"modem_port": "port"},
    TRIAL: {},
}
"""Answers that are one key each of the driver's table."""
_SECRETS: Final = {SMPP: ("smpp_password", "password"), MODEM: ("modem_pin", "pin")}
_NUMBERS: Final = frozenset({"port", "mail_port", "smpp_port", "parts_per_day"})
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


@dataclass(slots=True)
class SettingsFile:
    """A settings file, there or not yet, with the passwords beside it."""

    path: Path
    text: str = field(default="", repr=False)
    """Empty: there is no file."""
    tree: Tree = field(default_factory=dict, repr=False)
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

    def present_answers(self) -> dict[str, str]:
        """The answers that the file has already; empty for a new file."""
        found: dict[str, str] = {}
        countries = self.tree.get("numbers", {}).get("countries")
        if countries:
            found["country"] = str(countries[0])
        for name, (section, key) in _PLAIN.items():
            value = self.tree.get(section, {}).get(key)
            if value is not None:
                found[name] = str(value)
        if found.get("price") == _FREE:  # nobody pays
            del found["price"]
        elif "price" in found:
            found.setdefault("payer", CUSTOMERS)  # as the service reads a file that does not say
        found |= self._present_carrier()
        password = self._secret(self.tree.get("mail", {}), "password")
        if password:
            found["mail_password"] = password
        return found

    def _present_carrier(self) -> dict[str, str]:
        number = self._carrier()
        if number is None:
            return {}
        carrier = self._carriers[number]
        kind = next(kind for kind, driver in _DRIVERS.items() if driver == carrier.get("driver"))
        table = carrier.get(_DRIVERS[kind], {})
        found = {"carrier": kind, "carrier_name": str(carrier.get("name", ""))}
        for name, key in _OF_CARRIER[kind].items():
            value = table.get(key)
            if value is not None:
                found[name] = (YES if value else NO) if isinstance(value, bool) else str(value)
        if kind == SMPP and "rate_per_s" in carrier:
            found["smpp_rate"] = f"{carrier.get('rate_per_s'):g}"
        if kind in _SECRETS:
            name, key = _SECRETS[kind]
            secret = self._secret(table, key)
            if secret:
                found[name] = secret
        return found

    @property
    def _carriers(self) -> list[Tree]:
        found: list[Tree] = self.tree.get("carriers", [])
        return found

    def _secret(self, table: Mapping[str, Any], key: str) -> str:
        variable = str(table.get(f"{key}_env", ""))
        return str(table.get(key) or os.environ.get(variable) or self.secrets.get(variable, ""))

    def _carrier(self, kind: str | None = None) -> int | None:
        """The carrier that the answers are about: the first one that is on, or of a kind."""
        carriers = self._carriers
        wanted = _DRIVERS.values() if kind is None else (_DRIVERS[kind],)
        found = [n for n, each in enumerate(carriers) if each.get("driver") in wanted]
        on = [n for n in found if carriers[n].get("enabled", True)]
        return next(iter(on if kind is None else on or found), None)

    @property
    def _reference(self) -> Path:
        return self.path.with_name(f"{self.path.stem}{REFERENCE}{self.path.suffix}")

    # -- what is to be written

    def changes(
        self, answers: Answers, data: Path | None = None
    ) -> tuple[list[Change], dict[str, str]]:
        """The settings that these answers change, and the passwords, by the variables' names.

        Args:
            data: the data directory, where it is an answer too.
        """
        changes: list[Change] = []
        secrets: dict[str, str] = {}
        countries = self.tree.get("numbers", {}).get("countries", [])
        if not countries or countries[0] != answers.get("country", ""):
            others = countries if answers.get("country", "") in countries else countries[1:]
            rest = [each for each in others if each != answers.get("country", "")]
            changes.append((("numbers", "countries"), [answers.get("country", ""), *rest]))
        if data is not None:
            self._plain(changes, ("storage", "data_dir"), str(data))
        present = self.present_answers()
        for name, path in _PLAIN.items():
            if name in answers and answers[name] != present.get(name):
                self._plain(changes, path, _value(name, answers[name]))
        self._money_changes(answers, changes)
        self._carrier_changes(answers, changes, secrets)
        if answers.get("mail_password") and answers.get("mail_host"):
            where = (("mail",), self.tree.get("mail", {}), "password")
            self._keep(answers.get("mail_password", ""), where, "MAIL_PASSWORD", changes, secrets)
        return changes, secrets

    def _money_changes(self, answers: Answers, changes: list[Change]) -> None:
        """What follows from who pays: when a balance is low; and a currency also where nobody pays,
        because it cannot change later."""
        pricing = self.tree.get("pricing", {})
        if answers.get("payer") == SELF:
            if "currency" not in self.tree.get("service", {}):
                changes.append((("service", "currency"), currency_of(answers.get("country", ""))))
            if "per_segment" not in pricing:
                changes.append((("pricing", "per_segment"), _FREE))
            if "low_balance" not in pricing:
                changes.append((("pricing", "low_balance"), _FREE))
            return
        is_first_price = pricing.get("per_segment", _FREE) == _FREE
        if is_first_price and pricing.get("low_balance", _FREE) == _FREE and answers.get("price"):
            low = Decimal(answers.get("price", "")) * _LOW_PARTS
            changes.append((("pricing", "low_balance"), f"{low:f}"))

    def _plain(self, changes: list[Change], path: tuple[str, str], value: object) -> None:
        standing = self.tree.get(path[0], {}).get(path[1])
        if value == "":
            value = None
        if value != standing:
            changes.append((path, value))

    def _carrier_changes(
        self, answers: Answers, changes: list[Change], secrets: dict[str, str]
    ) -> None:
        kind = answers.get("carrier", "")
        before, number = self._carrier(), self._carrier(kind)
        if before is not None and before != number:
            changes.append((("carriers", before, "enabled"), False))
        name = answers.get("carrier_name") or _TRIAL_NAME
        table = {key: _value(asked, answers[asked]) for asked, key in _OF_CARRIER[kind].items()}
        if number is None:
            number = len(self._carriers)
            new: Tree = {"name": name, "driver": _DRIVERS[kind], **_rate(kind, answers)}
            if table:
                new[_DRIVERS[kind]] = table
            changes.append((("carriers", number), new))
            standing: Tree = {}
        else:
            standing = self._carriers[number]
            wanted: Tree = {"name": name, **(_rate(kind, answers) if kind == SMPP else {})}
            if not standing.get("enabled", True):
                wanted |= {"enabled": True}
            at = ("carriers", number)
            changes += [((*at, k), v) for k, v in wanted.items() if standing.get(k) != v]
            inner = standing.get(_DRIVERS[kind], {})
            inside = (*at, _DRIVERS[kind])
            changes += [((*inside, k), v) for k, v in table.items() if inner.get(k, False) != v]
        if kind in _SECRETS and answers.get(_SECRETS[kind][0]):
            asked, key = _SECRETS[kind]
            variable = f"{re.sub('[^A-Z0-9]', '_', name.upper())}_{key.upper()}"
            variable = variable if variable[0].isalpha() else f"_{variable}"
            here = ("carriers", number, _DRIVERS[kind])
            where = (here, standing.get(_DRIVERS[kind], {}), key)
            self._keep(answers[asked], where, variable, changes, secrets)

    def _keep(
        self,
        secret: str,
        where: tuple[tuple[str | int, ...], Mapping[str, Any], str],
        variable: str,
        changes: list[Change],
        secrets: dict[str, str],
    ) -> None:
        """Keep a password where it stands, else in the file of passwords."""
        path, table, key = where
        if self._secret(table, key) == secret:
            return
        if key in table:
            changes.append(((*path, key), secret))
            return
        name = str(table.get(f"{key}_env", variable))
        secrets[name] = secret
        if f"{key}_env" not in table:
            changes.append(((*path, f"{key}_env"), name))

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
        try:
            text = edited(self.text or _HEAD.format(reference=self._reference.name), changes)
            if changes or not self.text:
                replace_file(self.path, text, group=True, check=check_settings)
            if not self.text:
                replace_file(self._reference, render_template(), group=True)
            if secrets:
                place = secrets_path(self.path)
                before = place.read_text(encoding="utf-8") if place.exists() else ""
                replace_file(place, with_secrets(before, secrets), group=False)
                os.environ.update(secrets)  # for the service, should it be our child
        except ConfigError as error:
            raise CommandRefused(f"{self.path} is unchanged. {error}") from None
        except EditRefused as refused:
            raise CommandRefused(f"{self.path} is unchanged. {refused}") from None
        except OSError as error:
            name = error.filename or self.path
            raise CommandRefused(f"{name} cannot be written: {error.strerror}.") from None
        return changes, secrets


def _value(name: str, text: str) -> object:
    if name in _NUMBERS and text:
        return int(text)
    return text == YES if name == "smpp_tls" else text


def _rate(kind: str, answers: Answers) -> Tree:
    if kind == TRIAL:
        return {}
    found = _MODEM_RATE if kind == MODEM else float(answers.get("smpp_rate", ""))
    return {"rate_per_s": int(found) if found.is_integer() else found}


# Putting a file of settings or passwords in the place of another, at once.

_ROOT: Final = 0
"""The number of root, and of root's group."""
_SECRET_MODE: Final = 0o600
_GROUP_MODE: Final = 0o640


def check_settings(draft: Path) -> None:
    """Read a new file of settings.

    Raises:
        ConfigError: it cannot be used.
    """
    load_settings(draft, environ={})


def _unchecked(_: Path) -> None:
    """For a file of passwords, in which nothing can be checked."""


def replace_file(
    path: Path, text: str, *, group: bool, check: Callable[[Path], None] = _unchecked
) -> None:
    """Put a file in the place of another at once, with the same owner and no wider rights.

    Args:
        group: a file of root's may be read by the group of its folder: the service's own.
        check: called with the new file before it takes the place; what it raises leaves the old
            one.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            mode, owner = _rights(path, group=group)
            os.fchmod(file.fileno(), mode)
            if os.geteuid() == _ROOT:
                os.fchown(file.fileno(), *owner)
            file.flush()
            os.fsync(file.fileno())
        check(draft)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _rights(path: Path, *, group: bool) -> tuple[int, tuple[int, int]]:
    """The mode, and the owner with the group."""
    folder = path.parent.stat()
    is_shared = group and os.geteuid() == _ROOT and folder.st_gid != _ROOT
    try:
        there = path.stat()
    except FileNotFoundError:
        if is_shared:
            return _GROUP_MODE, (_ROOT, folder.st_gid)
        return _SECRET_MODE, (os.geteuid(), os.getegid())
    mode = stat.S_IMODE(there.st_mode)
    if not group:
        return mode & _SECRET_MODE, (there.st_uid, there.st_gid)
    if is_shared and mode & stat.S_IROTH:
        return _GROUP_MODE, (there.st_uid, folder.st_gid)
    # In a folder of root's alone the service can read only what everybody can.
    is_open = os.geteuid() == _ROOT and not is_shared
    return mode if is_open else mode & _GROUP_MODE, (there.st_uid, there.st_gid)
