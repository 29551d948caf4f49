"""What people do with invoices: issue one, look at one, list them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.invoices import issuing, records
from risala.engine.features.invoices.records import (
    LINE_MAX,
    LINES_MAX,
    LISTED_MAX,
    LISTED_USUAL,
    Invoice,
    InvoiceCustomer,
    InvoicePage,
)
from risala.engine.features.invoices.stored import InvoiceRepository
from risala.engine.features.statements import rules
from risala.engine.features.statements.operations import month_in
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeText,
    MaybeWhole,
    OfMaybeOrganization,
    OfOrganization,
    Text,
    any_text,
    fault,
    maybe,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Conflict
from risala.engine.model.times import iso
from risala.engine.rules.roles import FINANCE, OPERATORS, OWNERS, READERS, VIEWERS
from risala.engine.services import Services

NO_ISSUER: Final = (
    "An invoice needs the name, tax number and series of who issues it. Set `legal.name`,"
    " `legal.tax_id` and `legal.invoice_series` in the settings, and restart."
)


class OfClosedMonth(OfOrganization):
    """Issue the invoice of a month that is over, unless it has one."""

    month: Annotated[date, PlainValidator(month_in), ArgumentKind("month")]


class OfInvoice(Arguments):
    """Names an invoice."""

    invoice_id: Text
    """Its number or its id."""


class ListInvoices(OfMaybeOrganization):
    """Invoices, the newest first."""

    month: Annotated[date | None, PlainValidator(maybe(month_in)), ArgumentKind("month")] = None
    """Only that of this month, of one organization."""
    before: MaybeText = None
    """The id of an invoice: only older ones are listed."""
    after: MaybeText = None
    """The id of an invoice: only the next newer ones are listed."""
    limit: MaybeWhole = None


def _lines(value: object) -> tuple[str, ...]:
    listed = value.splitlines() if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        raise fault("invalid_type", "`{name}` must be a list of lines.")
    lines = tuple(filter(None, map(_line, listed)))
    if len(lines) > LINES_MAX:
        raise fault("invalid_length", f"`{{name}}` has at most {LINES_MAX} lines.")
    return lines


def _line(value: object) -> str:
    line = " ".join(any_text(value).split())
    if len(line) > LINE_MAX:
        text = f"Each line of `{{name}}` has at most {LINE_MAX} characters."
        raise fault("invalid_length", text)
    return line


class SetInvoiceCustomer(OfOrganization):
    """Show what stands about an organization on its invoices, after changing what is given."""

    address: Annotated[
        tuple[str, ...] | None,
        PlainValidator(maybe(_lines)),
        ArgumentKind(f"at most {LINES_MAX} lines"),
    ] = None
    """Empty: none, from now on."""
    tax_id: Annotated[str | None, PlainValidator(maybe(_line)), ArgumentKind("text")] = None
    """Empty: none, from now on."""


def _of_invoice(services: Services, arguments: OfInvoice) -> str:
    """The organization of an invoice. Raises ``NotFound``."""
    invoice = services.repositories.part(InvoiceRepository).find(arguments.invoice_id)
    return invoice.organization_id


_DETAILS: Final = ("address", "tax_id")
OPERATIONS: Final = Operations()


@OPERATIONS(
    records.ISSUE,
    roles=OPERATORS,
    operators=FINANCE,
    owner=owners.named,
    changes=Invoice,
    allows_deleted=True,
)
async def _issue(call: Call[OfClosedMonth]) -> Invoice:
    arguments, services, now_ms = call.arguments, call.services, call.now_ms
    organization = services.accounts.fresh_organization(arguments.organization_id)
    kept, month = call.stored(InvoiceRepository), rules.written(arguments.month)
    former = kept.of_month(organization.id, month)
    if former is not None:
        return former
    if not services.settings.legal.can_invoice:
        raise Conflict(NO_ISSUER)
    closes_at = issuing.closes_at(arguments.month, organization.time_zone)
    if now_ms < closes_at:
        raise Conflict(f"The month is not over yet: it can have an invoice from {iso(closes_at)}.")
    due, last = await issuing.first_due(services, organization), kept.last(organization.id)
    if due is not None and due < arguments.month and (last is None or last.month < month):
        raise Conflict(
            f"The costs of {rules.written(due)} have no invoice yet. Issue that one first, so that"
            " the numbers are in the order of the months."
        )
    draft = await issuing.drawn_up(services, organization, arguments.month, now_ms)
    if draft is None:
        raise Conflict("Nothing was charged or refunded in this month, so it has no invoice.")
    by = call.audit(AuditImage.INVOICE, organization_id=organization.id)
    return await kept.issue(by, draft, services.settings.legal.invoice_series)


@OPERATIONS(
    records.CUSTOMER,
    roles=VIEWERS,
    operators=READERS,
    reserved=dict.fromkeys(_DETAILS, OWNERS),
    owner=owners.named,
    changes=InvoiceCustomer,
)
async def _customer(call: Call[SetInvoiceCustomer]) -> InvoiceCustomer:
    arguments, kept = call.arguments, call.stored(InvoiceRepository)
    organization_id = arguments.organization_id
    call.services.accounts.organization(organization_id)
    customer = kept.customer_of(organization_id)
    details = {name: getattr(arguments, name) for name in _DETAILS}
    changed = {name: value for name, value in details.items() if value is not None}
    if not changed:
        return customer
    new = replace(customer, **changed)
    by = call.audit(AuditImage.INVOICE_CUSTOMER, organization_id, organization_id=organization_id)
    return await kept.put_customer(by, new)


@OPERATIONS(records.GET, roles=VIEWERS, operators=READERS, owner=_of_invoice)
async def _get(call: Call[OfInvoice]) -> Invoice:
    return call.stored(InvoiceRepository).find(call.arguments.invoice_id)


@OPERATIONS(
    records.LIST,
    roles=VIEWERS,
    operators=READERS,
    owner=owners.named,
    reads_all_organizations=True,
)
async def _list(call: Call[ListInvoices]) -> InvoicePage:
    arguments, kept = call.arguments, call.stored(InvoiceRepository)
    organization_id, can_issue = arguments.organization_id, call.services.settings.legal.can_invoice
    limit = max(1, min(arguments.limit or LISTED_USUAL, LISTED_MAX))
    if organization_id is not None:
        call.services.accounts.organization(organization_id)
        if arguments.month is not None:
            one = kept.of_month(organization_id, rules.written(arguments.month))
            return InvoicePage(() if one is None else (one,), None, None, can_issue)
    before, after = arguments.before, arguments.after
    invoices = kept.page(limit + 1, organization_id=organization_id, before=before, after=after)
    has_more = len(invoices) > limit
    if after is not None:
        page = tuple(invoices[-limit:])
        older, newer = bool(page), has_more
    else:
        page = tuple(invoices[:limit])
        older, newer = has_more, bool(before and page)
    return InvoicePage(
        page, page[-1].id if older else None, page[0].id if newer else None, can_issue
    )
