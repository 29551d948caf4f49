"""Numbers whose users enter a fixed code, for reviewers of app stores."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.asking import asks, without_missing
from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.reach.options import number_option
from risala.cli.show import output
from risala.engine.features.fixed_numbers.feature import (
    LIST,
    REMOVE,
    SET,
    FixedNumber,
    FixedNumbers,
)

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

_NUMBER = click.argument("number", callback=number_option)


@click.command("fixed")
@org_option
@asks(LIST)
def fixed(numbers: FixedNumbers) -> None:
    """List the numbers with a fixed code, which get no SMS.

    \b
    Example: risala verify fixed
    """
    output.table(
        ("Number", "Until (UTC)", "Set (UTC)", "By"),
        (
            (each.number, output.at(each.ends_at), output.at(each.set_at), each.set_by)
            for each in numbers.numbers
        ),
        empty="No number has a fixed code.",
    )


async def _given(session: GatewaySession, values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `fixed_number.set`; the code is read from its file."""
    arguments = without_missing(values)
    arguments["organization_id"] = await organization_id(session, arguments.pop("org", None))
    code: IO[str] = arguments.pop("code_file")
    return {**arguments, "code": code.read().strip()}


@click.command("fix")
@_NUMBER
@org_option
@click.option(
    "--code-file",
    type=click.File(),
    default="-",
    help="A file with the code, 6 to 8 digits; without it, standard input is read.",
)
@click.option(
    "--days", type=int, default=30, show_default=True, help="It ends after so many, 1 to 90."
)
@asks(SET, arguments=_given)
def fix(number: FixedNumber) -> None:
    """Give NUMBER a fixed code, for the reviewers of an app store: it gets no SMS until the end.

    Anybody who knows the number and its code gets in as its user: take a number of nobody else.

    \b
    Example: risala verify fix NUMBER --days 14
    """
    output.said(f"{number.number} has a fixed code until {output.at(number.ends_at)}.")


@click.command("unfix")
@_NUMBER
@org_option
@asks(REMOVE)
def unfix(number: FixedNumber) -> None:
    """Take the fixed code of NUMBER away, so that its codes leave by SMS again.

    \b
    Example: risala verify unfix NUMBER
    """
    output.said(f"{number.number} has no fixed code any more.")
