"""The contract for plugins that add commands under ``risala``.

A command is registered by the hook ``risala_register_commands`` (see
:mod:`risala.plugins.hookspecs`), and is built when somebody asks for it. It is a click command or a
group of them; each function gets a :class:`CommandDoor` first, and has ``--data``, ``--config`` and
``--json`` like every command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    import click

BUILT_IN: Final = frozenset(
    {
        *("adjust", "alerts", "audit", "audit-log", "backup", "carriers", "completion"),
        *("credential", "doctor", "inbound", "init", "kept", "key", "ledger", "log", "member"),
        *("message", "modem", "openapi", "org", "payment", "plugins", "price", "restore"),
        *("retention", "rotate-key", "route", "send", "sender", "serve", "simulate", "tail"),
        *("smpp", "standby", "topup", "trigger", "upgrade", "user", "verify", "webhook"),
    }
)
"""Names of the command line's own, which no plugin may take."""


class CommandFailedError(Exception):
    """The command was understood and cannot be done: ``str()`` is one sentence, the exit code 1."""


class CommandDoor(Protocol):
    """A command's way to the engine and to the terminal."""

    @property
    def json(self) -> bool:
        """``--json`` was given: nothing but JSON goes to standard output."""

    def perform(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Do one operation, of the service that runs or, where none does, of the engine opened by
        itself; see ``docs/reference/operations.md``. It is a line of the audit trail, like those of
        other commands. Arguments that are None count as not given.

        Raises whatever ends the command with a sentence where the engine refuses.
        """

    def show(self, payload: Mapping[str, Any]) -> bool:
        """Print ``payload`` where JSON is wanted; whether it was."""

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
        """Rows under headings; ``empty`` is said where there are none. Control characters in cells
        are made visible."""


@dataclass(frozen=True, slots=True)
class CommandFactory:
    """How a command is built."""

    name: str
    """The word after ``risala``; none of the command line's own."""
    build: Callable[[], click.Command]
    """Makes the command, at its first use. Import here what it needs."""
    summary: str
    """One line for ``risala --help`` and ``risala plugins``."""
