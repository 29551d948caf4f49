"""A reference is credited once for its provider: over all organizations and faces, and for ever."""

from __future__ import annotations

import pytest
import trio

from payment_shop import OPERATOR, assert_books_agree, found_shop, wallet
from risala.engine.features.own_data.stored import erasures
from risala.engine.journal.audit.books import audit
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.wiring.connections import Connections

WRITTEN = [
    "BK–771",
    "bk 771",
    "BK٧٧١",
    "ＢＫ.771",
    "b‑k/7·7·1",
    "BK_771",
    "«BK771»",
    "\u0412\u041a771",
    "b\u03ba771",
]


@pytest.fixture
def open_shop(open_house):
    def open_one(**sections):
        methods = {name: wallet(name) for name in ("bankily", "masrvi")}
        return open_house(outside=Connections(payments=methods), **sections)

    return open_one


@pytest.mark.parametrize("again", WRITTEN)
@pytest.mark.parametrize("first", ["BK–771", "BK 771"])
async def test_by_hand_however_it_is_written(open_shop, quick, first, again):
    async with open_shop() as house:
        shop, other = await found_shop(house), await found_shop(house)
        given = {"amount": "5", "reference": first, "organization_id": shop.organization_id}
        await shop.operate("topup", **given)
        mine = {**given, "organization_id": other.organization_id, "reference": again}
        with pytest.raises(Conflict, match="already credited"):
            await other.operate("topup", **mine)
        payment = await other.begin()
        with pytest.raises(Invalid) as used:
            await other.claim(payment, again)
        assert used.value.code == "reference_used"
        for method in ("bankily", "masrvi"):  # nobody said whose it was
            payment = await other.begin(method)
            with pytest.raises(Conflict, match="already credited"):
                await other.operate("payment.confirm", payment_id=payment["id"], reference=again)
        assert await other.balance() == "0.00"
        assert_books_agree(house)


async def test_it_outlives_its_organization(open_shop, quick):
    async with open_shop() as house:
        shop, other = await found_shop(house), await found_shop(house)
        payment = await shop.claim(await shop.begin())
        await shop.operate("payment.confirm", payment_id=payment["id"])
        await house.gateway.perform(
            "org.delete", {"organization_id": shop.organization_id, "name": "Shop"}, OPERATOR
        )
        reader = house.gateway.services.repositories._store.reader
        await trio.sleep(600)
        assert erasures.under_way(reader) == []
        again = await other.begin()
        with pytest.raises(Invalid) as used:
            await other.claim(again, "bk7710342")
        assert used.value.code == "reference_used"
        given = {"organization_id": other.organization_id, "amount": "5"}
        with pytest.raises(Conflict, match="already credited"):
            await other.operate("topup", **given, reference="BK 7710342")
        assert_books_agree(house)


async def test_the_audit_misses_a_reference_that_is_gone(open_shop, quick):
    async with open_shop() as house:
        shop = await found_shop(house)
        payment = await shop.claim(await shop.begin())
        await shop.operate("payment.confirm", payment_id=payment["id"])
        assert_books_agree(house)
        journal = house.gateway.services.recorder.journal
        await journal.commit(lambda conn: conn.execute("DELETE FROM credited") and None)
        (fault,) = audit(house.gateway.services.repositories._store.reader).faults
        assert payment["id"] in fault


async def test_two_operators_at_once(open_shop, quick):
    """By hand and by confirming, in the same instant: one of them has it."""
    async with open_shop() as house:
        shop = await found_shop(house)
        payment = await shop.claim(await shop.begin())
        done: list[str] = []

        async def attempt(name, **given):
            try:
                await shop.operate(name, **given)
            except Conflict:
                return
            done.append(name)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                given = {"organization_id": shop.organization_id, "amount": "500"}
                by_hand = {**given, "reference": "bk.7710342"}
                nursery.start_soon(lambda each=by_hand: attempt("topup", **each))
                of = {"payment_id": payment["id"]}
                nursery.start_soon(lambda each=of: attempt("payment.confirm", **each))
        assert done
        assert await shop.balance() == "500.00"
        assert_books_agree(house)
