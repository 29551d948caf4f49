"""Members: which users belong to which organization, and their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.organizations import (
    on_organization,
    optional_org,
    organization_id,
)
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]

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
@click.argument("organization", metavar="ORG")
@click.argument("email")
@role_option
@common
def member_add(options: Options, organization: str, email: str, role: str) -> None:
    """Make whoever has EMAIL a member of ORG; a user too, where there is none.

    \b
    Example: risala member add "My shop" me@example.com --role owner
    """

    async def work(session: GatewaySession) -> Json:
        found = await organization_id(session, organization)
        return await session.perform("member.add", organization_id=found, email=email, role=role)

    made = options.run(work)
    if not output.show(options.json, made):
        output.said(f"{made['email']} is {_as(made['role'])} now.")


@member.command("invite")
@click.argument("organization", metavar="ORG")
@click.argument("email")
@role_option
@common
def member_invite(options: Options, organization: str, email: str, role: str) -> None:
    """Invite whoever reads EMAIL by a mail; they accept it once they have signed in.

    \b
    Example: risala member invite "My shop" you@example.com --role developer
    """

    async def work(session: GatewaySession) -> Json:
        found = await organization_id(session, organization)
        return await session.perform("member.invite", organization_id=found, email=email, role=role)

    invited = options.run(work)
    if not output.show(options.json, invited):
        until = output.moment(invited["expiresAt"])
        output.said(f"{invited['email']} is invited as {invited['role']} until {until} UTC.")


@member.command("list")
@optional_org
@common
def member_list(options: Options, organization: str | None) -> None:
    """An organization's members, and who is invited.

    \b
    Examples:
      risala member list
      risala member list "My shop"
    """
    found = on_organization("member.list", options, organization)
    if output.show(options.json, found):
        return
    rows = [
        (each["email"], each["role"], output.moment(each["createdAt"])) for each in found["members"]
    ]
    rows += [
        (each["email"], f"{each['role']} (invited)", output.moment(each["createdAt"]))
        for each in found["invitations"]
    ]
    output.table(
        ("E-mail", "Role", "Since (UTC)"),
        rows,
        empty="No member yet; make one with `risala member add ORG EMAIL --role owner`.",
    )


@member.command("role")
@click.argument("organization", metavar="ORG")
@click.argument("email")
@click.argument("role", type=ROLES)
@common
def member_role(options: Options, organization: str, email: str, role: str) -> None:
    """Give a member another role.

    \b
    Example: risala member role "My shop" you@example.com viewer
    """

    async def work(session: GatewaySession) -> Json:
        found = await _member(session, organization, email)
        return await session.perform("member.set_role", **found, role=role)

    changed = options.run(work)
    if not output.show(options.json, changed):
        output.said(f"{changed['email']} is {_as(changed['role'])} now.")


@member.command("remove")
@click.argument("organization", metavar="ORG")
@click.argument("email")
@common
def member_remove(options: Options, organization: str, email: str) -> None:
    """End a membership. The last owner stays.

    \b
    Example: risala member remove "My shop" you@example.com
    """

    async def work(session: GatewaySession) -> Json:
        found = await _member(session, organization, email)
        return await session.perform("member.remove", **found)

    gone = options.run(work)
    if not output.show(options.json, gone):
        output.said(f"{gone['email']} is no member any more.")


async def _member(session: GatewaySession, organization: str, email: str) -> Json:
    """The arguments that identify a member.

    Raises:
        CommandRefused: no member has this address.
    """
    found = await organization_id(session, organization)
    listed = await session.perform("member.list", organization_id=found)
    for each in listed["members"]:
        if each["email"] == email.strip().lower():
            return {"organization_id": found, "user_id": each["userId"]}
    raise CommandRefused(f"There is no member {output.clean(email)}; see `risala member list`.")


def _as(role: str) -> str:
    return f"{'an' if role == 'owner' else 'a'} {role}"
