"""Bank messages to a SIM of yours: listed, dismissed, and the balance of each account."""

from __future__ import annotations

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.money import money
from risala.engine.model.records.paying import bank_texts
from risala.engine.model.records.paying.bank_texts import Lines


@click.command("texts")
@click.option("--all", "settled", is_flag=True, help="Include texts that need no action.")
@click.option("--method", metavar="METHOD", help="Only texts that this payment method has read.")
@click.option("--payment", metavar="PAYMENT", help="Only texts with this payment's reference.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", type=int, metavar="N", help="Only texts older than this number.")
@common
def payment_texts(
    options: Options,
    settled: bool,
    method: str | None,
    payment: str | None,
    limit: int,
    before: int | None,
) -> None:
    """List the banks' texts that were not credited, newest first, with the reason.

    \b
    Examples:
      risala payment texts
      risala payment texts --all --method bankily --limit 20
    """
    found = options.ask(
        bank_texts.LIST,
        open=not settled,
        method=method,
        payment_id=payment,
        limit=limit,
        before=before,
    )
    if output.show(options.json, found.json):
        return
    output.table(
        ("No.", "Text", "Came (UTC)", "From", "Amount", "Reference", "State", "Why", "Payment"),
        (
            (
                each.seq,
                each.id,
                output.at(each.received_at),
                output.clean(each.sender),
                None if each.amount is None else money(each.amount),
                each.reference,
                each.state,
                each.why,
                each.payment_id or each.fits,
            )
            for each in found.value.texts
        ),
        empty="No texts are waiting." if not settled else "There are no texts yet.",
    )
    if found.value.next:
        output.warned(f"There are older ones: --before {found.value.next}.")


@click.command("dismiss")
@click.argument("text", metavar="TEXT")
@click.argument("reason")
@common
def payment_dismiss(options: Options, text: str, reason: str) -> None:
    """Dismiss TEXT: it needs no action. REASON goes into the audit trail.

    \b
    Example: risala payment dismiss btx_… "A private transfer."
    """
    found = options.ask(bank_texts.DISMISS, text_id=text, reason=reason)
    if not output.show(options.json, found.json):
        output.said(f"{found.value.id} is dismissed.")


@click.command("lines")
@common
def payment_lines(options: Options) -> None:
    """Show each payment method's texts: the account's balance, and what the texts credit.

    \b
    Example: risala payment lines
    """
    found = options.ask(bank_texts.LINES)
    if not output.show(options.json, found.json):
        _show_lines(found.value)


@click.command("reconcile")
@click.argument("method")
@click.argument("balance", metavar="BALANCE")
@common
def payment_reconcile(options: Options, method: str, balance: str) -> None:
    """Set the balance of METHOD's account to BALANCE; its texts continue from there.

    \b
    Example: risala payment reconcile bankily 12500.00
    """
    found = options.ask(bank_texts.RECONCILE, method=method, balance=balance)
    if not output.show(options.json, found.json):
        _show_lines(found.value)


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
