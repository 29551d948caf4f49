"""The contract for plugins that add commands under ``risala``.

A command is registered by the hook ``risala_register_commands`` (see
:mod:`risala.plugins.hookspecs`), and is built at its first use. It is a click command or a group of
them; each function gets a :class:`CommandDoor` first, and has ``--data``, ``--config`` and
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
        *(
            "adjust",
            "alarm",
            "alerts",
            "approval",
            "audit",
            "audit-log",
            "backup",
            "carriers",
            "completion",
            "console",
            "answer",
            "conversation",
        ),
        *(
            "country",
            "credential",
            "demo",
            "hook",
            "doctor",
            "inbound",
            "init",
            "kept",
            "key",
            "ledger",
            "list",
            "log",
            "mailing",
            "mcp",
        ),
        *(
            "member",
            "message",
            "modem",
            "openapi",
            "org",
            "payer",
            "payment",
            "phone",
            "plugins",
            "price",
            "repeat",
            "restore",
        ),
        *(
            "retention",
            "rotate-key",
            "route",
            "search",
            "secrets",
            "send",
            "sender",
            "serve",
            "simulate",
            "tail",
        ),
        *("text", "provider", "statement", "invoice"),
        *("smpp", "standby", "topup", "trigger", "upgrade", "user", "verify", "webhook"),
    }
)
"""Names of the command line itself, which no plugin may use."""


class CommandFailedError(Exception):
    """The command cannot be done: ``str()`` is one sentence, the exit code is 1."""


class CommandDoor(Protocol):
    """A command's way to the engine and to the terminal."""

    @property
    def json(self) -> bool:
        """``--json`` was given: write only JSON to standard output."""

    def perform(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Do one operation in the running service, or else in an engine opened for it; see
        ``docs/reference/operations.md``. It is a line of the audit trail, like other commands.
        An argument of None counts as not given.

        If the engine refuses, it raises an exception that ends the command with a sentence.
        """

    def show(self, payload: Mapping[str, Any]) -> bool:
        """Print ``payload`` if JSON is wanted; return whether it was."""

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
        """Rows under headings, or ``empty`` if there are none. Control characters in cells are made
        visible."""


@dataclass(frozen=True, slots=True)
class CommandFactory:
    """How a command is built."""

    name: str
    """The word after ``risala``; not one of the command line itself."""
    build: Callable[[], click.Command]
    """Makes the command, at its first use. Import here what it needs."""
    summary: str
    """One line for ``risala --help`` and ``risala plugins``."""
