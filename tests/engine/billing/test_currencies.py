"""A service in francs CFA, which have no decimals, and one in dinars, which have three."""

from __future__ import annotations

import pytest

from risala.config.model import PricingSection, ServiceSection
from risala.engine.journal.upkeep.audit import audit
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Invalid
from risala.sms.currencies import counting, decimals_of

OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)


@pytest.mark.parametrize(
    ("currency", "price", "lines", "wrong", "said"),
    [
        ("XOF", "25", ["1000", "500", "-25", "25", "-75"], "1.5", "without decimals, like 100"),
        (
            "TND",
            "0.045",
            ["1000.000", "500.000", "-0.045", "0.045", "-75.000"],
            "1.0005",
            "with at most three decimals, like 100 or 99.500",
        ),
    ],
)
async def test_the_books_are_kept_in_the_currency(
    open_house, quick, currency, price, lines, wrong, said
):
    with counting(decimals_of(currency)):
        pricing = PricingSection(per_segment=price)
    sections = {"service": ServiceSection(currency=currency), "pricing": pricing}
    async with open_house(**sections) as house:
        here = {"organization_id": house.principal.organization_id}

        async def perform(name, **given):
            return await house.gateway.perform(name, {**here, **given}, OPERATOR)

        await perform("topup", amount="500", reference="BK-1")
        at = house.gateway.payments.now_ms() + 3_600_000
        sent = await house.send(send_at=at)
        await house.gateway.perform("message.cancel", {"message_id": sent}, OPERATOR)
        await perform("adjust", amount="-75", reason="a test")
        told = await perform("ledger.list")
        assert told["currency"] == currency
        assert [each["amount"] for each in reversed(told["entries"])] == lines
        with pytest.raises(Invalid) as refused:
            await perform("topup", amount=wrong)
        assert said in str(refused.value.faults[0].message)
        assert audit(house.gateway.services.repositories._store.reader).faults == ()
