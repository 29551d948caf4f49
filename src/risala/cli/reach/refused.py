"""How a command says no.

::

    CommandRefused  exit code 1 and one sentence on stderr; click's own UsageError is exit code 2
"""

from __future__ import annotations

from typing import IO, Any

import click


class CommandRefused(click.ClickException):
    """The command was understood and cannot be done."""

    def show(self, file: IO[Any] | None = None) -> None:
        text = click.style(self.message, fg="red")
        click.echo(text, file=file, err=file is None, color=self.show_color)
