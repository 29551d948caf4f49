"""Hooks: the addresses that other software sends through."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.asking import asks, mode_option, says, without_missing
from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.show import output, when
from risala.engine.features.hooks import records as hooks
from risala.engine.features.hooks.records import AddressedHook, Hook, HookPresets, Hooks, MadeHook

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
HOOK = click.argument("hook_id", metavar="HOOK")


@click.group()
def hook() -> None:
    """Addresses that other software, such as Supabase or Grafana, sends through.

    \b
    Example:
      risala hook presets
    """


async def _made(session: GatewaySession, values: Json) -> Json:
    """The given arguments of an operation; what is in files is read."""
    arguments = without_missing(values)
    if "org" in values:
        arguments.setdefault("org", None)
        arguments["organization_id"] = await organization_id(session, arguments.pop("org"))
    secret: IO[str] | None = arguments.pop("secret_file", None)
    if secret is not None:
        arguments["secret"] = secret.read().strip()
    mapping: IO[str] | None = arguments.pop("mapping_file", None)
    if mapping is not None:
        arguments["mapping"] = mapping.read()
    return arguments


def _settings(command: Callable[..., None]) -> Callable[..., None]:
    """The options of what a hook can change later."""
    for option in reversed(
        (
            click.option(
                "--to",
                "numbers",
                metavar="NUMBER",
                multiple=True,
                help="Who gets its messages, if the program names no recipient; repeatable.",
            ),
            click.option(
                "--alarm", metavar="CHAIN", help="Its alerts raise an alarm of this chain."
            ),
            click.option("--name", help="A name for you to recognise it."),
            click.option("--from", "from", metavar="SENDER", help="The sender of its messages."),
            click.option("--locale", metavar="LANGUAGE", help="Of its codes."),
            click.option(
                "--address",
                "allowed_addresses",
                metavar="ADDRESS",
                multiple=True,
                help="Allow only this address or network, such as 203.0.113.7; repeatable.",
            ),
        )
    ):
        command = option(command)
    return command


def _secret_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--secret-file",
        type=click.File(),
        help="A file with the secret that the program made; - reads standard input.",
    )(command)


@hook.command("create")
@org_option
@click.option("--preset", required=True, help="The program: one of `risala hook presets`.")
@click.option(
    "--proof",
    metavar="PROOF",
    help="How the program proves itself, if it can do several.",
)
@_settings
@click.option(
    "--mapping-file",
    type=click.File(encoding="utf-8"),
    help="How requests are read and answered, for --preset custom.",
)
@_secret_option
@mode_option("For test messages: no carrier and no charge.")
@asks(hooks.CREATE, arguments=_made)
def hook_create(made: MadeHook) -> None:
    """Create a hook and print its address and its secret, once.

    \b
    Examples:
      risala hook create --preset supabase-auth
      risala hook create --preset grafana --to NUMBER --to OTHER
    """
    _tell(made, f"The hook {made.hook.id} is created.")


@hook.command("rotate")
@HOOK
@_secret_option
@click.option(
    "--overlap",
    "overlap_s",
    metavar="SPAN",
    default="24h",
    show_default=True,
    callback=when.span_option,
    help="How long the present secret also works: 0, 90m, 24h, at most 7d.",
)
@asks(hooks.ROTATE, arguments=_made)
def hook_rotate(made: MadeHook) -> None:
    """Give a hook a new secret and print it, once.

    \b
    Example:
      risala hook rotate hok_06DQDPN80275MS289XKD40ZZSFRW35P7
    """
    _tell(made, f"The hook {made.hook.id} has a new secret.")


def _tell(made: MadeHook, done: str) -> None:
    keep = "" if made.secret is None else " Keep its secret now: it cannot be shown again."
    output.warned(done + keep)
    click.echo(made.hook.url)
    if made.secret is not None:
        click.echo(made.secret)


@hook.command("list")
@org_option
@asks(hooks.LIST)
def hook_list(hooks: Hooks) -> None:
    """List the hooks of an organization.

    \b
    Example:
      risala hook list --org Shop
    """
    output.table(
        ("Id", "Preset", "Name", "Ends in", "Mode", "Last used", "Disabled"),
        (
            (
                each.id,
                each.preset,
                each.name,
                f"…{each.last4}",
                each.mode,
                output.at(each.last_used_at),
                output.at(each.disabled_at),
            )
            for each in hooks.hooks
        ),
        empty="There are no hooks yet. Create one with `risala hook create --preset NAME`.",
    )


@hook.command("presets")
@asks(hooks.PRESETS)
def hook_presets(presets: HookPresets) -> None:
    """List the programs that a hook can be made for.

    \b
    Example:
      risala hook presets
    """
    output.table(
        ("Preset", "Program", "Kind", "Proof", "Sends", "Needs --to"),
        (
            (
                each.name,
                each.title,
                each.kind,
                ", ".join(each.proofs),
                each.sends,
                "yes" if each.needs_numbers else "",
            )
            for each in presets.presets
        ),
        empty="There are no presets.",
    )


@hook.command("show")
@HOOK
@asks(hooks.SHOW)
def hook_show(addressed_hook: AddressedHook) -> None:
    """Show a hook with its address, without its secret.

    \b
    Example:
      risala hook show hok_06DQDPN80275MS289XKD40ZZSFRW35P7
    """
    output.fields(
        {
            "id": addressed_hook.id,
            "address": addressed_hook.url,
            "preset": addressed_hook.preset,
            "proof": addressed_hook.proof,
            "name": addressed_hook.name,
            "numbers": ", ".join(addressed_hook.numbers or ()) or None,
            "alarm": addressed_hook.alarm,
            "sender": addressed_hook.sender,
            "language": addressed_hook.locale,
            "mode": addressed_hook.mode,
            "secret": f"…{addressed_hook.last4}",
            "old secret until": output.at(addressed_hook.old_until),
            "allowed addresses": ", ".join(addressed_hook.allowed_addresses or ()) or None,
            "last used": output.at(addressed_hook.last_used_at),
            "disabled": output.at(addressed_hook.disabled_at),
        }
    )


@hook.command("set")
@HOOK
@_settings
@asks(hooks.SET, arguments=_made)
def hook_set(changed: Hook) -> None:
    """Change the given settings of a hook.

    \b
    Example:
      risala hook set hok_06DQDPN80275MS289XKD40ZZSFRW35P7 --to NUMBER
    """
    output.said(f"The hook {changed.id} is changed.")


def _done(line: str) -> Callable[[Hook], str]:
    return lambda changed: line.format(changed.id)


says(
    hook,
    "enable",
    HOOK,
    hooks.ENABLE,
    _done("The hook {} is enabled."),
    does="Enable a disabled hook.",
    example="hok_…",
)
says(
    hook,
    "disable",
    HOOK,
    hooks.DISABLE,
    _done("The hook {} is disabled."),
    does="Disable a hook (its program gets 403) without deleting it.",
    example="hok_…",
)
says(
    hook,
    "delete",
    HOOK,
    hooks.DELETE,
    _done("The hook {} is deleted."),
    does="Delete a hook for good.",
    example="hok_…",
)
