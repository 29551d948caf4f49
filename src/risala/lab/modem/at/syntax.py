"""Command lines taken apart (V.250 §5.2 to §5.4, 27.007 §4). Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from risala.lab.modem.at.replies import Cme, CmeError, CommandError, Rows

INVOCATIONS_MAX: Final = 40
"""Commands on one line; the line itself is bounded by its reader."""

_basic: Final = re.compile(r"(&?[A-Z])(?:=|(\?)|)([0-9]*)", re.IGNORECASE).match
_s_register: Final = re.compile(r"S([0-9]{1,3})(\?|=([0-9]*))?", re.IGNORECASE).match
_extended: Final = re.compile(r"([+^*$%#][A-Z0-9_]+)((?:=\?|\?|=)?)", re.IGNORECASE).match
_semicolon: Final = re.compile(r'((?:"[^"]*"?|[^";])*);?').match


class Form(Enum):
    EXECUTE = auto()
    """``AT+X``, and every basic command."""
    READ = auto()
    """``AT+X?``"""
    TEST = auto()
    """``AT+X=?``"""
    SET = auto()
    """``AT+X=…``"""


class CommandArguments(tuple[str, ...]):
    """The arguments behind ``=``: unquoted, empty if left out."""

    __slots__ = ()

    def text(self, at: int, default: str = "") -> str:
        return self[at] if at < len(self) and self[at] else default

    def number(
        self, at: int, default: int | None = None, allowed: Container[int] | None = None
    ) -> int:
        """The number at a place, or ``default`` if it is left out.

        Raises:
            CmeError: it is no number, not among ``allowed``, or is left out without a default.
        """
        text = self.text(at)
        if not text and default is not None:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise CmeError(Cme.INCORRECT_PARAMETERS)
        if allowed is not None and int(text) not in allowed:
            raise CmeError(Cme.INCORRECT_PARAMETERS)
        return int(text)


_NONE: Final = CommandArguments()


@dataclass(frozen=True, slots=True)
class Invocation:
    """One command of a line."""

    name: str
    """The command's name in capitals: ``+CMGS``, ``E``, ``&F``, ``S3``; ``D`` for a call."""
    form: Form
    arguments: CommandArguments = _NONE

    @property
    def text(self) -> str:
        """The command as it was written, in capitals: ``AT+CSQ``, ``ATE0``."""
        if self.form is Form.SET:
            joined = ",".join(self.arguments)
            return f"AT{self.name}{'=' if self.name[0] in '+^*$%#' else ''}{joined}"
        return f"AT{self.name}{ {Form.READ: '?', Form.TEST: '=?'}.get(self.form, '') }"


def invocations(line: str) -> list[Invocation]:
    """The commands of a line, without its ``AT``.

    Raises:
        CommandError: it is no command line.
    """
    commands: list[Invocation] = []
    rest = line.strip()
    while rest:
        if len(commands) >= INVOCATIONS_MAX:
            raise CommandError
        invocation, rest = _first(rest)
        commands.append(invocation)
        rest = rest.lstrip(" ;")
    return commands


def _first(text: str) -> tuple[Invocation, str]:
    if text[0] in "Dd":
        dialled = _semicolon(text)
        assert dialled is not None
        number = dialled[1][1:].strip()
        return Invocation("D", Form.SET, CommandArguments((number,))), text[dialled.end() :]
    if register := _s_register(text):
        return _register(register), text[register.end() :]
    if extended := _extended(text):
        return _one_extended(extended, text)
    if basic := _basic(text):
        form = Form.READ if basic[2] else Form.SET if basic[3] else Form.EXECUTE
        arguments = CommandArguments((basic[3],)) if basic[3] else _NONE
        return Invocation(basic[1].upper(), form, arguments), text[basic.end() :]
    raise CommandError


def _register(match: re.Match[str]) -> Invocation:
    name = f"S{int(match[1])}"
    if match[2] == "?":
        return Invocation(name, Form.READ)
    return Invocation(name, Form.SET, CommandArguments((match[3] or "0",)))


def _one_extended(match: re.Match[str], text: str) -> tuple[Invocation, str]:
    name, sign, rest = match[1].upper(), match[2], text[match.end() :]
    value = _semicolon(rest)
    assert value is not None
    rest = rest[value.end() :]
    if sign == "=":
        return Invocation(name, Form.SET, arguments_of(value[1])), rest
    if value[1].strip():
        raise CommandError
    form = {"?": Form.READ, "=?": Form.TEST, "": Form.EXECUTE}[sign]
    return Invocation(name, form), rest


_argument: Final = re.compile(r'\s*(?:"([^"]*)"?|([^,]*))\s*(?:,|$)').match


def arguments_of(text: str) -> CommandArguments:
    """``1,"a,b",,3`` is ``1``, ``a,b``, nothing, ``3``."""
    arguments: list[str] = []
    at = 0
    while at < len(text):
        match = _argument(text, at)
        if match is None:
            raise CommandError
        arguments.append(match[1] if match[1] is not None else (match[2] or "").strip())
        at = match.end()
    if text.endswith(","):
        arguments.append("")
    return CommandArguments(arguments)


# Numbers that are set, read back, and forgotten at a restart.


@dataclass(frozen=True, slots=True)
class NumberSetting:
    """Numbers that are set, read back, and forgotten at a restart: ``+CSDH: (0,1)``."""

    name: str
    allowed: tuple[str, ...]
    """The possible values of each field, as in the answer to ``=?``: ``0-2,4``."""
    defaults: tuple[int, ...]


def numbers_of(allowed: str) -> frozenset[int]:
    """The numbers that a list of ranges means: ``0-2,4`` is 0, 1, 2 and 4."""
    numbers: set[int] = set()
    for piece in allowed.split(","):
        low, dash, high = piece.partition("-")
        numbers |= set(range(int(low), int(high if dash else low) + 1))
    return frozenset(numbers)


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
