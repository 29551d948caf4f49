"""``risala mcp``: tools for an agent on stdin and stdout, which asks a service over HTTP."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from risala.cli.reach.refused import CommandRefused

MESSAGES_MAX: Final = 1000
"""The highest cap of a live run: who sends more has a program for it."""
KEY_CHARACTERS_MAX: Final = 200
"""A key has some forty; a file with more is another one."""
_LIVE: Final = "sk_live_"
_TEST: Final = "sk_test_"


@click.command("mcp")
@click.option(
    "--url",
    metavar="URL",
    envvar="RISALA_URL",
    default="http://127.0.0.1:8080",
    show_default=True,
    help="The service's address (RISALA_URL).",
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A file with the secret key (default: the variable RISALA_KEY has it).",
)
@click.option("--live", is_flag=True, help="Work with a live key: real messages, real money.")
@click.option(
    "--messages",
    type=click.IntRange(1, MESSAGES_MAX),
    metavar="N",
    help=f"With --live: the most messages and codes that this run may send, 1 to {MESSAGES_MAX}.",
)
def mcp(url: str, key_file: Path | None, live: bool, messages: int | None) -> None:
    """Let an agent send, verify and count through a service, by MCP on stdin and stdout.

    An agent's program starts it, and gives the key as RISALA_KEY. It takes a test key, which
    reaches no phone; a live one only with --live and --messages. Each call is a line of the
    service's audit trail. It needs `pip install "risala[mcp]"`.

    \b
    Examples:
      risala mcp --url http://127.0.0.1:8080
      risala mcp --live --messages 5
    """
    if live != (messages is not None):
        raise click.UsageError("--live and --messages N belong together: a live run has a cap.")
    if not url.startswith(("http://", "https://")):
        raise click.UsageError("--url is an address that begins with http:// or https://.")
    key = _key(key_file)
    _refuse_kind(key, live=live)
    if find_spec("mcp") is None:
        raise CommandRefused(
            "The MCP library is not installed. Install it beside Risala, then try again:"
            ' pip install "risala[mcp]"'
        )
    # Imported here: the library takes half a second.
    from risala.cli.commands.agents.asking import AgentService
    from risala.cli.commands.agents.speaking import serve

    serve(AgentService(url, key, messages))


def _key(key_file: Path | None) -> str:
    if key_file is not None:
        with key_file.open(encoding="utf-8", errors="replace") as file:
            key = file.read(KEY_CHARACTERS_MAX + 1).strip()
    else:
        key = os.environ.get("RISALA_KEY", "").strip()
    if not key:
        raise CommandRefused(
            "There is no key. Set RISALA_KEY to a test key (sk_test_…), or name a file with one by"
            " --key-file."
        )
    return key


def _refuse_kind(key: str, *, live: bool) -> None:
    """Refuse a key that is not for this run, without a word of it."""
    is_whole = key.isascii() and key.isprintable() and len(key) <= KEY_CHARACTERS_MAX
    if not is_whole or " " in key or not key.startswith((_LIVE, _TEST)):
        raise CommandRefused(
            "This is no secret key of Risala: it begins with sk_test_ or sk_live_. A publishable"
            " key reads neither states nor figures."
        )
    if key.startswith(_LIVE) and not live:
        raise CommandRefused(
            "The key is a live one: real messages, real money. Give a test key (sk_test_…), or say"
            " so: --live --messages N."
        )
    if key.startswith(_TEST) and live:
        raise CommandRefused("The key is a test key. Leave out --live and --messages.")
