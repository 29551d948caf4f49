"""The statement of a month, on the terminal and as a PDF."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from risala.cli.commands.accounts.asking import without_missing
from risala.cli.commands.accounts.organizations import optional_org, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.features.statements.records import (
    STATEMENT,
    CostSource,
    MonthStatement,
    StatementDay,
)
from risala.engine.model.money import money
from risala.engine.model.people import Language
from risala.engine.model.records.asks import Reply

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

_HEADINGS: Final = ("Day", "Mailings", "API keys", "Codes", "Other", "Refunds", "Payments")

_Command = TypeVar("_Command", bound=Callable[..., object])


def pdf_option(words: str) -> Callable[[_Command], _Command]:
    """An option of the file that is written as PDF."""
    file = click.Path(path_type=Path, dir_okay=False, writable=True)
    return click.option("--pdf", type=file, metavar="FILE", help=words)


language_option: Final = click.option(
    "--language",
    type=click.Choice([each.value for each in Language]),
    default=Language.FRENCH.value,
    show_default=True,
    help="The language of the PDF.",
)


def refuse_without_pdf(pdf: Path | None) -> None:
    """
    Raises:
        click.UsageError: a PDF is wanted, and nothing here writes it.
    """
    if pdf is not None and not all(find_spec(name) for name in ("fpdf", "uharfbuzz")):
        raise click.UsageError(
            'Nothing here writes PDF. Install it with `pip install "risala[pdf]"`.'
        )


@click.command()
@optional_org
@click.option("--month", metavar="MONTH", help="Such as 2026-11; without it the present month.")
@pdf_option("Write the statement into this file, as PDF.")
@language_option
@common
def statement(
    options: Options, org: str | None, month: str | None, pdf: Path | None, language: str
) -> None:
    """Show what each day of a month cost ORG, by what was sent, and what was paid.

    \b
    Examples:
      risala statement
      risala statement "My shop" --month 2026-10 --pdf statement.pdf
    """
    refuse_without_pdf(pdf)

    async def work(session: GatewaySession) -> Reply[MonthStatement]:
        organization = await organization_id(session, org)
        named = without_missing({"month": month})
        return await session.ask(STATEMENT, organization_id=organization, **named)

    reply = options.run(work)
    if pdf is not None:
        pdf.write_bytes(_pdf(reply.value, Language(language)))
    if output.show(options.json, reply.json):
        return
    if pdf is None:
        _print(reply.value)
    else:
        name = output.clean(reply.value.organization_name)
        output.said(f"Wrote the statement of {name} for {reply.value.month} to {pdf}.")


def _pdf(shown: MonthStatement, language: Language) -> bytes:
    # Imported here: catalogues of translations and what writes PDF are for this alone.
    from risala.http.web.files.paper import write
    from risala.http.web.languages import load_words
    from risala.http.web.statements import paper_of

    return write(paper_of(shown, load_words(language)))


def _print(shown: MonthStatement) -> None:
    output.table(
        (*_HEADINGS, f"Balance ({shown.currency})"),
        (
            ("as it began", *[""] * 6, money(shown.opening)),
            *map(_line, shown.days),
            ("together", *_amounts(shown), money(shown.closing)),
        ),
        empty="",
    )
    if shown.own_parts:
        output.table(
            ("Day", "Parts that nobody pays"),
            ((each.day, each.parts) for each in shown.own_parts),
            empty="",
        )
    if shown.counted_until is not None:
        at = output.at(shown.counted_until)
        output.warned(f"The month has too many entries to sum up: those since {at} are not in it.")


def _amounts(shown: StatementDay | MonthStatement) -> tuple[str, ...]:
    costs = {each.source: -each.amount for each in shown.sources}
    amounts = (*(costs.get(each, 0) for each in CostSource), shown.refunded, shown.credited)
    return tuple(money(each) if each else "" for each in amounts)


def _line(day: StatementDay) -> tuple[str, ...]:
    return (day.day, *_amounts(day), money(day.balance_after))
