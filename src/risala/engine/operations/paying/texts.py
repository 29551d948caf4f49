"""Banks' texts to a SIM of the operator's: list or dismiss them, and set the account's balance."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.records.paying import bank_texts
from risala.engine.model.records.paying.bank_texts import (
    AccountBalance,
    BankText,
    Lines,
    ShownText,
    TextPage,
    TextState,
)
from risala.engine.model.records.record import shallow
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    NoArguments,
    Text,
    amount,
    words,
)
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import FINANCE, OPERATORS, STAFF

LISTED_MAX: Final = 200
LISTED_USUAL: Final = 50
REASON_MAX: Final = 200


class ListTexts(Arguments):
    """Banks' texts, the newest first."""

    open: MaybeFlag = None
    """Only texts that are neither credited nor dismissed, and may need you."""
    method: MaybeText = None
    """Only texts that this payment method has read."""
    payment_id: MaybeText = None
    """Only those with the reference that this payment's customer entered."""
    before: MaybeWhole = None
    """The number of a text: only older ones are listed."""
    limit: MaybeWhole = None


class DismissText(Arguments):
    """Say that a text needs nothing, and why."""

    text_id: Text
    reason: Annotated[str, PlainValidator(words(REASON_MAX)), ArgumentKind("text on one line")]


class Reconcile(Arguments):
    """Set the balance of a payment method's account: later texts are compared with it."""

    method: Text
    balance: Annotated[int, PlainValidator(amount), ArgumentKind("decimal text")]


def _shown(call: Call[Any], found: BankText) -> ShownText:
    """A text with the payment that it settled, or that it matches in every respect."""
    fits = found.payment_id
    if fits is None and found.state is TextState.WAITING and found.reference_key is not None:
        told = call.services.repositories.bank_texts.payment_of(found)
        fits = told if told.startswith("pay_") else None
    return ShownText(**shallow(found, ShownText), fits=fits)


async def _list(call: Call[ListTexts]) -> TextPage:
    given, stored = call.given, call.services.repositories
    limit = max(1, min(given.limit or LISTED_USUAL, LISTED_MAX))
    key = None
    if given.payment_id is not None:
        key = stored.payments.payment(given.payment_id).reference_key or ""
    found = stored.bank_texts.page(
        limit + 1,
        before=given.before,
        method=given.method,
        is_open=bool(given.open),
        key=key,
    )
    page = tuple(_shown(call, each) for each in found[:limit])
    await call.note(call.audit(said={"shown": len(page)}, always=True))
    return TextPage(page, page[-1].seq if len(found) > limit else None)


async def _dismiss(call: Call[DismissText]) -> ShownText:
    given = call.given
    by = call.audit(AuditImage.BANK_TEXT, given.text_id, said={"reason": given.reason})
    found = await call.services.payments.ear.dismiss(given.text_id, call.caller.who, by)
    return _shown(call, found)


async def _lines(call: Call[NoArguments]) -> Lines:
    """The state of each payment method's texts."""
    return call.services.payments.ear.status()


async def _reconcile(call: Call[Reconcile]) -> Lines:
    given = call.given
    by = call.audit(AuditImage.BANK_BALANCE, given.method)
    ear = call.services.payments.ear
    await ear.reconcile(given.method, given.balance, call.caller.who, by)
    return ear.status()


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(bank_texts.LIST, ListTexts, _list, roles=OPERATORS, operators=FINANCE, reveals=True),
    operation(
        bank_texts.DISMISS,
        DismissText,
        _dismiss,
        roles=OPERATORS,
        operators=FINANCE,
        changes=BankText,
    ),
    operation(bank_texts.LINES, NoArguments, _lines, roles=OPERATORS, operators=STAFF),
    operation(
        bank_texts.RECONCILE,
        Reconcile,
        _reconcile,
        roles=OPERATORS,
        operators=FINANCE,
        changes=AccountBalance,
    ),
)
