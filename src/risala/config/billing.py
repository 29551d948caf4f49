"""Settings of who pays for messages."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from risala.config.kinds import Section

PARTS_PER_DAY: Final = 200
"""Parts a day of an organization that sends for itself: what a SIM sends without being noticed."""
PARTS_PER_DAY_MAX: Final = 1_000_000


class BillingSection(Section):
    """Who pays for messages."""

    payer: Literal["customers", "self"] = "customers"
    """``customers``: each organization has a balance, and pays a price for each part. ``self``:
    you send for yourself; nothing has a price, and there is no balance. `risala payer` and the
    console change it while the service runs; what they set holds instead of this line."""
    self_parts_per_day: Annotated[int, Field(ge=1, le=PARTS_PER_DAY_MAX)] = PARTS_PER_DAY
    """With ``self``: the most parts that an organization may send in a day of its own time zone;
    beyond it 429."""
