"""Settings of who pays, of the ways to top up, and of who stands on receipts."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from risala.config.kinds import Money, Section

PARTS_PER_DAY: Final = 200
"""Parts a day of an organization that sends for itself: what a SIM sends without being noticed."""
PARTS_PER_DAY_MAX: Final = 1_000_000

OrganizationId = Annotated[
    str,
    Field(
        pattern=r"^org_[0-9A-HJKMNP-TV-Z]{32}$",
        json_schema_extra={"words": "an organization's id in quotes, as `risala org list` has it"},
    ),
]

Line = Annotated[
    str,
    Field(max_length=100, json_schema_extra={"words": "a text of at most 100 characters"}),
]

Series = Annotated[
    str,
    Field(
        pattern=r"^([A-Za-z0-9._/-]{0,19}[A-Za-z._/-])?$",
        json_schema_extra={
            "words": "at most 20 Latin letters, digits and `-` `.` `/` `_`; the last is no digit"
        },
    ),
]
"""What the numbers of invoices begin with. The end of it and the number never run together."""

Percent = Annotated[
    str,
    Field(
        pattern=r"^([0-9]{1,2}(\.[0-9]{1,2})?)?$",
        json_schema_extra={"words": 'a percentage in quotes, such as "16" or "5.5"'},
    ),
]


class BillingSection(Section):
    """The side that pays for messages."""

    payer: Literal["customers", "self"] = "customers"
    """``customers``: each organization has a balance, and pays a price for each part. ``self``:
    you send for yourself; nothing has a price, and there is no balance. `risala payer` and the
    console change it while the service runs; what they set holds instead of this line."""
    self_parts_per_day: Annotated[int, Field(ge=1, le=PARTS_PER_DAY_MAX)] = PARTS_PER_DAY
    """With ``self``: the most parts that an organization may send in a day of its own time zone;
    beyond it 429."""


class PaymentsSection(Section):
    """How organizations top up: these settings, and a table for each offered method, such as
    ``[payments.bankily]``."""

    # Each further key is a method's own table; the plugin that brings the method validates it.
    model_config = ConfigDict(extra="allow")

    amount_max: Money = "1000000.00"
    """The largest payment; a method may allow less."""
    open_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """The most open payments of one organization."""
    codes_organization: OrganizationId | None = None
    """Your own organization that sends, and pays for, the codes by which customers prove the number
    they paid from. Not set: customers do not prove it, and no bank's text credits by itself."""

    @model_validator(mode="after")
    def _methods_are_tables(self) -> PaymentsSection:
        for name, table in (self.__pydantic_extra__ or {}).items():
            if not isinstance(table, dict):
                raise ValueError(f"{name} must be a table, [payments.{name}]")
        return self

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The table of each offered method."""
        return dict(self.__pydantic_extra__ or {})


class LegalSection(Section):
    """The company that runs the service, by law: printed on receipts and statements. Empty settings
    are left out."""

    name: Line = ""
    """The firm's name."""
    address: tuple[Line, ...] = ()
    """The company's address, line by line."""
    tax_id: Line = ""
    """The company's number with the tax office (NIF)."""
    trade_register: Line = ""
    """The company's number in the trade register (RC)."""
    invoice_series: Series = ""
    """What the numbers of invoices begin with, such as ``F-``. With a name and a tax number set
    too, each month in which something was charged gets an invoice an hour after it ends, numbered
    without gaps: all months since the last invoice, or since the first charge. Another series
    begins at 1. Empty: months have statements alone."""

    vat_percent: Percent = ""
    """The rate of value-added tax. Prices, and what customers pay, include it: invoices say how
    much of their total it is, rounded half up to the currency's smallest unit. Empty: they say
    nothing of it."""

    @property
    def can_invoice(self) -> bool:
        """Whether the law's minimum of an invoice is set."""
        return bool(self.name and self.tax_id and self.invoice_series)

    @property
    def is_known(self) -> bool:
        """Whether there is anything to print."""
        return bool(self.name or self.address or self.tax_id or self.trade_register)
