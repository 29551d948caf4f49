"""The command and its groups, none of which is imported before it is asked for."""

from __future__ import annotations

import os
from typing import Final

import click

from risala import __version__
from risala.cli.lazy import LazyCommands

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_ACCOUNTS: Final = "risala.cli.commands.accounts."
_PEOPLE: Final = "risala.cli.commands.people."
_MESSAGING: Final = "risala.cli.commands.messaging."
_UPKEEP: Final = "risala.cli.commands.upkeep."
_PLACES: Final = {
    "serve": _UPKEEP + "service:serve",
    "init": _UPKEEP + "service:init",
    "org": _ACCOUNTS + "org:org",
    "key": _ACCOUNTS + "key:key",
    "sender": _ACCOUNTS + "sender:sender",
    "topup": _ACCOUNTS + "money:topup",
    "payment": _ACCOUNTS + "payment:payment",
    "adjust": _ACCOUNTS + "ledger:adjust",
    "ledger": _ACCOUNTS + "ledger:ledger",
    "price": _ACCOUNTS + "money:price",
    "user": _PEOPLE + "user:user",
    "member": _PEOPLE + "member:member",
    "send": _MESSAGING + "messages:send",
    "message": _MESSAGING + "messages:message",
    "verify": _MESSAGING + "verify:verify",
    "webhook": _MESSAGING + "webhook_log:webhook",
    "inbound": _MESSAGING + "inbound:inbound",
    "log": _MESSAGING + "request_log:request_log",
    "tail": _MESSAGING + "tail:tail",
    "alerts": _UPKEEP + "alerts:alerts",
    "carriers": _UPKEEP + "carriers:carriers",
    "route": _UPKEEP + "route:route",
    "plugins": _UPKEEP + "inspect:plugins",
    "audit": _UPKEEP + "inspect:audit",
    "audit-log": _UPKEEP + "audit_log:audit_log",
    "retention": _UPKEEP + "retention:retention",
    "kept": _UPKEEP + "kept:kept",
    "rotate-key": _UPKEEP + "server_key:rotate_key",
    "backup": _UPKEEP + "backup:backup",
    "restore": _UPKEEP + "backup:restore",
    "doctor": _UPKEEP + "doctor:doctor",
    "modem": _UPKEEP + "modem:modem",
    "simulate": "risala.cli.lab.simulate:simulate",
    "openapi": _UPKEEP + "openapi:openapi",
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
