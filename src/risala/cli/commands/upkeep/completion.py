"""Completion of commands and options by the shell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click
from click.shell_completion import get_completion_class

from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

_VARIABLE: Final = "_RISALA_COMPLETE"
"""The shell sets it for a run of `risala` that only lists completions."""
_MARK: Final = "# Written by `risala completion`, which may write over it."


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.option("--install", is_flag=True, help="Write it where the shell looks for it.")
@click.pass_context
def completion(context: click.Context, shell: str, install: bool) -> None:
    """Print the shell completion for commands and options, or install it.

    Names of organizations and carriers are not completed: to ask for them would leave a line in the
    audit trail at each press of the key.

    \b
    Examples:
      risala completion bash --install
      eval "$(risala completion zsh)"
    """
    script = _script(context.find_root().command, shell)
    if not install:
        click.echo(script, nl=False)
        return
    path = _path(shell)
    _write(path, script)
    output.said(f"Wrote {path}. It works in every new {shell}.{_more(shell, path)}")


def _script(command: click.Command, shell: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise CommandRefused(f"There is no completion for {shell}.")
    # Not kind.source(): it asks the installed bash for its version, and this may be for another.
    made = kind(command, {}, "risala", _VARIABLE)
    first, _, rest = (made.source_template % made.source_vars()).lstrip().partition("\n")
    # zsh wants its #compdef in the first line.
    head = (first, _MARK) if first.startswith("#compdef") else (_MARK, first)
    return "\n".join((*head, rest.rstrip())) + "\n"


def _path(shell: str) -> Path:
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return {
        "bash": data / "bash-completion/completions/risala",
        "zsh": data / "zsh/site-functions/_risala",
        "fish": config / "fish/completions/risala.fish",
    }[shell]


def _more(shell: str, path: Path) -> str:
    if shell == "bash":
        return " Debian's package bash-completion reads it."
    if shell == "zsh":
        return f" Before compinit in .zshrc there must be: fpath=({path.parent} $fpath)"
    return ""


def _write(path: Path, script: str) -> None:
    """Raises :class:`CommandRefused` if a foreign file is in the way."""
    try:
        if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace"):
            raise CommandRefused(
                f"{path} already exists and was not written by Risala. It was not changed."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as error:
        raise CommandRefused(f"{path} cannot be written: {error.strerror}.") from error
