"""Numbers that are set, read back, and forgotten at a restart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from risala.lab.modem.at.replies import CommandError, Rows
from risala.lab.modem.at.syntax import CommandArguments


@dataclass(frozen=True, slots=True)
class NumberSetting:
    """Numbers that are set, read back, and forgotten at a restart: ``+CSDH: (0,1)``."""

    name: str
    allowed: tuple[str, ...]
    """The possible values of each field, as in the answer to ``=?``: ``0-2,4``."""
    defaults: tuple[int, ...]


def numbers_of(allowed: str) -> frozenset[int]:
    """The numbers that a list of ranges means: ``0-2,4`` is 0, 1, 2 and 4."""
    found: set[int] = set()
    for piece in allowed.split(","):
        low, dash, high = piece.partition("-")
        found |= set(range(int(low), int(high if dash else low) + 1))
    return frozenset(found)


class NumberSettings:
    """The values of all settings."""

    def __init__(self, settings: Iterable[NumberSetting]) -> None:
        self._defaults = {each.name: list(each.defaults) for each in settings}
        self._values: dict[str, list[int]] = {}
        self.reset()

    def reset(self) -> None:
        """Set everything to its default, as ATZ and a restart do."""
        self._values = {name: list(defaults) for name, defaults in self._defaults.items()}

    def __getitem__(self, name: str) -> list[int]:
        return self._values[name]

    def text(self, name: str) -> str:
        return ",".join(map(str, self._values[name]))

    def set(self, setting: NumberSetting, arguments: CommandArguments) -> Rows:
        """Set the fields that are given; the others stay. Raises :class:`CmeError` for a value that
        is not allowed."""
        if len(arguments) > len(setting.allowed):
            raise CommandError
        old = self._values[setting.name]
        new = [
            arguments.number(at, old[at], numbers_of(setting.allowed[at]))
            for at in range(len(setting.allowed))
        ]
        self._values[setting.name] = new
        return ()
