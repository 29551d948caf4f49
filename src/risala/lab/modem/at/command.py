"""How a command is written down: what it does in each of its four forms, or a row of settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from risala.lab.modem.at.replies import CommandError, Reply, Rows
from risala.lab.modem.at.syntax import Arguments, Form, Invocation

if TYPE_CHECKING:
    from risala.lab.modem.modem import SimulatedModem


@dataclass(frozen=True, slots=True)
class Command:
    """A form that is left out is refused; ``=?`` without an answer is OK (27.007 §4.1)."""

    execute: Callable[[SimulatedModem], Reply] | None = None
    read: Callable[[SimulatedModem], Rows] | None = None
    test: Callable[[SimulatedModem], Reply] | None = None
    set: Callable[[SimulatedModem, Arguments], Reply] | None = None

    def run(self, modem: SimulatedModem, call: Invocation) -> Reply:
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
    """The same whatever happens."""
    return lambda _: rows


def accepted(*_: object) -> Rows:
    """Taken, and without effect here."""
    return ()


@dataclass(frozen=True, slots=True)
class Setting:
    """Numbers that are set, read back, and forgotten at a restart: ``+CSDH: (0,1)``."""

    name: str
    allowed: tuple[str, ...]
    """Of each field, as ``=?`` tells it: ``0-2,4``."""
    defaults: tuple[int, ...]
    is_radio: bool = False
    """Read with the registration behind it."""

    @property
    def command(self) -> Command:
        return Command(
            read=lambda modem: (f"{self.name}: {modem.settings.text(self.name)}",),
            test=says(f"{self.name}: {','.join(f'({each})' for each in self.allowed)}"),
            set=lambda modem, arguments: modem.settings.set(self, arguments),
        )


def numbers_of(allowed: str) -> frozenset[int]:
    """``0-2,4`` is 0, 1, 2 and 4."""
    found: set[int] = set()
    for piece in allowed.split(","):
        low, dash, high = piece.partition("-")
        found |= set(range(int(low), int(high if dash else low) + 1))
    return frozenset(found)


class Settings:
    """The values of all settings."""

    def __init__(self, settings: Iterable[Setting]) -> None:
        self._defaults = {each.name: list(each.defaults) for each in settings}
        self._values: dict[str, list[int]] = {}
        self.reset()

    def reset(self) -> None:
        """As ATZ and a restart do."""
        self._values = {name: list(defaults) for name, defaults in self._defaults.items()}

    def __getitem__(self, name: str) -> list[int]:
        return self._values[name]

    def text(self, name: str) -> str:
        return ",".join(map(str, self._values[name]))

    def set(self, setting: Setting, arguments: Arguments) -> Rows:
        """What is left out stays. Raises :class:`CmeError` for a value that is not allowed."""
        if len(arguments) > len(setting.allowed):
            raise CommandError
        old = self._values[setting.name]
        new = [
            arguments.number(at, old[at], numbers_of(setting.allowed[at]))
            for at in range(len(setting.allowed))
        ]
        self._values[setting.name] = new
        return ()
