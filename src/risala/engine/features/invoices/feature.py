"""Invoices of months: numbered without gaps, frozen as they were issued, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, Task, elsewhere, later

if TYPE_CHECKING:
    from risala.engine.services import Services

_HERE: Final = "features.invoices."
_STORED: Final = _HERE + "stored:"


def tasks(services: Services) -> Sequence[Task]:
    """What issues invoices as months end: nothing is loaded where the settings ask for none."""
    if not services.settings.legal.can_invoice:
        return ()
    made: Sequence[Task] = later(_HERE + "issuing:tasks")()(services)
    return made


FEATURE: Final = Feature(
    name="invoices",
    needs=("statements",),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    views=("invoice.get", "invoice.list"),
    images={
        AuditImage.INVOICE: later(_STORED + "find"),
        AuditImage.INVOICE_CUSTOMER: later(_STORED + "customer_of"),
    },
    exported_settings={"invoiceCustomer": later(_STORED + "customer_of")},
    findable=later(_HERE + "stored:FOUND"),
    exported={"invoices": later(_STORED + "export")},
    books=later(_STORED + "BOOKS"),
    tasks=later(_HERE + "feature:tasks"),
    deleted=("invoice_customers",),
    tables=("invoices", "invoice_customers"),
    dashboard=(elsewhere("http.dashboard.billing.invoices:ROUTES"),),
    api_paths=("/api/billing/statement", "/api/billing/invoices"),
    api_handlers=elsewhere("http.api.management.billing:handlers"),
    api_reference=elsewhere("http.api.openapi.billing:REFERENCE"),
    console=(elsewhere("http.operator.organizations.invoices:ROUTES"),),
    commands={"invoice": elsewhere("cli.commands.accounts.invoices:invoice")},
    shown={
        "billing": elsewhere("http.dashboard.billing.invoices:shown"),
        "organization_statement": elsewhere("http.operator.organizations.invoices:shown"),
    },
)
