"""Settings of payments: the methods by which organizations top up, and who stands on receipts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from risala.config.kinds import Money, Section

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
    """Who runs the service, by law: printed on receipts and statements. Empty settings are left
    out."""

    name: Line = ""
    """The firm's name."""
    address: tuple[Line, ...] = ()
    """Its address, line by line."""
    tax_id: Line = ""
    """Its number with the tax office (NIF)."""
    trade_register: Line = ""
    """Its number in the trade register (RC)."""

    @property
    def is_known(self) -> bool:
        """Whether there is anything to print."""
        return bool(self.name or self.address or self.tax_id or self.trade_register)
