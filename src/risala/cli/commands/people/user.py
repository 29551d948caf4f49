"""Users, who sign in to the dashboard and the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.features.factors import records as factors
from risala.engine.features.factors.records import ResetFactors
from risala.engine.model.records.people import users
from risala.engine.model.records.people.users import (
    Ended,
    EndedUser,
    ListedUser,
    MadeLink,
    UserStory,
    VersionedUser,
)

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]

role_option = click.option(
    "--operator-role",
    type=click.Choice(["administrator", "finance", "support", "viewer"]),
    help="What an operator may do in the console; `administrator` unless it is given.",
)
language_option = click.option(
    "--language", type=click.Choice(["fr", "ar", "en"]), help="The language of mails and pages."
)


@click.group()
def user() -> None:
    """Users: the people who sign in to the dashboard and the console.

    \b
    Examples:
      risala user create me@example.com --operator
      risala user list
    """


@user.command("create")
@click.argument("email")
@click.option(
    "--operator", is_flag=True, default=None, help="Allow access to the operator's console."
)
@role_option
@click.option("--name", help="The user's name.")
@language_option
@asks(users.CREATE, creates=True)
def user_create(made: VersionedUser) -> None:
    """Create a user, who signs in with a code sent to EMAIL or with a link of `user sign-in`.

    \b
    Examples:
      risala user create me@example.com --operator --language fr
      risala user create till@example.com --operator-role finance
    """
    what = "the operator" if made.operator else "the user"
    role = f" ({made.operator_role})" if made.operator_role else ""
    output.said(f"Created {what} {output.clean(made.email)}{role}: {made.id}")


@user.command("list")
@click.option("--search", metavar="TEXT", help="Only those with TEXT in their address or name.")
@click.option("--operators", is_flag=True, help="Only operators.")
@common
def user_list(options: Options, search: str | None, operators: bool) -> None:
    """List all users.

    \b
    Examples:
      risala user list
      risala user list --search example.com --operators
    """

    async def work(session: GatewaySession) -> tuple[list[ListedUser], list[Json]]:
        listed: list[ListedUser] = []
        as_json: list[Json] = []
        after: str | None = None
        while True:
            page = await session.ask(
                users.LIST, after=after, search=search, operator=operators or None
            )
            listed += page.value.users
            as_json += page.json["users"]
            after = page.value.next
            if after is None:
                return listed, as_json

    listed, as_json = options.run(work)
    if output.show(options.json, {"users": as_json}):
        return
    output.table(
        ("E-mail", "Name", "Language", "Operator", "Last signed in (UTC)"),
        (
            (
                each.email,
                each.name or None,
                each.language,
                each.operator_role,
                output.at(each.last_seen_at),
            )
            for each in listed
        ),
        empty=(
            "No user matches."
            if search is not None or operators
            else "There are no users yet. Create one with `risala user create EMAIL`."
        ),
    )


@user.command("show")
@click.argument("email")
@asks(users.SHOW)
def user_show(story: UserStory) -> None:
    """Show one user, their organizations, their sessions and their second factors.

    \b
    Example: risala user show me@example.com
    """
    output.fields(_fields(story.user))
    click.echo()
    output.table(
        ("Organization", "Name", "Status", "Role"),
        ((each.organization_id, each.name, each.status, each.role) for each in story.memberships),
        empty="The user is in no organization.",
    )
    click.echo()
    output.table(
        ("Signed in (UTC)", "Last used", "Where", "Address", "Browser"),
        (
            (
                output.at(each.created_at),
                output.at(each.used_at),
                each.kind,
                each.address,
                each.agent,
            )
            for each in story.devices
        ),
        empty="The user is not signed in.",
    )
    click.echo()
    output.table(
        ("Factor", "Name", "For", "Set up (UTC)", "Last used"),
        (
            (
                each.kind,
                each.name or None,
                each.site or None,
                output.at(each.created_at),
                output.at(each.last_used_at),
            )
            for each in story.factors
        ),
        empty="The user has no second factor.",
    )


def _fields(versioned: VersionedUser) -> Json:
    return {
        "id": versioned.id,
        "e-mail": versioned.email,
        "name": versioned.name or None,
        "language": versioned.language,
        "operator": versioned.operator_role,
        "created": output.at(versioned.created_at),
        "last signed in": output.at(versioned.last_seen_at),
    }


@user.command("set")
@click.argument("email")
@click.option("--email", "new_email", metavar="EMAIL", help="A new address; ends all sessions.")
@click.option("--name", help="The user's name.")
@language_option
@click.option(
    "--operator/--no-operator",
    default=None,
    help="Allow or refuse access to the operator's console.",
)
@role_option
@common
def user_set(
    options: Options,
    /,
    email: str,
    **arguments: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """Change the given settings; the others stay. Helps users who lost access to their mailbox.

    \b
    Examples:
      risala user set me@example.com --language ar --no-operator
      risala user set me@example.com --operator-role support
    """
    changes = {key: value for key, value in arguments.items() if value is not None}
    if not changes:
        raise click.UsageError("Say what to change. `risala user set --help` lists the options.")

    reply = options.ask(users.SET, email=email, **changes)
    if not output.show(options.json, reply.json):
        output.fields(_fields(reply.value))


@user.command("sign-in")
@click.argument("email")
@click.option(
    "--console",
    "operator",
    is_flag=True,
    default=None,
    help="To the operator's console, not the dashboard.",
)
@asks(users.SIGN_IN)
def user_sign_in(link: MadeLink, running: bool) -> None:
    """Print a link that signs a user in once, within ten minutes. Anyone with the link can use it.

    \b
    Examples:
      risala user sign-in me@example.com
      risala user sign-in me@example.com --console
    """
    if not running:
        output.warned("The service is not running. The link works once it runs.")
    before = output.utc(link.expires_at)[11:16]
    output.warned(
        f"A link for {output.clean(link.email, err=True)}, for one use before {before} UTC:"
    )
    click.echo(link.url)


@user.command("sign-out")
@click.argument("email")
@click.option("--session", "session_id", metavar="ID", help="Only this one.")
@asks(users.SIGN_OUT)
def user_sign_out(ended: Ended, email: str) -> None:
    """End all sessions of a user.

    \b
    Example: risala user sign-out me@example.com
    """
    sessions = output.counted(ended.ended, "session")
    output.said(f"{output.clean(email)} was signed out of {sessions}.")


@user.command("reset-factors")
@click.argument("email")
@asks(factors.RESET)
def user_reset_factors(reset: ResetFactors, email: str) -> None:
    """Remove all passkeys, authenticator apps and recovery codes of a user who lost them.

    The user is signed out everywhere, signs in with a code by e-mail, and is told by mail; so are
    the owners of their organizations. Make sure that it is the user who asks.

    \b
    Example: risala user reset-factors me@example.com
    """
    if not reset.removed:
        output.said(f"{output.clean(email)} has no second factor.")
        return
    removed = output.counted(reset.removed, "factor")
    output.said(f"{output.clean(email)} lost {removed}, and signs in with a code by e-mail.")


@user.command("delete")
@click.argument("email")
@asks(users.DELETE)
def user_delete(_: EndedUser, email: str) -> None:
    """Delete a user: name, address, sessions and memberships.

    This is refused if an organization would be left without an owner.

    \b
    Example: risala user delete me@example.com
    """
    output.said(f"{output.clean(email)} is deleted.")
