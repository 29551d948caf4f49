"""The guard against pumped codes."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import optional_org
from risala.cli.show import output
from risala.engine.features.pumping.records import GUARD, ShownGuard, SuspiciousCodes


@click.command("guard")
@optional_org
@click.option(
    "--key",
    "key_id",
    metavar="KEY",
    help="Whose reaction is meant; `faces`: all credentials of other software.",
)
@click.option(
    "--reaction",
    type=click.Choice(["watch", "refuse"]),
    help="What becomes of the key's suspicious codes.",
)
@click.option(
    "--secret-share",
    type=int,
    metavar="PERCENT",
    help="Share of the codes an hour that only secret keys may use: 0 to 90.",
)
@click.option("--group", metavar="GROUP", help="What passes for a week: block:+22241234.")
@click.option(
    "--passes/--no-passes",
    default=None,
    help="Whether GROUP passes, or is guarded again.",
)
@asks(GUARD)
def guard(shown: ShownGuard) -> None:
    """Show which codes of an organization are suspicious, or choose what becomes of them.

    \b
    Examples:
      risala verify guard
      risala verify guard "My shop" --key KEY --reaction refuse
      risala verify guard "My shop" --group block:+22241234
    """
    codes = output.counted(shown.reserved, "code")
    output.fields({"for secret keys": f"{shown.secret_share} %, {codes} an hour"})
    output.table(
        ("Key", "Type", "Name", "Suspicious codes"),
        ((each.id, each.type, each.name, each.reaction) for each in shown.keys),
        empty="There is no key.",
    )
    output.table(
        ("Codes", "Missed", "Entered", "Usual", "Factor", "Sent", "Refused", "State"),
        (
            (
                f"{each.kind}:{each.name}",
                f"{each.missed:g}",
                f"{each.entered:g}",
                f"{each.usual_entered / (each.usual_entered + each.usual_missed):.0%}",
                f"{each.factor:,.0f}",
                each.watched,
                each.challenged + each.refused,
                _state(each),
            )
            for each in shown.suspicious
        ),
        empty="No code was suspicious.",
    )


def _state(of: SuspiciousCodes) -> str:
    if of.passes_until is not None:
        return f"passes until {output.at(of.passes_until)}"
    return "suspicious" if of.is_held else "as usual"
