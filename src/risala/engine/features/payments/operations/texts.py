"""Banks' texts to a SIM of the operator's: list or dismiss them, and set the account's balance."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.payments import text_records as records
from risala.engine.features.payments.bank_sms_reader import BankSmsReader
from risala.engine.features.payments.service import PaymentService
from risala.engine.features.payments.stored.repository import BankTextRepository, PaymentRepository
from risala.engine.features.payments.text_records import (
    AccountBalance,
    BankText,
    Lines,
    ShownText,
    TextPage,
    TextState,
)
from risala.engine.kernel.arguments import (
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
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.records.record import shallow
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


OPERATIONS: Final = Operations()


def _shown(call: Call[Any], text: BankText) -> ShownText:
    """A text with the payment that it settled, or that it matches in every respect."""
    fits = text.payment_id
    if fits is None and text.state is TextState.WAITING and text.reference_key is not None:
        owner = call.stored(BankTextRepository).payment_of(text)
        fits = owner if owner.startswith("pay_") else None
    return ShownText(**shallow(text, ShownText), fits=fits)


@OPERATIONS(records.LIST, operators=FINANCE, shows_texts=True, roles=OPERATORS)
async def _list(call: Call[ListTexts]) -> TextPage:
    arguments, stored = call.arguments, call.services.repositories
    limit = max(1, min(arguments.limit or LISTED_USUAL, LISTED_MAX))
    key = None
    if arguments.payment_id is not None:
        key = stored.part(PaymentRepository).payment(arguments.payment_id).reference_key or ""
    texts = stored.part(BankTextRepository).page(
        limit + 1,
        before=arguments.before,
        method=arguments.method,
        is_open=bool(arguments.open),
        key=key,
    )
    page = tuple(_shown(call, each) for each in texts[:limit])
    await call.note(call.audit(details={"shown": len(page)}, always=True))
    return TextPage(page, page[-1].seq if len(texts) > limit else None)


@OPERATIONS(records.DISMISS, operators=FINANCE, changes=BankText, roles=OPERATORS)
async def _dismiss(call: Call[DismissText]) -> ShownText:
    arguments = call.arguments
    by = call.audit(AuditImage.BANK_TEXT, arguments.text_id, details={"reason": arguments.reason})
    texts = call.stored(BankTextRepository)
    return _shown(call, await texts.dismiss(by, arguments.text_id, call.caller.who, call.now_ms))


@OPERATIONS(records.LINES, operators=STAFF, roles=OPERATORS)
async def _lines(call: Call[NoArguments]) -> Lines:
    """The state of each payment method's texts."""
    return _reader(call).status()


@OPERATIONS(records.RECONCILE, operators=FINANCE, changes=AccountBalance, roles=OPERATORS)
async def _reconcile(call: Call[Reconcile]) -> Lines:
    arguments = call.arguments
    by = call.audit(AuditImage.BANK_BALANCE, arguments.method)
    reader = _reader(call)
    await reader.reconcile(arguments.method, arguments.balance, call.caller.who, by)
    return reader.status()


def _reader(call: Call[Any]) -> BankSmsReader:
    return call.part(PaymentService).reader
