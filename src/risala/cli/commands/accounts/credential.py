"""Credentials for faces other than the API."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks, mode_option
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.features.compat import records as credentials
from risala.engine.features.compat.records import (
    CompatCredential,
    CompatCredentials,
    CreatedCredential,
)


@click.group()
def credential() -> None:
    """User names and passwords for Kannel, Twilio, playSMS, SMSGate and SMPP clients.

    \b
    Example:
      risala credential list
    """


@credential.command("create")
@click.argument("face", metavar="FACE")
@org_option
@click.option("--username", help="Generated if not given; always generated for twilio.")
@mode_option("For test messages: no carrier and no charge.")
@click.option("--name", help="A name for you to recognise it.")
@click.option("--from", "from", metavar="SENDER", help="The sender of messages that give none.")
@click.option(
    "--address",
    "allowed_addresses",
    metavar="ADDRESS",
    multiple=True,
    help="Allow only this address or network, such as 203.0.113.7 or 203.0.113.0/24; repeatable.",
)
@click.option("--inbound", is_flag=True, help="Also send it the texts from phones (smpp).")
@asks(credentials.CREATE)
def credential_create(made: CreatedCredential) -> None:
    """Create a credential for FACE (kannel, twilio, playsms, smsgate, smpp, or a plugin's) and
    print its password, once.

    \b
    Examples:
      risala credential create kannel --username shop --from RISALA
      risala credential create smpp --address 203.0.113.7
    """
    new = made.credential
    output.warned(
        f"The credential {new.id} for {new.face}, username "
        f"{output.clean(new.username, err=True)}."
        " Keep its password now: it cannot be shown again."
    )
    click.echo(made.password)


@credential.command("list")
@org_option
@asks(credentials.LIST)
def credential_list(compat_credentials: CompatCredentials) -> None:
    """List the credentials of an organization.

    \b
    Example:
      risala credential list --org Shop
    """
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
            for each in compat_credentials.credentials
        ),
        empty="There are no credentials yet. Create one with `risala credential create FACE`.",
    )


@credential.command("revoke")
@click.argument("credential_id", metavar="CREDENTIAL")
@asks(credentials.REVOKE)
def credential_revoke(revoked: CompatCredential) -> None:
    """Revoke a credential for good, and end its open sessions.

    \b
    Example:
      risala credential revoke crd_06DQDPN80275MS289XKD40ZZSFRW35P7
    """
    output.said(f"The credential {revoked.id} ({output.clean(revoked.username)}) is revoked.")
