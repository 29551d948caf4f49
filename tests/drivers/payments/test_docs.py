"""The page of payment methods has each setting of the built-in ones, with its default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from risala.drivers.payments.mobile_money import BankPattern, BankSmsSettings, MobileMoneySettings
from risala.drivers.payments.stripe import StripeSettings

PAGE = (Path(__file__).parents[3] / "docs/reference/payment-methods.md").read_text("utf-8")
TABLES = {
    "## Mobile money by hand": MobileMoneySettings,
    "## The bank's SMS": BankSmsSettings,
    "Each of `[[payments.bankily.sms.patterns]]`": BankPattern,
    "## Cards by Stripe": StripeSettings,
}


def told(start: str) -> dict[str, str]:
    """Settings of the first table after a line, and what the page has as their defaults."""
    after = PAGE[PAGE.index(start) + len(start) :]
    table = after[after.index("|---") :].partition("\n\n")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE))


def written(model: type[BaseModel], name: str) -> str:
    field = model.model_fields[name]
    if field.is_required():
        return "–"
    default = field.get_default(call_default_factory=True)
    if default is None:
        return "not set"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, str):
        return f'`"{default}"`'
    return "`[]`" if default == () else f"`{default}`"


@pytest.mark.parametrize("start", TABLES)
def test_each_setting_has_its_row_and_default(start):
    model = TABLES[start]
    expected = {name: written(model, name) for name in model.model_fields}
    if "instructions" in expected:
        expected["instructions"] = "the built-in sentence"
    assert told(start) == expected
