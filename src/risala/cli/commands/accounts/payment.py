"""Payments that customers began: listed, shown, confirmed and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.features.payments import records as payments
from risala.engine.features.payments import text_records as bank_texts
from risala.engine.features.payments.records import (
    PayerStatus,
    PaymentPage,
    PaymentState,
    ShownPayment,
)
from risala.engine.features.payments.text_records import Lines, ShownText, TextPage
from risala.engine.model.money import money
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.people.organizations import SHOW, Organization

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

# Bank messages to a SIM of yours: listed, dismissed, and the balance of each account.


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
def payment_texts(page: TextPage, open: bool) -> None:  # noqa: A002 -- the operation's argument
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
            for each in page.texts
        ),
        empty="No texts are waiting." if open else "There are no texts yet.",
    )
    output.tell_older(page.next)


@click.command("dismiss")
@click.argument("text_id", metavar="TEXT")
@click.argument("reason")
@asks(bank_texts.DISMISS)
def payment_dismiss(text: ShownText) -> None:
    """Dismiss TEXT: it needs no action. REASON goes into the audit trail.

    \b
    Example: risala payment dismiss btx_… "A private transfer."
    """
    output.said(f"{text.id} is dismissed.")


@click.command("lines")
@asks(bank_texts.LINES)
def payment_lines(lines: Lines) -> None:
    """Show each payment method's texts: the account's balance, and what the texts credit.

    \b
    Example: risala payment lines
    """
    _show_lines(lines)


@click.command("reconcile")
@click.argument("method")
@click.argument("balance", metavar="BALANCE")
@asks(bank_texts.RECONCILE)
def payment_reconcile(lines: Lines) -> None:
    """Set the balance of METHOD's account to BALANCE; its texts continue from there.

    \b
    Example: risala payment reconcile wallet 12500.00
    """
    _show_lines(lines)


def _show_lines(lines: Lines) -> None:
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
            for each in lines.lines
        ),
        empty="No payment method reads its bank's texts.",
    )
    if lines.unmatched:
        texts = output.counted(lines.unmatched, "text is", "texts are")
        output.warned(f"{texts} not matched to a payment: see `risala payment texts`.")


payment_id = click.argument("payment_id", metavar="PAYMENT")


@click.group()
def payment() -> None:
    """Customers' payments to top up: an operator confirms those made by mobile money.

    Use `risala topup` to credit cash and other money.

    \b
    Examples:
      risala payment list
      risala payment confirm pay_… --reference BK-4711
    """


@payment.command("list")
@click.argument("only_org", metavar="[ORG]", required=False)
@click.option(
    "--all", "open", flag_value=False, default=True, help="Include confirmed and refused payments."
)
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="PAYMENT", help="Only payments older than this one.")
@asks(payments.LIST)
def payment_list(page: PaymentPage, open: bool) -> None:  # noqa: A002 -- the operation's argument
    """List the payments that wait for a decision, newest first; with ORG, only its own.

    \b
    Examples:
      risala payment list
      risala payment list "My shop" --all --limit 10
    """
    output.table(
        ("Payment", "Organization", "Method", "Amount", "Reference", "State", "Begun (UTC)"),
        (
            (
                each.id,
                each.organization_id,
                each.method,
                output.money(each.amount, each.currency),
                each.reference,
                _state_text(each),
                output.at(each.begun_at),
            )
            for each in page.payments
        ),
        empty="No payments are waiting." if open else "There are no payments yet.",
    )
    output.tell_older(page.next)


@payment.command("show")
@payment_id
@asks(payments.SHOW)
def payment_show(shown_payment: ShownPayment) -> None:
    """Show everything about a payment.

    \b
    Example: risala payment show pay_…
    """
    rows: dict[str, object] = {
        "Payment": shown_payment.id,
        "Organization": shown_payment.organization_id,
        "Method": shown_payment.method,
        "Amount": output.money(shown_payment.amount, shown_payment.currency),
        "Reference": shown_payment.reference,
        "State": _state_text(shown_payment),
        "Paid from": _payer(shown_payment.payer),
        "Begun (UTC)": f"{output.at(shown_payment.begun_at)} by {shown_payment.begun_by}",
    }
    if shown_payment.claimed_at is not None:
        rows["Said to be paid"] = output.at(shown_payment.claimed_at)
    if shown_payment.decided_at is not None:
        by = shown_payment.decided_by or "its provider"
        rows["Decided (UTC)"] = f"{output.at(shown_payment.decided_at)} by {by}"
    if shown_payment.paid is not None:
        rows["Credited"] = output.money(shown_payment.paid, shown_payment.currency)
    if shown_payment.why:
        rows["Why"] = shown_payment.why["en"]
    output.fields(rows)


@payment.command("confirm")
@payment_id
@click.option("--amount", metavar="AMOUNT", help="The amount that really came, if it differs.")
@click.option(
    "--reference", metavar="TEXT", help="The transaction's reference, if the customer's is wrong."
)
@click.option(
    "--unchecked",
    is_flag=True,
    help="Confirm even if the customer has not proven that the payer's number is theirs.",
)
@common
def payment_confirm(
    options: Options, payment_id: str, amount: str | None, reference: str | None, unchecked: bool
) -> None:
    """Confirm that the money of PAYMENT has arrived: it is credited, once.

    \b
    Examples:
      risala payment confirm pay_…
      risala payment confirm pay_… --amount 95 --reference BK-4711
    """

    async def work(session: GatewaySession) -> tuple[Reply[ShownPayment], Organization]:
        confirmed = await session.ask(
            payments.CONFIRM,
            payment_id=payment_id,
            amount=amount,
            reference=reference,
            unchecked=unchecked or None,
        )
        whose = confirmed.value.organization_id
        return confirmed, (await session.ask(SHOW, organization_id=whose)).value

    confirmed, after = options.run(work)
    if not output.show(options.json, confirmed.json):
        paid = output.money(confirmed.value.paid or 0, confirmed.value.currency)
        balance, name = output.money(after.balance, after.currency), after.name
        output.said(f"Credited {paid} to {output.clean(name)}: the balance is {balance}.")


@payment.command("refuse")
@payment_id
@click.argument("reason")
@asks(payments.REFUSE)
def payment_refuse(shown_payment: ShownPayment) -> None:
    """Refuse PAYMENT because no money came. The customer sees REASON.

    \b
    Example: risala payment refuse pay_… "No such transfer has come."
    """
    output.said(f"{shown_payment.id} is refused.")


@payment.command("poll")
@payment_id
@asks(payments.POLL)
def payment_poll(shown_payment: ShownPayment) -> None:
    """Ask the provider of PAYMENT for its status now.

    \b
    Example: risala payment poll pay_…
    """
    output.said(f"{shown_payment.id}: {_state_text(shown_payment)}.")


for _command in (payment_texts, payment_dismiss, payment_lines, payment_reconcile):
    payment.add_command(_command)


def _payer(payer: PayerStatus | None) -> str | None:
    """The payer's number, and whether it is proven to be the customer's."""
    if payer is None:
        return None
    words = {"checked": "it is proven to be the customer's", "none": "nobody checked"}
    return f"{payer.number} ({words.get(payer.state, 'not proven to be theirs yet')})"


def _state_text(shown_payment: ShownPayment) -> str:
    """The payment's state, and the party that it waits for."""
    if shown_payment.state is not PaymentState.WAITING:
        return shown_payment.state.value
    if shown_payment.asks or not shown_payment.by_operator:
        return "waiting for the customer" if shown_payment.asks else "waiting for the provider"
    return "waiting for you"
