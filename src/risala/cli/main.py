"""The command and its groups, each of which is imported on demand."""

from __future__ import annotations

import os
from functools import partial
from typing import Final

import click

from risala import __version__
from risala.cli.lazy import LazyCommands, LazyGroup, of_features

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_ACCOUNTS: Final = "risala.cli.commands.accounts."
_PEOPLE: Final = "risala.cli.commands.people."
_MESSAGING: Final = "risala.cli.commands.messaging."
_UPKEEP: Final = "risala.cli.commands.upkeep."
_PLACES: Final = {
    "serve": _UPKEEP + "service:serve",
    "demo": _UPKEEP + "demo:demo",
    "init": _UPKEEP + "init:init",
    "org": _ACCOUNTS + "org:org",
    "key": _ACCOUNTS + "key:key",
    "sender": _ACCOUNTS + "sender:sender",
    "topup": _ACCOUNTS + "money:topup",
    "adjust": _ACCOUNTS + "ledger:adjust",
    "ledger": _ACCOUNTS + "ledger:ledger",
    "price": _ACCOUNTS + "money:price",
    "payer": _ACCOUNTS + "money:payer",
    "country": _ACCOUNTS + "country:country",
    "user": _PEOPLE + "user:user",
    "console": _PEOPLE + "console:console",
    "member": _PEOPLE + "member:member",
    "send": _MESSAGING + "messages:send",
    "message": _MESSAGING + "messages:message",
    "verify": _MESSAGING + "verify:verify",
    "webhook": _MESSAGING + "webhook_listen:webhook",
    "trigger": _MESSAGING + "trigger:trigger",
    "inbound": _MESSAGING + "inbound:inbound",
    "tail": _MESSAGING + "tail:tail",
    "carriers": _UPKEEP + "carriers:carriers",
    "smpp": _UPKEEP + "smpp:smpp",
    "route": _UPKEEP + "route:route",
    "plugins": _UPKEEP + "inspect:plugins",
    "audit": _UPKEEP + "inspect:audit",
    "audit-log": _UPKEEP + "audit_log:audit_log",
    "rotate-key": _UPKEEP + "secrets:rotate_key",
    "secrets": _UPKEEP + "secrets:secrets",
    "upgrade": _UPKEEP + "upgrade:upgrade",
    "modem": _UPKEEP + "modem:modem",
    "phone": _UPKEEP + "phone:phone",
    "simulate": "risala.cli.lab.simulate:simulate",
    "openapi": _UPKEEP + "openapi:openapi",
    "completion": _UPKEEP + "completion:completion",
}
"""The places of the core's commands."""


class RootGroup(LazyGroup):
    """Our own commands, and those of plugins."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        from risala.cli.plugged import command_of, plugged

        factory = plugged().factories.get(cmd_name)
        return None if factory is None else command_of(factory)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self.commands, *_of_plugins()])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        summaries = _of_plugins()
        limit = formatter.width - 6 - max(map(len, [*self.commands, *summaries]))
        rows = [
            (
                name,
                summaries[name]
                if name in summaries
                else self.commands[name].get_short_help_str(limit),
            )
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from risala.cli.plugged import plugged

            if faults := plugged().faults:
                unused = ", ".join(f"{name} ({reason})" for name, reason in faults)
                text = f"{error.message} Plugins that are not used: {unused}."
                raise click.UsageError(text, ctx) from error
            raise


def _of_plugins() -> dict[str, str]:
    """The commands of plugins, each with its description. Built-in plugins are not imported for it,
    and others only if there are any."""
    from risala.cli.plugged import KNOWN, are_there, plugged

    if not are_there():
        return dict(KNOWN)
    return {name: factory.summary for name, factory in plugged().factories.items()}


@click.group(
    cls=RootGroup,
    commands=LazyCommands(_PLACES, partial(of_features, "")),
    context_settings=_CONTEXT,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Risala is an SMS gateway with phone verification, on one machine of your own.

    `risala serve --demo` runs everything on this machine, with a simulated carrier and phone.
    The other commands work on the same data directory, whether the service runs or not.

    Exit codes: 0 done, 1 refused (one sentence on stderr), 2 wrong usage.

    \b
    Examples:
      risala serve --demo
      risala org list
    """
    if os.environ.get("NO_COLOR"):  # https://no-color.org; rich checks it itself
        context.color = False
