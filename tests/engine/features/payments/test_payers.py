"""Whose number paid: who claims a payment shows by a code that the payer's number is theirs."""

from __future__ import annotations

import pytest
import trio

from payment_shop import assert_books_agree, found_shop, wallet
from risala.config.payments import PaymentsSection
from risala.engine.features.payments.payers import CODES_MAX
from risala.engine.model.errors import Conflict, Invalid, Unavailable
from risala.engine.wiring.connections import Connections

NUMBER = "+22236123456"


@pytest.fixture
def open_shop(open_house):
    """A house whose first organization sends codes to payers."""
    outside = Connections(payments={"bankily": wallet()})

    class Opened:
        async def __aenter__(self):
            async with open_house() as house:
                self.codes = house.principal.organization_id
            section = PaymentsSection(codes_organization=self.codes)
            self.inner = open_house(outside=outside, payments=section)
            house = await self.inner.__aenter__()
            return await found_shop(house)

        async def __aexit__(self, *error):
            return await self.inner.__aexit__(*error)

    return Opened


async def test_a_claim_is_confirmed_once_the_payer_has_shown_the_code(open_shop, quick):
    async with open_shop() as shop:
        payment = await shop.begin()
        assert [each["name"] for each in payment["asks"] if each["isPayer"]] == ["payer"]
        claimed = await shop.claim(payment, payer="36 12 34 56")
        assert claimed["payer"] == {"number": NUMBER, "state": "sent", "codesLeft": CODES_MAX - 1}
        with pytest.raises(Conflict, match="has not proven"):
            await shop.operate("payment.confirm", payment_id=payment["id"])
        with pytest.raises(Invalid) as wrong:
            await shop.do("payment.check_payer", payment_id=payment["id"], code="nothing")
        assert wrong.value.code == "wrong_code"
        shown = await shop.prove(payment)
        assert shown["payer"]["state"] == "checked"
        assert shop.house.driver.submitted[-1].recipient == NUMBER
        done = await shop.operate("payment.confirm", payment_id=payment["id"])
        assert done["state"] == "confirmed"
        assert await shop.balance() == "500.00"
        # The customer has nothing yet when they pay for the first time: the codes are the house's.
        assert_books_agree(shop.house)


async def test_the_operator_may_know_better(open_shop, quick):
    async with open_shop() as shop:
        payment = await shop.claim(await shop.begin(), payer=NUMBER)
        given = {"payment_id": payment["id"], "unchecked": True}
        assert (await shop.operate("payment.confirm", **given))["state"] == "confirmed"


async def test_a_mistyped_number_is_entered_anew_and_codes_are_few(open_shop, quick):
    async with open_shop() as shop:
        with pytest.raises(Invalid) as wrong:
            await shop.claim(await shop.begin(), payer="5")
        assert (wrong.value.path, wrong.value.code) == ("entered.payer", "invalid_phone_number")
        payment = await shop.claim(await shop.begin(), payer="36999999")
        again = await shop.do("payment.send_code", payment_id=payment["id"], number=NUMBER)
        assert again["payer"] == {"number": NUMBER, "state": "sent", "codesLeft": 1}
        await trio.sleep(1)  # so that the last code to leave is the last one
        await shop.do("payment.send_code", payment_id=payment["id"])
        with pytest.raises(Conflict, match="No further codes"):
            await shop.do("payment.send_code", payment_id=payment["id"])
        assert (await shop.prove(payment))["payer"]["state"] == "checked"
        with pytest.raises(Conflict, match="no longer needs anything"):
            await shop.do("payment.send_code", payment_id=payment["id"])


async def test_a_code_that_is_over_is_asked_for_anew(open_shop, quick):
    async with open_shop() as shop:
        payment = await shop.claim(await shop.begin(), payer=NUMBER)
        await trio.sleep(3700)
        assert (await shop.show(payment))["payer"]["state"] == "unsent"
        with pytest.raises(Invalid):
            await shop.prove(payment)
        await shop.do("payment.send_code", payment_id=payment["id"])
        assert (await shop.prove(payment))["payer"]["state"] == "checked"


async def test_a_claim_holds_where_no_code_can_be_sent(open_shop, quick):
    opened = open_shop()
    async with opened as shop:
        await shop.operate("org.suspend", organization_id=opened.codes)
        claimed = await shop.claim(await shop.begin(), payer=NUMBER)
        assert (claimed["reference"], claimed["payer"]["state"]) == ("BK-7710342", "unsent")
        with pytest.raises(Unavailable, match="The code cannot be sent now"):
            await shop.do("payment.send_code", payment_id=claimed["id"])
        await shop.operate("org.resume", organization_id=opened.codes)
        again = await shop.do("payment.send_code", payment_id=claimed["id"])
        assert again["payer"] == {"number": NUMBER, "state": "sent", "codesLeft": 0}


async def test_nobody_asks_where_nobody_sends_codes(open_house, quick):
    async with open_house(outside=Connections(payments={"bankily": wallet()})) as house:
        shop = await found_shop(house)
        payment = await shop.begin()
        assert [each["name"] for each in payment["asks"]] == ["reference"]
        claimed = await shop.claim(payment)
        assert claimed["payer"] is None
        await shop.operate("payment.confirm", payment_id=payment["id"])
