"""Payments as operators decide on them: in the order of their wait, found by what people say."""

import re

import pytest

from risala.drivers.payments.mobile_money import MobileMoney, MobileMoneySettings
from risala.engine.features.payments.records import STATES, PaymentFilter
from risala.engine.features.payments.stored import payments
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.model.records.asks import Steps
from risala.engine.wiring.connections import Connections

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
WALLET = {"bankily": MobileMoney("Bankily", MobileMoneySettings(merchant="038 221"))}


@pytest.fixture
async def till(open_house, autojump_clock):
    """Six payments of two organizations: four claimed, of which one is confirmed and one refused;
    one is not paid yet, and one waits."""
    async with open_house(outside=Connections(payments=WALLET)) as house:
        other = (await house.gateway.perform("org.create", {"name": "Librairie Nasr"}))["id"]
        made = []
        for number in range(6):
            autojump_clock.jump(1)  # ids of one millisecond have no order
            whose = other if number % 2 else house.principal.organization_id
            given = {"organization_id": whose, "method": "bankily", "amount": f"{number + 5}"}
            begun = await house.gateway.perform("payment.begin", given)
            made.append(begun["id"])
            if number != 5:
                entered = {"payment_id": begun["id"], "entered": {"reference": f"TX-100{number}"}}
                await house.gateway.perform("payment.claim", entered)
        await house.gateway.perform("payment.confirm", {"payment_id": made[1]})
        refused = {"payment_id": made[2], "reason": "No such payment is in the account."}
        await house.gateway.perform("payment.refuse", refused)
        yield house, made


def do(house, **arguments):
    return house.gateway.perform("payment.queue", arguments, OPERATOR)


def ids(page):
    return [each["id"] for each in page["payments"]]


async def test_those_that_wait_come_first_the_longest_wait_at_the_head(till, autojump_clock):
    house, made = till
    page = await do(house)
    assert ids(page) == [made[0], made[3], made[4]]
    assert (page["waiting"], page["newer"], page["older"]) == (3, None, None)
    assert page["oldestAt"] == page["payments"][0]["claimedAt"]
    first = await do(house, limit=2)
    second = await do(house, limit=2, before=first["older"])
    assert (ids(first), ids(second), second["older"]) == (made[:1] + made[3:4], made[4:5], None)
    back = await do(house, limit=2, after=second["newer"])
    assert (ids(back), back["newer"]) == (ids(first), None)


async def test_each_is_told_with_what_its_decision_is_made_by(till, autojump_clock):
    house, made = till
    (found,) = (await do(house, search=made[3]))["payments"]
    assert found["organizationName"] == "Librairie Nasr"
    assert found["title"]["fr"] == "Bankily"
    assert found["entered"] == {"reference": "TX-1003"}
    assert (found["amount"], found["language"], found["state"]) == ("8.00", "fr", "waiting")


async def test_the_other_states_are_lists_of_their_own(till, autojump_clock):
    house, made = till
    found = {state: ids(await do(house, status=state)) for state in STATES}
    assert found == {
        "claimed": [made[0], made[3], made[4]],
        "open": [made[5]],
        "confirmed": [made[1]],
        "refused": [made[2]],
        "all": made[::-1],
    }
    first = await do(house, status="all", limit=4)
    second = await do(house, status="all", limit=4, before=first["older"])
    assert ids(first) + ids(second) == made[::-1]
    assert ids(await do(house, status="all", limit=4, after=second["newer"])) == ids(first)


@pytest.mark.parametrize(
    ("search", "found"),
    [("tx 1003", [3]), ("TX1001", [1]), ("nasr", [5, 3, 1]), ("pay_1", []), ("nobody", [])],
)
async def test_a_payment_is_found_by_its_reference_and_by_its_organization(
    till, search, found, autojump_clock
):
    house, made = till
    assert ids(await do(house, status="all", search=search)) == [made[each] for each in found]


async def test_it_is_for_operators_alone(till, autojump_clock):
    house, _ = till
    member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, house.principal.organization_id)
    with pytest.raises(Forbidden):
        await house.gateway.perform("payment.queue", {}, member)
    with pytest.raises(Invalid, match="claimed"):
        await do(house, status="waiting")


def test_what_waits_is_found_among_any_number_of_payments(book):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    for steps in (Steps(9), Steps(9, before=("x",)), Steps(9, after=("x",))):
        payments.queued(book.conn, PaymentFilter(), steps)
        payments.listed(book.conn, PaymentFilter("open", "nasr"), steps)
        for state in STATES:
            payments.listed(book.conn, PaymentFilter(state), steps)
    payments.first_claimed_at(book.conn)
    payments.is_entered(book.conn, "x")
    book.conn.set_trace_callback(None)
    for sql in run:
        plan = [step for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        walks = [step for step in plan if re.match("SCAN payments", step)]
        assert all(re.search("USING (COVERING )?INDEX", step) for step in walks), (sql, plan)
        assert not [step for step in plan if step.endswith("FOR ORDER BY")], sql
