"""What became of an organization's codes."""

from __future__ import annotations

from typing import Final

import click

from risala.cli.commands.accounts.asking import asks, mode_option
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output, when
from risala.engine.model.money import money
from risala.engine.model.records.verify.figures import (
    FIGURES,
    CodeFigure,
    CodeFigures,
    FiguresBy,
)

_HEADINGS: Final = ("Asked for", "Sent", "Delivered", "Entered", "In a minute", "Median", "9 of 10")


@click.command("figures")
@org_option
@mode_option("Those of test keys instead of live ones.")
@click.option(
    "--by",
    type=click.Choice([each.value for each in FiguresBy]),
    default=FiguresBy.DAY.value,
    show_default=True,
    help="What each line is of.",
)
@click.option(
    "--since",
    metavar="TIME",
    default="7d",
    show_default=True,
    callback=when.past_option,
    help="From this day on: 2026-11-21T08:30 (local), or 90m, 2h, 3d ago.",
)
@click.option("--until", metavar="TIME", callback=when.past_option, help="To this day.")
@asks(FIGURES)
def figures(shown: CodeFigures, by: str) -> None:
    """Show how many codes were asked for, sent, delivered and entered.

    Days are whole ones, of the organization's time zone.

    \b
    Examples:
      risala verify figures
      risala verify figures --by carrier --since 30d
    """
    output.table(
        (by.capitalize(), *_HEADINGS, f"Cost ({shown.currency})"),
        (
            *(_line(each, each.of or "unknown") for each in shown.items),
            *([_line(shown.whole, "all")] if len(shown.items) > 1 else []),
        ),
        empty="No code was asked for in this time.",
    )
    if shown.counted_until is not None:
        at = output.at(shown.counted_until)
        output.warned(f"Codes since {at} are not in it yet: ask again in some minutes.")


def _line(figure: CodeFigure, name: str) -> tuple[str, ...]:
    counts = (figure.asked, figure.sent, figure.delivered, figure.entered, figure.within_minute)
    times = (figure.median_seconds, figure.p90_seconds)
    return (
        *(name, *map(str, counts)),
        *("–" if each is None else f"{each} s" for each in times),
        money(figure.cost),
    )
