"""Members: which users belong to which organization, and their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import (
    optional_org,
    organization_id,
    required_org,
)
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.people import members
from risala.engine.model.records.people.members import Invitation, Members, MemberView

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

ROLES = click.Choice(["owner", "developer", "viewer"])
role_option = click.option(
    "--role",
    type=ROLES,
    required=True,
    help="Viewers read; developers also send and manage keys; owners also money and members.",
)


@click.group()
def member() -> None:
    """Members: which users belong to which organization, and as what.

    \b
    Example: risala member add "My shop" me@example.com --role owner
    """


@member.command("add")
@required_org
@click.argument("email")
@role_option
@asks(members.ADD)
def member_add(made: MemberView) -> None:
    """Add EMAIL to ORG as a member; the user is created if there is none.

    \b
    Example: risala member add "My shop" me@example.com --role owner
    """
    output.said(f"{output.clean(made.email)} is now {_as(made.role)}.")


@member.command("invite")
@required_org
@click.argument("email")
@role_option
@asks(members.INVITE)
def member_invite(new: Invitation) -> None:
    """Invite EMAIL by mail; the person signs in and accepts.

    \b
    Example: risala member invite "My shop" you@example.com --role developer
    """
    output.said(
        f"{output.clean(new.email)} is invited as {new.role} until {output.utc(new.expires_at)}."
    )


@member.command("list")
@optional_org
@asks(members.LIST)
def member_list(listed: Members) -> None:
    """List an organization's members and invitations.

    \b
    Examples:
      risala member list
      risala member list "My shop"
    """
    rows = [(each.email, f"{each.role}", output.at(each.created_at)) for each in listed.members]
    rows += [
        (each.email, f"{each.role} (invited)", output.at(each.created_at))
        for each in listed.invitations
    ]
    output.table(
        ("E-mail", "Role", "Since (UTC)"),
        rows,
        empty="There are no members yet. Add one with `risala member add ORG EMAIL --role owner`.",
    )


async def _member(session: GatewaySession, arguments: dict[str, str]) -> dict[str, str]:
    """The arguments that identify a member, and the role if one is given.

    Raises:
        CommandRefused: no member has this address.
    """
    email, more = (
        arguments["email"],
        {name: arguments[name] for name in arguments if name == "role"},
    )
    organization = await organization_id(session, arguments["org"])
    listed = await session.ask(members.LIST, organization_id=organization)
    for each in listed.value.members:
        if each.email == email.strip().lower():
            return {"organization_id": organization, "user_id": each.user_id, **more}
    raise CommandRefused(
        f"There is no member {output.clean(email, err=True)}. See `risala member list`."
    )


@member.command("role")
@required_org
@click.argument("email")
@click.argument("role", type=ROLES)
@asks(members.SET_ROLE, arguments=_member)
def member_role(changed: MemberView) -> None:
    """Give a member another role.

    \b
    Example: risala member role "My shop" you@example.com viewer
    """
    output.said(f"{output.clean(changed.email)} is now {_as(changed.role)}.")


@member.command("remove")
@required_org
@click.argument("email")
@asks(members.REMOVE, arguments=_member)
def member_remove(gone: MemberView) -> None:
    """End a membership. The last owner stays.

    \b
    Example: risala member remove "My shop" you@example.com
    """
    output.said(f"{output.clean(gone.email)} is no longer a member.")


def _as(role: str) -> str:
    return f"{'an' if role == 'owner' else 'a'} {role}"
