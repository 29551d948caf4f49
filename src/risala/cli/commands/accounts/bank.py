"""Bank messages to a SIM of yours: listed, dismissed, and the balance of each account."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.model.money import money
from risala.engine.model.records.paying import bank_texts
from risala.engine.model.records.paying.bank_texts import Lines, ShownText, TextPage


@click.command("texts")
@click.option(
    "--all", "open", flag_value=False, default=True, help="Include texts that need no action."
)
@click.option("--method", metavar="METHOD", help="Only texts that this payment method has read.")
@click.option(
    "--payment", "payment_id", metavar="PAYMENT", help="Only texts with this payment's reference."
)
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", type=int, metavar="N", help="Only texts older than this number.")
@asks(bank_texts.LIST)
def payment_texts(found: TextPage, open: bool) -> None:  # noqa: A002 -- the operation's argument
    """List the banks' texts that were not credited, newest first, with the reason.

    \b
    Examples:
      risala payment texts
      risala payment texts --all --method wallet --limit 20
    """
    output.table(
        (
            "No.",
            "Text",
            "Came (UTC)",
            "Sent (UTC)",
            "From",
            "Amount",
            "Reference",
            "State",
            "Why",
            "Payment",
        ),
        (
            (
                each.seq,
                each.id,
                output.at(each.received_at),
                output.at(each.sent_at),
                output.clean(each.sender),
                None if each.amount is None else money(each.amount),
                each.reference,
                each.state,
                each.why,
                each.payment_id or each.fits,
            )
            for each in found.texts
        ),
        empty="No texts are waiting." if open else "There are no texts yet.",
    )
    output.tell_older(found.next)


@click.command("dismiss")
@click.argument("text_id", metavar="TEXT")
@click.argument("reason")
@asks(bank_texts.DISMISS)
def payment_dismiss(found: ShownText) -> None:
    """Dismiss TEXT: it needs no action. REASON goes into the audit trail.

    \b
    Example: risala payment dismiss btx_… "A private transfer."
    """
    output.said(f"{found.id} is dismissed.")


@click.command("lines")
@asks(bank_texts.LINES)
def payment_lines(found: Lines) -> None:
    """Show each payment method's texts: the account's balance, and what the texts credit.

    \b
    Example: risala payment lines
    """
    _show_lines(found)


@click.command("reconcile")
@click.argument("method")
@click.argument("balance", metavar="BALANCE")
@asks(bank_texts.RECONCILE)
def payment_reconcile(found: Lines) -> None:
    """Set the balance of METHOD's account to BALANCE; its texts continue from there.

    \b
    Example: risala payment reconcile wallet 12500.00
    """
    _show_lines(found)


def _show_lines(found: Lines) -> None:
    output.table(
        ("Method", "Carrier", "Balance", "Goes on", "Credited in 24 h", "Of", "Waiting"),
        (
            (
                each.method,
                each.carrier,
                "not said" if each.balance is None else money(each.balance),
                each.continues,
                money(each.credited_day),
                "you confirm each" if each.caps is None else money(each.caps.day),
                each.open,
            )
            for each in found.lines
        ),
        empty="No payment method reads its bank's texts.",
    )
    if found.unmatched:
        texts = output.counted(found.unmatched, "text is", "texts are")
        output.warned(f"{texts} not matched to a payment: see `risala payment texts`.")
