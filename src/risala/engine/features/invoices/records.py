"""Invoices as they were issued, and the asks for them."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.features.statements.records import Issuer, SourceCost
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    UNAUDITED,
    Hint,
    Label,
    Maximum,
    Moment,
    Money,
    Typed,
)

LISTED_MAX: Final = 100
"""Invoices of one answer: each has the days of its month."""
LISTED_USUAL: Final = 24
"""Two years of one organization."""
CLOSED_AFTER_MS: Final = 3_600_000
"""How long after its end a month counts as closed: by then what came in its last moment is in the
ledger, and a clock that was a little wrong is right again."""

LINES_MAX: Final = 6
"""Lines of a customer's address."""
LINE_MAX: Final = 100
"""Characters of such a line, and of the tax number: as those of who issues invoices."""


@dataclass(frozen=True, slots=True)
class InvoiceDay:
    """A day for which something was charged or refunded."""

    day: str
    """`2026-11-28`, of the invoice's time zone."""
    sources: tuple[SourceCost, ...]
    refunded: Money


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice of a month, all of it as it was issued: nothing that changes later changes it. It
    has no phone number, and no name of a key or mailing."""

    id: Annotated[str, UNAUDITED]
    number: Annotated[str, AUDITED]
    """The series and the number in it: `F-0042`."""
    organization_id: Annotated[str, UNAUDITED]
    organization_name: Annotated[str, UNAUDITED]
    issuer: Annotated[Issuer, UNAUDITED]
    """The company that issued it."""
    month: Annotated[str, AUDITED]
    """`2026-11`, of the organization's time zone."""
    time_zone: Annotated[str, UNAUDITED]
    currency: Annotated[str, UNAUDITED]
    sources: Annotated[tuple[SourceCost, ...], UNAUDITED]
    """What each source cost in the month."""
    days: Annotated[tuple[InvoiceDay, ...], UNAUDITED]
    charged: Annotated[Money, UNAUDITED]
    refunded: Annotated[Money, UNAUDITED]
    total: Annotated[Money, AUDITED]
    """What was charged, without what was refunded. Below zero it is a credit note: more was
    refunded, for messages of earlier months, than charged."""
    issued_at: Annotated[Moment, AUDITED]
    begins_at: Annotated[Moment | None, UNAUDITED] = None
    """The first moment that it covers: where the invoice of the month before ended, in the time
    zone of then. Null: issued before this was kept, and it begins with its month."""
    ends_at: Annotated[Moment | None, UNAUDITED] = None
    """The first moment that it no longer covers. Null: as above, and it ends with its month."""
    customer_address: Annotated[tuple[str, ...], UNAUDITED] = ()
    """The customer's address, line by line; empty: not said."""
    customer_tax_id: Annotated[str, UNAUDITED] = ""
    """The customer's tax number; empty: not said."""
    vat_percent: Annotated[str | None, UNAUDITED] = None
    """The rate of the VAT that is part of the total, such as `16`. Null: it names none."""
    vat: Annotated[Money | None, UNAUDITED] = None
    """That part of the total, rounded half up to the currency's smallest unit. Null: as above."""


@dataclass(frozen=True, slots=True)
class InvoiceCustomer:
    """What an organization wants to stand about it on its invoices, besides its name."""

    organization_id: Annotated[str, UNAUDITED]
    address: Annotated[
        tuple[str, ...],
        AUDITED,
        Label(N_("Address")),
        Hint(N_("As it stands on letters, line by line.")),
    ] = ()
    """Line by line; empty: not said."""
    tax_id: Annotated[
        str,
        AUDITED,
        Label(N_("Tax number")),
        Maximum(LINE_MAX),
        Typed(left_to_right=True),
    ] = ""
    """The number with the tax office; empty: not said."""


@dataclass(frozen=True, slots=True)
class InvoicePage:
    """Invoices, the newest first."""

    invoices: tuple[Invoice, ...]
    next: str | None
    """The ``before`` of the next page; None: this is the last one."""
    previous: str | None
    """The ``after`` of the page of newer ones; None: this is the first one."""
    can_issue: bool
    """Whether the settings name an issuer, its tax number and a series."""


LIST: Final = Ask("invoice.list", InvoicePage)
GET: Final = Ask("invoice.get", Invoice)
ISSUE: Final = Ask("invoice.issue", Invoice)
CUSTOMER: Final = Ask("invoice.customer", InvoiceCustomer)
