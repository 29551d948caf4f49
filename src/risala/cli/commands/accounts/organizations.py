"""Which organization a command means."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.asks import PAGE_MAX
from risala.engine.model.records.people import organizations

if TYPE_CHECKING:
    from risala.cli.reach.options import Options
    from risala.cli.reach.performer import GatewaySession
    from risala.engine.model.records.asks import Ask, Reply
    from risala.engine.model.records.people.organizations import ListedOrganization

R = TypeVar("R")

org_option = click.option(
    "--org",
    metavar="ORG",
    help="The organization's id or name. May be left out if there is only one.",
)

only_org_option = click.option(
    "--org", "only_org", metavar="ORG", help="Only of this organization, its id or name."
)

optional_org = click.argument("org", metavar="[ORG]", required=False)
required_org = click.argument("org", metavar="ORG")


def organization_and_amount(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the arguments ``[ORG] AMOUNT``. click itself would take a single argument for
    ORG."""

    def split(
        context: click.Context, _: click.Parameter, values: tuple[str, ...]
    ) -> tuple[str | None, str]:
        if not 1 <= len(values) <= 2:
            text = "Give an organization and an amount, or the amount alone."
            raise click.UsageError(text, context)
        return (values[0] if len(values) == 2 else None), values[-1]

    @click.argument("both", metavar="[ORG] AMOUNT", nargs=-1, callback=split)
    @functools.wraps(command)
    def wrapper(*args: Any, both: tuple[str | None, str], **kwargs: Any) -> Any:  # noqa: ANN401
        return command(*args, org=both[0], amount=both[1], **kwargs)

    return wrapper


def ask_organization(ask: Ask[R], options: Options, org: str | None, /, **more: object) -> Reply[R]:
    """Ask for an operation that takes an organization, and more."""

    async def work(session: GatewaySession) -> Reply[R]:
        organization = await organization_id(session, org)
        return await session.ask(ask, organization_id=organization, **more)

    return options.run(work)


def money_of(amount: int | None, currency: str) -> str | None:
    """An amount with its currency; None if there is none."""
    return None if amount is None else output.money(amount, currency)


async def every_organization(
    session: GatewaySession, *, search: str | None = None, status: str | None = None
) -> list[ListedOrganization]:
    """All organizations that fit, the oldest first."""
    listed: list[ListedOrganization] = []
    before: str | None = None
    while True:
        arguments = {"search": search, "status": status, "before": before, "limit": PAGE_MAX}
        page = (await session.ask(organizations.LIST, **arguments)).value
        listed += page.organizations
        before = page.older
        if before is None:
            return listed[::-1]


async def organization_id(session: GatewaySession, org: str | None) -> str:
    """The id of an organization.

    Args:
        given: an id, or a name that only one organization has; None if only one exists.

    Raises:
        CommandRefused: no organization, or more than one, matches.
    """
    if org is not None and org.startswith("org_"):
        return org
    answer = (await session.ask(organizations.FIND, name=org)).value
    if answer.organization_id is not None:
        return answer.organization_id
    match answer.count, org:
        case 0, None:
            raise CommandRefused(
                "There are no organizations yet. Create one with `risala org create NAME`."
            )
        case 0, _:
            raise CommandRefused(f"There is no organization named {org!r}. See `risala org list`.")
        case count, None:
            raise CommandRefused(
                f"There are {output.counted(count, 'organization')}. Say which one with --org."
            )
        case count, _:
            raise CommandRefused(
                f"{output.counted(count, 'organization')} are named {org!r}. Use the id of one."
            )
