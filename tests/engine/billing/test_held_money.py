"""Reservations of money: never more than there is, whatever crashes, and whatever comes late."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.billing.billing import ACCOUNTS_MAX, HeldMoney
from risala.engine.billing.claims import Release, Reservation, Reserve, Settle
from risala.engine.model.errors import InsufficientBalance, SpendCapReached
from risala.engine.model.records.accounts import BalanceState, Entered

ORG = "org_1"
DAY = 20_000


class Ledger:
    """A journal that enters what it is told, under the condition that the real one has."""

    def __init__(self, balance: int) -> None:
        self.seq, self.balance, self.spent = 1, balance, {DAY: 0}

    def look(self, _: str, day: int) -> BalanceState:
        return BalanceState(self.seq, self.balance, day, self.spent.get(day, 0))

    def charge(self, amount: int, day: int = DAY) -> Entered | None:
        """None where the balance does not cover it: the net."""
        if self.balance <= 0 or self.balance < amount:
            return None
        self.spent[day] = self.spent.get(day, 0) + amount
        return self.credit(-amount)

    def credit(self, amount: int) -> Entered:
        self.seq += 1
        self.balance += amount
        return Entered(ORG, self.seq, self.balance)


def reserve(
    money: HeldMoney, amount: int, cap: int | None = None, day: int = DAY
) -> Reservation | None:
    """None where the balance is in the way."""
    try:
        return money.reserve(Reserve(ORG, amount, day, cap))
    except InsufficientBalance:
        return None


def test_what_is_held_cannot_be_spent_again():
    money = HeldMoney(Ledger(100).look)
    assert reserve(money, 60)
    assert reserve(money, 60) is None
    assert reserve(money, 40)
    assert reserve(money, 0) is None  # nothing is left, and a positive balance is needed


def test_a_released_price_is_there_again():
    money = HeldMoney(Ledger(100).look)
    held = reserve(money, 100)
    assert held
    money.release((held,))
    assert reserve(money, 100)


def test_a_settled_price_is_gone_and_what_comes_in_is_there():
    ledger = Ledger(100)
    money = HeldMoney(ledger.look)
    held = reserve(money, 60)
    entered = ledger.charge(60)
    assert held
    assert entered
    money.settle(Settle((held,), entered))
    assert reserve(money, 41) is None
    money.enter(ledger.credit(1))
    assert reserve(money, 41)


def test_news_that_comes_late_or_twice_changes_nothing():
    ledger = Ledger(100)
    money = HeldMoney(ledger.look)
    assert reserve(money, 0)
    first, second = ledger.credit(10), ledger.credit(-50)
    for news in (second, first, first, second):
        money.enter(news)
    assert reserve(money, 61) is None
    assert reserve(money, 60)


def test_a_doubtful_commit_is_looked_up():
    ledger = Ledger(100)
    money = HeldMoney(ledger.look)
    held = reserve(money, 60)
    assert held
    ledger.charge(60)  # it holds after all, and nobody was told
    money.release((held,))
    money.doubt(ORG)
    assert reserve(money, 60) is None


def test_a_cap_counts_what_is_held_and_what_was_spent_and_begins_anew_each_day():
    ledger = Ledger(1000)
    money = HeldMoney(ledger.look)
    held = reserve(money, 60, cap=100)
    assert held
    with pytest.raises(SpendCapReached):
        reserve(money, 60, cap=100)
    entered = ledger.charge(60)
    assert entered
    money.settle(Settle((held,), entered))
    with pytest.raises(SpendCapReached):
        reserve(money, 41, cap=100)
    money.enter(ledger.credit(60))  # a refund does not give it back
    with pytest.raises(SpendCapReached):
        reserve(money, 41, cap=100)
    assert reserve(money, 100, cap=100, day=DAY + 1)


def test_a_charge_held_by_an_actor_that_crashed_is_looked_up():
    ledger = Ledger(100)
    before, after = HeldMoney(ledger.look), HeldMoney(ledger.look)
    held = reserve(before, 60)
    assert held
    assert reserve(after, 10)  # the next actor read the ledger before the commit
    entered = ledger.charge(60)
    assert entered
    after.settle(Settle((held,), entered))
    assert reserve(after, 31) is None
    assert reserve(after, 30)


@pytest.mark.parametrize("cap", [None, 100])
def test_a_price_that_is_charged_and_not_yet_settled_is_not_counted_twice(cap: int | None):
    """Sends of one moment are reserved together, and alone where that is too much."""
    ledger = Ledger(100)
    money = HeldMoney(ledger.look)
    assert reserve(money, 0)
    first, others = reserve(money, 23, cap), reserve(money, 54, cap)
    entered = ledger.charge(23)
    assert first
    assert others
    assert entered
    with pytest.raises((InsufficientBalance, SpendCapReached)):
        money.reserve(Reserve(ORG, 24, DAY, cap))
    money.doubt(ORG)
    assert reserve(money, 22, cap)
    money.settle(Settle((first,), entered))
    assert reserve(money, 1, cap)
    with pytest.raises((InsufficientBalance, SpendCapReached)):
        money.reserve(Reserve(ORG, 1, DAY, cap))


def test_a_charge_that_was_read_before_it_was_told_is_counted_once():
    ledger = Ledger(1000)
    money = HeldMoney(ledger.look)
    held = reserve(money, 60)
    entered = ledger.charge(60)
    assert held
    assert entered
    money.doubt(ORG)
    assert reserve(money, 0)  # reads the ledger, with the charge in it
    money.settle(Settle((held,), entered))
    assert reserve(money, 40, cap=100)


plans = st.lists(
    st.tuples(
        st.sampled_from(["send", "land", "fail", "credit", "crash", "doubt"]), st.integers(0, 50)
    ),
    max_size=80,
)


@given(plans)
def test_never_negative_and_in_the_end_what_the_ledger_says(plan: list[tuple[str, int]]) -> None:
    ledger = Ledger(100)
    money = HeldMoney(ledger.look)
    flights: list[Reservation] = []
    crashed = False
    for what, amount in plan:
        if what == "send":
            held = reserve(money, amount)
            if held:
                flights.append(held)
        elif what == "credit":
            money.enter(ledger.credit(amount))
        elif what == "crash":
            money, crashed = HeldMoney(ledger.look), True
        elif what == "doubt":
            money.doubt(ORG)
        elif flights:
            held = flights.pop(amount % len(flights))
            entered = ledger.charge(held.amount) if what == "land" else None
            # Without a crash the actor's word holds: the net catches nothing.
            assert what == "fail" or entered or crashed
            if entered:
                money.settle(Settle((held,), entered))
            else:
                money.release(Release((held,)).reservations)
        assert ledger.balance >= 0
    money.release(tuple(flights))
    assert money.held_amount(ORG) == 0
    if ledger.balance > 0:
        assert reserve(money, ledger.balance + 1) is None
        assert reserve(money, ledger.balance)


def test_who_asked_longest_ago_is_forgotten_but_for_who_has_a_price_held():
    ledger = Ledger(1_000)
    looked: list[str] = []

    def look(organization_id: str, day: int) -> BalanceState:
        looked.append(organization_id)
        return ledger.look(organization_id, day)

    money = HeldMoney(look)
    held = money.reserve(Reserve("org_held", 100, DAY, None))
    for number in range(ACCOUNTS_MAX):
        name = f"org_{number}"
        money.release(Release(money.reserve(Reserve(name, 1, DAY, None))))
    assert money.held_amount("org_held") == 100
    looked.clear()
    money.release(Release(money.reserve(Reserve(f"org_{ACCOUNTS_MAX - 1}", 1, DAY, None))))
    money.release(Release(held))
    assert money.held_amount("org_held") == 0
    assert looked == []
    money.reserve(Reserve("org_0", 1, DAY, None))
    assert looked == ["org_0"]
