"""Settings of payments: by which methods organizations top up."""

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


class PaymentsSection(Section):
    """How organizations top up: beside these settings a table for each method that is offered, such
    as ``[payments.bankily]``."""

    # Each further key is a method's own table; the plugin that brings the method validates it.
    model_config = ConfigDict(extra="allow")

    amount_max: Money = "1000000.00"
    """The most that is paid at once; a method may allow less."""
    open_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """Payments of one organization that may be under way at once."""
    codes_organization: OrganizationId | None = None
    """The organization of yours that sends the codes, and pays for them, by which customers show
    that the number they paid from is theirs. Not set: nobody is asked to show that, and no bank's
    text credits by itself."""

    @model_validator(mode="after")
    def _methods_are_tables(self) -> PaymentsSection:
        for name, table in (self.__pydantic_extra__ or {}).items():
            if not isinstance(table, dict):
                raise ValueError(f"{name} must be a table, [payments.{name}]")
        return self

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The table of each method that is offered."""
        return dict(self.__pydantic_extra__ or {})
