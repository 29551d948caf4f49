"""Who runs the service, by law."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from risala.config.kinds import Section

Line = Annotated[
    str,
    Field(max_length=100, json_schema_extra={"words": "a text of at most 100 characters"}),
]


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
