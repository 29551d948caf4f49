"""The lock of the console: one address alone may open it."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.model.records.upkeep import security
from risala.engine.model.records.upkeep.security import ConsoleLock


@click.group()
def console() -> None:
    """The operator's console: which address may open it.

    \b
    Example: risala console unlock
    """


@console.command("lock")
@click.argument("address")
@asks(security.LOCK)
def console_lock(lock: ConsoleLock) -> None:
    """Restrict the console to ADDRESS (an address or a network), also after a restart.

    \b
    Example: risala console lock 203.0.113.7
    """
    output.said(f"The console answers {lock.address} alone. `risala console unlock` ends that.")


@console.command("unlock")
@asks(security.UNLOCK)
def console_unlock(_: ConsoleLock) -> None:
    """Open the console to everyone.

    \b
    Example: risala console unlock
    """
    output.said("The console answers everybody who signs in.")
