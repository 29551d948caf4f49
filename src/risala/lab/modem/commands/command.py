"""The definition of a command: the effect of each of its four forms, or a row of settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from risala.lab.modem.at.replies import CommandError, Reply, Rows
from risala.lab.modem.at.settings import NumberSetting
from risala.lab.modem.at.syntax import CommandArguments, Form, Invocation
from risala.lab.modem.modem_state import ModemCore


@dataclass(frozen=True, slots=True)
class CommandForms:
    """The effect of each form of a command. A form that is None is refused; ``=?`` may have an
    empty answer (27.007 §4.1)."""

    execute: Callable[[ModemCore], Reply] | None = None
    read: Callable[[ModemCore], Rows] | None = None
    test: Callable[[ModemCore], Reply] | None = None
    set: Callable[[ModemCore, CommandArguments], Reply] | None = None

    def run(self, modem: ModemCore, call: Invocation) -> Reply:
        match call.form:
            case Form.TEST:
                return self.test(modem) if self.test else ()
            case Form.SET if self.set:
                return self.set(modem, call.arguments)
            case Form.READ if self.read:
                return self.read(modem)
            case Form.EXECUTE if self.execute:
                return self.execute(modem)
            case Form.EXECUTE if self.set and not self.read:
                return self.set(modem, call.arguments)
            case _:
                raise CommandError


def says(*rows: str) -> Callable[[Any], Rows]:
    """A form whose answer is always the same."""
    return lambda _: rows


def accepted(*_: object) -> Rows:
    """A form that is taken and has no effect here."""
    return ()


def setting_command(setting: NumberSetting) -> CommandForms:
    """A command that sets a number, reads it back, and lists its possible values."""
    allowed = ",".join(f"({each})" for each in setting.allowed)
    return CommandForms(
        read=lambda modem: (f"{setting.name}: {modem.settings.text(setting.name)}",),
        test=says(f"{setting.name}: {allowed}"),
        set=lambda modem, arguments: modem.settings.set(setting, arguments),
    )
