"""The command and its groups, none of which is imported before it is asked for."""

from __future__ import annotations

import os
from typing import Final

import click

from risala import __version__
from risala.cli.lazy import LazyCommands

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_COMMANDS: Final = "risala.cli.commands."
_PLACES: Final = {
    "serve": _COMMANDS + "service:serve",
    "init": _COMMANDS + "service:init",
    "org": _COMMANDS + "org:org",
    "key": _COMMANDS + "key:key",
    "sender": _COMMANDS + "sender:sender",
    "topup": _COMMANDS + "money:topup",
    "adjust": _COMMANDS + "ledger:adjust",
    "ledger": _COMMANDS + "ledger:ledger",
    "price": _COMMANDS + "money:price",
    "send": _COMMANDS + "messages:send",
    "message": _COMMANDS + "messages:message",
    "verify": _COMMANDS + "verify:verify",
    "webhook": _COMMANDS + "webhook_log:webhook",
    "inbound": _COMMANDS + "inbound:inbound",
    "tail": _COMMANDS + "tail:tail",
    "carriers": _COMMANDS + "inspect:carriers",
    "plugins": _COMMANDS + "inspect:plugins",
    "audit": _COMMANDS + "inspect:audit",
    "audit-log": _COMMANDS + "audit_log:audit_log",
    "retention": _COMMANDS + "retention:retention",
    "backup": _COMMANDS + "backup:backup",
    "restore": _COMMANDS + "backup:restore",
    "doctor": _COMMANDS + "doctor:doctor",
    "modem": _COMMANDS + "modem:modem",
    "simulate": "risala.cli.lab.simulate:simulate",
    "openapi": _COMMANDS + "openapi:openapi",
}


@click.group(commands=LazyCommands(_PLACES), context_settings=_CONTEXT)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Risala sends SMS and verifies phone numbers.

    `risala serve --demo` runs everything on this machine, with a simulated carrier and phone.
    The other commands work on the same data directory, whether the service runs or not.

    Exit codes: 0 done, 1 refused (one sentence on stderr), 2 wrong usage.
    """
    if os.environ.get("NO_COLOR"):  # https://no-color.org; rich looks by itself
        context.color = False
