"""The command and its groups. Each module here imports click and nothing heavy at its top."""

from __future__ import annotations

import os
from typing import Final

import click

from risala.cli.commands import (
    backup,
    doctor,
    inbound,
    inspect,
    key,
    ledger,
    messages,
    modem,
    money,
    openapi,
    org,
    retention,
    sender,
    service,
    tail,
    verify,
    webhook_log,
)
from risala.cli.lab import simulate

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_CONTEXT)
@click.version_option(package_name="risala", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Risala sends SMS and verifies phone numbers.

    `risala serve --demo` runs everything on this machine, with a simulated carrier and phone.
    The other commands work on the same data directory, whether the service runs or not.

    Exit codes: 0 done, 1 refused (one sentence on stderr), 2 wrong usage.
    """
    if os.environ.get("NO_COLOR"):  # https://no-color.org; rich looks by itself
        context.color = False


for _command in (
    service.serve,
    service.init,
    org.org,
    key.key,
    sender.sender,
    money.topup,
    ledger.adjust,
    ledger.ledger,
    money.price,
    messages.send,
    messages.message,
    verify.verify,
    webhook_log.webhook,
    inbound.inbound,
    tail.tail,
    inspect.carriers,
    inspect.plugins,
    inspect.audit,
    retention.retention,
    backup.backup,
    backup.restore,
    doctor.doctor,
    modem.modem,
    simulate.simulate,
    openapi.openapi,
):
    cli.add_command(_command)
