"""Credentials for faces other than the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.organizations import ask_organization, org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records import credentials
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.credentials import CreatedCredential

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


@click.group()
def credential() -> None:
    """User names and passwords for Kannel, Twilio and SMPP clients.

    \b
    Example:
      risala credential list
    """


@credential.command("create")
@click.argument("face", metavar="FACE")
@org_option
@click.option("--username", help="Generated if not given; always generated for twilio.")
@click.option("--test", is_flag=True, help="For test messages: no carrier and no charge.")
@click.option("--name", help="A name for you to recognise it.")
@click.option("--from", "sender", metavar="SENDER", help="The sender of messages that give none.")
@click.option(
    "--address",
    "addresses",
    metavar="ADDRESS",
    multiple=True,
    help="Allow only this address or network, such as 203.0.113.7 or 203.0.113.0/24; repeatable.",
)
@click.option("--inbound", is_flag=True, help="Also send it the texts from phones (smpp).")
@common
def credential_create(
    options: Options,
    face: str,
    org: str | None,
    username: str | None,
    test: bool,
    name: str | None,
    sender: str | None,
    addresses: tuple[str, ...],
    inbound: bool,
) -> None:
    """Create a credential for FACE (kannel, twilio, smpp, or a plugin's) and print its password,
    once.

    \b
    Examples:
      risala credential create kannel --username shop --from RISALA
      risala credential create smpp --address 203.0.113.7
    """

    async def work(session: GatewaySession) -> Reply[CreatedCredential]:
        return await session.ask_exactly(
            credentials.CREATE,
            {
                "organization_id": await organization_id(session, org),
                "face": face,
                "username": username,
                "mode": "test" if test else "live",
                "name": name,
                "from": sender,
                "allowed_addresses": list(addresses) or None,
                "inbound": inbound,
            },
        )

    made = options.run(work)
    if output.show(options.json, made.json):
        return
    found = made.value.credential
    output.warned(
        f"The credential {found.id} for {found.face}, username {found.username}."
        " Keep its password now: it cannot be shown again."
    )
    click.echo(made.value.password)


@credential.command("list")
@org_option
@common
def credential_list(options: Options, org: str | None) -> None:
    """List the credentials of an organization.

    \b
    Example:
      risala credential list --org Shop
    """
    found = ask_organization(credentials.LIST, options, org)
    if output.show(options.json, found.json):
        return
    output.table(
        ("Id", "Face", "Username", "Name", "Ends in", "Mode", "Created", "Last used", "Revoked"),
        (
            (
                each.id,
                each.face,
                each.username,
                each.name,
                f"…{each.last4}",
                each.mode,
                output.at(each.created_at),
                output.at(each.last_used_at),
                output.at(each.revoked_at),
            )
            for each in found.value.credentials
        ),
        empty="There are no credentials yet. Create one with `risala credential create FACE`.",
    )


@credential.command("revoke")
@click.argument("credential_id", metavar="CREDENTIAL")
@common
def credential_revoke(options: Options, credential_id: str) -> None:
    """Revoke a credential for good, and end its open sessions.

    \b
    Example:
      risala credential revoke crd_06DQDPN80275MS289XKD40ZZSFRW35P7
    """
    found = options.ask(credentials.REVOKE, credential_id=credential_id)
    if not output.show(options.json, found.json):
        output.said(f"The credential {found.value.id} ({found.value.username}) is revoked.")
