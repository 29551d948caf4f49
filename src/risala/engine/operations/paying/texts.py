"""What banks write to a SIM of the operator's: looked at, dismissed, and the balance told anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.money import money
from risala.engine.model.records.bank_texts import BankText, TextState
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    NoArguments,
    Text,
    amount,
    words,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.payments.bank_sms_reader import LineStatus
from risala.engine.rules.roles import OPERATORS

LISTED_MAX: Final = 200
LISTED_USUAL: Final = 50
REASON_MAX: Final = 200


class ListTexts(Arguments):
    """What banks wrote, the newest first."""

    open: MaybeFlag = None
    """Only what is neither credited nor dismissed, and may need you."""
    method: MaybeText = None
    """Only what this payment method has read."""
    payment_id: MaybeText = None
    """Only those with the reference that this payment's customer has entered."""
    before: MaybeWhole = None
    """The number of a text: only older ones are listed."""
    limit: MaybeWhole = None


class DismissText(Arguments):
    """Say that nothing is to be done about a text, and why."""

    text_id: Text
    reason: Annotated[str, PlainValidator(words(REASON_MAX)), ArgumentKind("text on one line")]


class Reconcile(Arguments):
    """Say what the account of a payment method has now: its texts go on from there."""

    method: Text
    balance: Annotated[int, PlainValidator(amount), ArgumentKind("decimal text")]


@dataclass(frozen=True, slots=True)
class ShownText:
    text: BankText
    payment_id: str | None
    """The payment that it settled, or would settle."""


@dataclass(frozen=True, slots=True)
class TextPage:
    texts: tuple[ShownText, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""


@dataclass(frozen=True, slots=True)
class Lines:
    """How the texts of each payment method stand, and how many are nobody's."""

    lines: tuple[LineStatus, ...]
    unmatched: int
    """Open ones that no method has read anything in."""


def _money(amount: int | None) -> str | None:
    return None if amount is None else money(amount)


def text_wire(shown: ShownText) -> Json:
    """A text with what was read in it; amounts as decimal strings."""
    found = shown.text
    return {
        "seq": found.seq,
        "id": found.id,
        "carrier": found.carrier,
        "sender": found.sender,
        "serviceCentre": found.service_centre,
        "text": found.body,
        "receivedAt": iso(found.received_at),
        "state": found.state.value,
        "why": found.why,
        "method": found.method,
        "reference": found.reference,
        "amount": _money(found.amount),
        "payer": found.payer,
        "balance": _money(found.balance),
        "continues": found.continues,
        "paymentId": found.payment_id,
        "fits": shown.payment_id,
        "decidedBy": found.decided_by,
        "decidedAt": maybe_iso(found.decided_at),
    }


def _page_wire(page: TextPage) -> Json:
    return {"texts": [text_wire(each) for each in page.texts], "next": page.next}


def _line_wire(line: LineStatus) -> Json:
    caps = line.caps
    return {
        "method": line.method,
        "carrier": line.carrier,
        "byItself": caps is not None,
        "caps": None
        if caps is None
        else {
            "payment": money(caps.payment),
            "organizationDay": money(caps.organization_day),
            "day": money(caps.day),
        },
        "creditedDay": money(line.credited),
        "balance": _money(line.balance),
        "balanceAt": maybe_iso(line.balance_at),
        "balanceSaidBy": line.balance_said_by,
        "continues": line.continues,
        "open": line.open,
        "lastAt": maybe_iso(line.last_at),
    }


def _lines_wire(found: Lines) -> Json:
    return {"lines": [_line_wire(each) for each in found.lines], "unmatched": found.unmatched}


def _shown(call: Call[Any], found: BankText) -> ShownText:
    """A text with the payment that it settled, or that it tells of in every respect."""
    if found.payment_id is not None or found.state is not TextState.WAITING:
        return ShownText(found, found.payment_id)
    if found.reference_key is None:
        return ShownText(found, None)
    fits = call.services.repositories.bank_texts.payment_of(found)
    return ShownText(found, fits if fits.startswith("pay_") else None)


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
    return TextPage(page, page[-1].text.seq if len(found) > limit else None)


async def _dismiss(call: Call[DismissText]) -> ShownText:
    given = call.given
    by = call.audit(AuditImage.BANK_TEXT, given.text_id, said={"reason": given.reason})
    found = await call.services.payments.ear.dismiss(given.text_id, call.caller.who, by)
    return _shown(call, found)


async def _lines(call: Call[NoArguments]) -> Lines:
    """How the texts of each payment method stand."""
    unmatched = call.services.repositories.bank_texts.count_open(None)
    return Lines(call.services.payments.ear.status(), unmatched)


async def _reconcile(call: Call[Reconcile]) -> Lines:
    given = call.given
    by = call.audit(AuditImage.BANK_BALANCE, given.method)
    ear = call.services.payments.ear
    await ear.reconcile(given.method, given.balance, call.caller.who, by)
    return Lines(ear.status(), call.services.repositories.bank_texts.count_open(None))


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="payment.texts",
        arguments=ListTexts,
        result=TextPage,
        wire=_page_wire,
        handler=_list,
        roles=OPERATORS,
        reveals=True,
    ),
    Operation(
        name="payment.dismiss_text",
        arguments=DismissText,
        result=ShownText,
        wire=text_wire,
        handler=_dismiss,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="payment.lines",
        arguments=NoArguments,
        result=Lines,
        wire=_lines_wire,
        handler=_lines,
        roles=OPERATORS,
    ),
    Operation(
        name="payment.reconcile",
        arguments=Reconcile,
        result=Lines,
        wire=_lines_wire,
        handler=_reconcile,
        roles=OPERATORS,
        changes=True,
    ),
)
