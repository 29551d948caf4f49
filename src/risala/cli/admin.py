"""Organizations, their keys, their balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli import output
from risala.cli.options import Options, common
from risala.cli.organizations import org_option, organization_id

if TYPE_CHECKING:
    from risala.cli.session import Session

Json = dict[str, Any]


@click.group()
def org() -> None:
    """Organizations: who sends, and who pays."""


@org.command("create")
@click.argument("name")
@click.option("--price", metavar="AMOUNT", help="Its own price of a segment, for example 0.45.")
@common
def org_create(options: Options, name: str, price: str | None) -> None:
    """Make an organization."""

    async def work(session: Session) -> Json:
        return await session.perform("org.create", name=name, price_per_segment=price)

    made = options.run(work, creates=True)
    if not output.show(options.json, made):
        output.said(f"Made the organization {output.clean(made['name'])}: {made['id']}")


@org.command("list")
@common
def org_list(options: Options) -> None:
    """All organizations."""

    async def work(session: Session) -> Json:
        return await session.perform("org.list")

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("Id", "Name", "Status", "Balance"),
        (
            (each["id"], each["name"], each["status"], _money(each, "balance"))
            for each in found["organizations"]
        ),
        empty="No organization yet; make one with `risala org create NAME`.",
    )


def _on_org(operation: str, options: Options, given: str | None) -> Json:
    async def work(session: Session) -> Json:
        return await session.perform(
            operation, organization_id=await organization_id(session, given)
        )

    return options.run(work)


@org.command("show")
@click.argument("organization", metavar="[ORG]", required=False)
@common
def org_show(options: Options, organization: str | None) -> None:
    """One organization."""
    found = _on_org("org.show", options, organization)
    if output.show(options.json, found):
        return
    price = "as for everybody"
    if found["pricePerSegment"] is not None:
        price = _money(found, "pricePerSegment")
    output.fields(
        {
            "id": found["id"],
            "name": found["name"],
            "status": found["status"],
            "balance": _money(found, "balance"),
            "price per segment": price,
            "created": output.moment(found["createdAt"]),
        }
    )


@org.command("suspend")
@click.argument("organization", metavar="ORG")
@common
def org_suspend(options: Options, organization: str) -> None:
    """Refuse its requests and hold its queue; validity runs on."""
    found = _on_org("org.suspend", options, organization)
    if not output.show(options.json, found):
        output.said(f"{output.clean(found['name'])} is suspended.")


@org.command("resume")
@click.argument("organization", metavar="ORG")
@common
def org_resume(options: Options, organization: str) -> None:
    """Undo a suspension."""
    found = _on_org("org.resume", options, organization)
    if not output.show(options.json, found):
        output.said(f"{output.clean(found['name'])} is active.")


@click.group()
def key() -> None:
    """API keys."""


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
@click.option("--name", help="To recognise it by.")
@common
def key_create(options: Options, org: str | None, key_type: str, name: str | None) -> None:
    """Make a key and print its value, once."""

    async def work(session: Session) -> Json:
        return await session.perform(
            "key.create",
            organization_id=await organization_id(session, org),
            type=key_type,
            mode="live",
            name=name,
        )

    made = options.run(work)
    if output.show(options.json, made):
        return
    # The value alone on stdout, so that `KEY=$(risala key create)` is all that a script needs.
    output.warned(f"The key {made['key']['id']}. Keep its value now: it cannot be shown again.")
    click.echo(made["value"])


@key.command("list")
@org_option
@common
def key_list(options: Options, org: str | None) -> None:
    """The keys of an organization."""
    found = _on_org("key.list", options, org)
    if output.show(options.json, found):
        return
    output.table(
        ("Id", "Type", "Name", "Ends in", "Enabled", "Created", "Last used"),
        (
            (
                each["id"],
                f"{each['type']} {each['mode']}",
                each["name"],
                f"…{each['last4']}",
                each["enabled"],
                output.moment(each["createdAt"]),
                output.moment(each["lastUsedAt"]),
            )
            for each in found["keys"]
        ),
        empty="No key yet; make one with `risala key create`.",
    )


def _on_key(operation: str, done: str, options: Options, key_id: str) -> None:
    async def work(session: Session) -> Json:
        return await session.perform(operation, key_id=key_id)

    found = options.run(work)
    if not output.show(options.json, found):
        output.said(f"The key {found['id']} (…{found['last4']}) is {done}.")


@key.command("enable")
@click.argument("key_id", metavar="KEY")
@common
def key_enable(options: Options, key_id: str) -> None:
    """Let a disabled key work again."""
    _on_key("key.enable", "enabled", options, key_id)


@key.command("disable")
@click.argument("key_id", metavar="KEY")
@common
def key_disable(options: Options, key_id: str) -> None:
    """Refuse a key (401) without deleting it."""
    _on_key("key.disable", "disabled", options, key_id)


@key.command("delete")
@click.argument("key_id", metavar="KEY")
@common
def key_delete(options: Options, key_id: str) -> None:
    """Refuse a key for ever."""
    _on_key("key.delete", "deleted", options, key_id)


@click.command()
@click.argument("organization", metavar="ORG")
@click.argument("amount")
@click.option("--note", help="What it was for: a receipt number, say.")
@common
def topup(options: Options, organization: str, amount: str, note: str | None) -> None:
    """Add AMOUNT (100 or 99.50) to the balance of ORG (its id or name)."""

    async def work(session: Session) -> tuple[Json, Json]:
        found = await organization_id(session, organization)
        entry = await session.perform("topup", organization_id=found, amount=amount, note=note)
        return entry, await session.perform("org.show", organization_id=found)

    entry, after = options.run(work)
    if not output.show(options.json, entry | {"currency": after["currency"]}):
        added = output.money(entry["amount"], after["currency"])
        balance = output.money(entry["balanceAfter"], after["currency"])
        output.said(f"Added {added} to {output.clean(after['name'])}: the balance is {balance}.")


def _money(organization: Json, field: str) -> str:
    return output.money(organization[field], organization["currency"])
