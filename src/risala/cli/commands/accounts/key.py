"""API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.organizations import on_organization, org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output, when

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]


@click.group()
def key() -> None:
    """API keys.

    \b
    Examples:
      risala key create --org "My shop"
      risala key list
    """


@key.command("create")
@org_option
@click.option(
    "--type",
    "key_type",
    type=click.Choice(["secret", "publishable"]),
    default="secret",
    show_default=True,
    help="Publishable keys may only verify, and may be seen by users.",
)
@click.option("--test", is_flag=True, help="For test messages: no carrier, no charge.")
@click.option("--name", help="To recognise it by.")
@click.option(
    "--origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="Only pages of this origin may use it, such as https://app.example; repeatable.",
)
@click.option(
    "--address",
    "addresses",
    metavar="ADDRESS",
    multiple=True,
    help="Only from here, such as 203.0.113.7 or 203.0.113.0/24; repeatable.",
)
@click.option(
    "--without-id",
    is_flag=True,
    help="Answer a send without messageId, for clients that refuse it.",
)
@common
def key_create(
    options: Options,
    org: str | None,
    key_type: str,
    test: bool,
    name: str | None,
    origins: tuple[str, ...],
    addresses: tuple[str, ...],
    without_id: bool,
) -> None:
    """Make a key and print its value, once.

    \b
    Examples:
      risala key create --org "My shop" --name web
      risala key create --type publishable --origin https://shop.example
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform(
            "key.create",
            organization_id=await organization_id(session, org),
            type=key_type,
            mode="test" if test else "live",
            name=name,
            allowed_origins=list(origins) or None,
            allowed_addresses=list(addresses) or None,
            without_id=without_id or None,
        )

    made = options.run(work)
    if output.show(options.json, made):
        return
    # Only the value goes to stdout, so that `KEY=$(risala key create)` is all that a script needs.
    output.warned(f"The key {made['key']['id']}. Keep its value now: it cannot be shown again.")
    click.echo(made["value"])


@key.command("rotate")
@click.argument("key_id", metavar="KEY")
@click.option(
    "--overlap",
    "overlap_s",
    metavar="SPAN",
    default="24h",
    show_default=True,
    callback=when.span_option,
    help="How long the value of now holds beside the new one: 0, 90m, 24h, 7d at most.",
)
@common
def key_rotate(options: Options, key_id: str, overlap_s: int) -> None:
    """Give a key another value and print that, once.

    \b
    Example: risala key rotate key_… --overlap 2h
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform("key.rotate", key_id=key_id, overlap_s=overlap_s)

    made = options.run(work)
    if output.show(options.json, made):
        return
    until = made["key"]["oldUntil"]
    old = "The value before is over." if until is None else f"Before: until {_at(until)}."
    output.warned(f"The key {made['key']['id']} has a new value, shown this once. {old}")
    click.echo(made["value"])


@key.command("end-old")
@click.argument("key_id", metavar="KEY")
@common
def key_end_old(options: Options, key_id: str) -> None:
    """End the value that a rotated key had before, at once.

    \b
    Example: risala key end-old key_…
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform("key.end_old", key_id=key_id)

    found = options.run(work)
    if not output.show(options.json, found):
        output.said(f"Of the key {found['id']} only the value …{found['last4']} holds.")


def _at(iso: str) -> str:
    return f"{output.moment(iso)} UTC"


@key.command("list")
@org_option
@common
def key_list(options: Options, org: str | None) -> None:
    """The keys of an organization.

    \b
    Examples:
      risala key list
      risala key list --org "My shop"
    """
    found = on_organization("key.list", options, org)
    if output.show(options.json, found):
        return
    output.table(
        ("Id", "Type", "Name", "Ends in", "Before", "Enabled", "Created", "Last used"),
        (
            (
                each["id"],
                f"{each['type']} {each['mode']}",
                each["name"],
                f"…{each['last4']}",
                each["oldUntil"] and f"…{each['oldLast4']} until {_at(each['oldUntil'])}",
                each["enabled"],
                output.moment(each["createdAt"]),
                output.moment(each["lastUsedAt"]),
            )
            for each in found["keys"]
        ),
        empty="No key yet; make one with `risala key create`.",
    )


def _on_key(operation: str, done: str, options: Options, key_id: str) -> None:
    async def work(session: GatewaySession) -> Json:
        return await session.perform(operation, key_id=key_id)

    found = options.run(work)
    if not output.show(options.json, found):
        output.said(f"The key {found['id']} (…{found['last4']}) is {done}.")


@key.command("enable")
@click.argument("key_id", metavar="KEY")
@common
def key_enable(options: Options, key_id: str) -> None:
    """Let a disabled key work again.

    \b
    Example: risala key enable key_…
    """
    _on_key("key.enable", "enabled", options, key_id)


@key.command("disable")
@click.argument("key_id", metavar="KEY")
@common
def key_disable(options: Options, key_id: str) -> None:
    """Refuse a key (401) without deleting it.

    \b
    Example: risala key disable key_…
    """
    _on_key("key.disable", "disabled", options, key_id)


@key.command("origins")
@click.argument("key_id", metavar="KEY")
@click.argument("origins", metavar="[ORIGIN]...", nargs=-1)
@click.option("--any", "lift", is_flag=True, help="Let any page use it.")
@common
def key_origins(options: Options, key_id: str, origins: tuple[str, ...], lift: bool) -> None:
    """Say whose pages a publishable key is for, after changing that to ORIGIN... where given.

    \b
    Examples:
      risala key origins key_… https://shop.example
      risala key origins key_… --any
    """
    if lift and origins:
        raise click.UsageError("Give origins, or --any.")
    changes = {"allowed_origins": list(origins) or None} if lift or origins else {}

    async def work(session: GatewaySession) -> Json:
        return await session.perform_exactly("key.set", {"key_id": key_id, **changes})

    found = options.run(work)
    if not output.show(options.json, found):
        allowed = found["allowedOrigins"]
        whose = "any page" if allowed is None else f"pages of {', '.join(allowed)}"
        output.said(f"The key {found['id']} (…{found['last4']}) is for {whose}.")


@key.command("addresses")
@click.argument("key_id", metavar="KEY")
@click.argument("addresses", metavar="[ADDRESS]...", nargs=-1)
@click.option("--any", "lift", is_flag=True, help="From anywhere.")
@common
def key_addresses(options: Options, key_id: str, addresses: tuple[str, ...], lift: bool) -> None:
    """Say from where a key may be used, after changing that to ADDRESS... where given.

    An address is like 203.0.113.7 or 2001:db8::7, a network like 203.0.113.0/24.

    \b
    Examples:
      risala key addresses key_… 203.0.113.7 2001:db8::/64
      risala key addresses key_… --any
    """
    if lift and addresses:
        raise click.UsageError("Give addresses, or --any.")
    changes = {"allowed_addresses": list(addresses) or None} if lift or addresses else {}

    async def work(session: GatewaySession) -> Json:
        return await session.perform_exactly("key.set", {"key_id": key_id, **changes})

    found = options.run(work)
    if not output.show(options.json, found):
        allowed = found["allowedAddresses"]
        where = "anywhere" if allowed is None else ", ".join(allowed)
        output.said(f"The key {found['id']} (…{found['last4']}) is used from {where}.")


@key.command("delete")
@click.argument("key_id", metavar="KEY")
@common
def key_delete(options: Options, key_id: str) -> None:
    """Refuse a key for ever.

    \b
    Example: risala key delete key_…
    """
    _on_key("key.delete", "deleted", options, key_id)
