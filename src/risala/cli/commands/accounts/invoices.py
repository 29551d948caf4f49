"""Invoices on the terminal: listed, issued, shown, and as PDF."""

from __future__ import annotations

from pathlib import Path

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import optional_org
from risala.cli.commands.accounts.statements import language_option, pdf_option, refuse_without_pdf
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.features.invoices import records
from risala.engine.features.invoices.records import (
    LISTED_MAX,
    Invoice,
    InvoiceCustomer,
    InvoicePage,
)
from risala.engine.model.money import money
from risala.engine.model.people import Language


@click.group()
def invoice() -> None:
    """Invoices of months, numbered without gaps.

    \b
    Examples:
      risala invoice list
      risala invoice issue "My shop" 2026-10
    """


@invoice.command("list")
@click.option("--org", "only_org", metavar="ORG", help="Only invoices of this organization.")
@click.option("--before", metavar="ID", help="Only invoices older than this one.")
@click.option("--limit", type=click.IntRange(1, LISTED_MAX), default=24, show_default=True)
@asks(records.LIST)
def invoice_list(page: InvoicePage) -> None:
    """List invoices, the newest first.

    \b
    Example: risala invoice list --org "My shop"
    """
    output.table(
        ("Number", "Month", "Organization", "Issued (UTC)", "Total", "Currency"),
        (
            (
                each.number,
                each.month,
                output.clean(each.organization_name),
                output.at(each.issued_at),
                money(each.total),
                each.currency,
            )
            for each in page.invoices
        ),
        empty="There are no invoices yet."
        if page.can_issue
        else "There are no invoices: set legal.name, legal.tax_id and legal.invoice_series.",
    )
    output.tell_older(page.next)


@invoice.command("issue")
@click.argument("org")
@click.argument("month")
@asks(records.ISSUE)
def invoice_issue(issued: Invoice) -> None:
    """Issue the invoice of MONTH to ORG. If it has one, that is shown, and nothing changes.

    \b
    Example: risala invoice issue "My shop" 2026-10
    """
    name = output.clean(issued.organization_name)
    total = f"{money(issued.total)} {issued.currency}"
    output.said(f"Invoice {issued.number} of {name} for {issued.month}: {total}.")


@invoice.command("show")
@click.argument("number")
@pdf_option("Write the invoice into this file, as PDF.")
@language_option
@common
def invoice_show(options: Options, number: str, pdf: Path | None, language: str) -> None:
    """Show the invoice with this number, as it was issued.

    \b
    Examples:
      risala invoice show F-0001
      risala invoice show F-0001 --pdf F-0001.pdf --language en
    """
    refuse_without_pdf(pdf)
    reply = options.run(lambda session: session.ask(records.GET, invoice_id=number))
    if pdf is not None:
        pdf.write_bytes(_pdf(reply.value, Language(language)))
    if output.show(options.json, reply.json):
        return
    if pdf is None:
        _print(reply.value)
    else:
        output.said(f"Wrote the invoice {reply.value.number} to {pdf}.")


@invoice.command("customer")
@optional_org
@click.option("--address", multiple=True, metavar="LINE", help="Repeat it for each line.")
@click.option("--tax-id", metavar="NUMBER", help="The number with the tax office.")
@asks(records.CUSTOMER)
def invoice_customer(shown: InvoiceCustomer) -> None:
    """Show what stands about ORG on its invoices, or change it for later ones.

    An empty LINE or NUMBER takes it away.

    \b
    Example: risala invoice customer "My shop" --address "Avenue 3" --address Rosso --tax-id 77
    """
    address = ", ".join(map(output.clean, shown.address))
    output.fields({"address": address or None, "tax number": output.clean(shown.tax_id) or None})


def _pdf(shown: Invoice, language: Language) -> bytes:
    # Imported here: catalogues of translations and what writes PDF are for this alone.
    from risala.http.web.files.paper import write
    from risala.http.web.invoices import paper_of
    from risala.http.web.languages import load_words

    return write(paper_of(shown, load_words(language)))


def _vat(shown: Invoice) -> tuple[tuple[str, None, str], ...]:
    if shown.vat is None:
        return ()
    return (
        (f"  of it VAT at {shown.vat_percent} %", None, money(shown.vat)),
        ("  of it without VAT", None, money(shown.total - shown.vat)),
    )


def _print(shown: Invoice) -> None:
    output.table(
        ("What", "Messages", f"Amount ({shown.currency})"),
        (
            *((each.source.value, each.messages, money(each.amount)) for each in shown.sources),
            *([("refunds", None, money(-shown.refunded))] if shown.refunded else []),
            ("total", None, money(shown.total)),
            *_vat(shown),
        ),
        empty="",
    )
    output.said(
        f"{shown.number} of {shown.month}, issued {output.at(shown.issued_at)} by"
        f" {output.clean(shown.issuer.name)} to {output.clean(shown.organization_name)}."
    )
