"""Whose receipts may come through whom."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from risala.engine.rules.receiptgroups import Member, ReceiptGroups


def member(name: str, account: str = "", group: str | None = None, driver: str = "smpp") -> Member:
    return Member(name, driver, account, group)


def test_a_carrier_that_shares_nothing_is_alone():
    groups = ReceiptGroups([member("a", "host me"), member("b"), member("c")])
    assert [groups.of(name) for name in ("a", "b", "c", "gone")] == [
        ("a",), ("b",), ("c",), ("gone",),
    ]  # fmt: skip


def test_one_account_is_one_group_where_the_driver_is_one_too():
    groups = ReceiptGroups(
        [member("a", "host me"), member("b", "host me"), member("c", "host me", driver="other")]
    )
    assert groups.of("a") == groups.of("b") == ("a", "b")
    assert groups.of("c") == ("c",)


def test_the_setting_joins_what_the_account_does_not_and_both_count():
    groups = ReceiptGroups(
        [member("a", "x"), member("b", "x", "g"), member("c", "y", "g"), member("d", "y")]
    )
    assert {groups.of(name) for name in "abcd"} == {("a", "b", "c", "d")}
    # People's answers belong to the account alone.
    assert groups.account_of("b") == ("a", "b")
    assert groups.account_of("c") == ("c", "d")


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "x", "y", "z"]), st.sampled_from([None, "g", "h"])),
        max_size=8,
    )
)
def test_groups_part_the_carriers_and_hold_all_that_share_something(marks):
    members = [member(f"c{n}", *mark) for n, mark in enumerate(marks)]
    groups = ReceiptGroups(members)
    for one in members:
        assert one.name in groups.of(one.name)
        assert set(groups.account_of(one.name)) <= set(groups.of(one.name))
        for other in members:
            together = other.name in groups.of(one.name)
            assert together == (groups.of(one.name) == groups.of(other.name))
            shares = (one.account and one.account == other.account) or (
                one.receipt_group and one.receipt_group == other.receipt_group
            )
            assert not shares or together
