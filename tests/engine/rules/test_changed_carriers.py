"""What differs between two sets of carriers, what that does to them, and what is told of it."""

from __future__ import annotations

from datetime import date

import pytest

from risala.config.model import CarrierSection
from risala.engine.rules.changes import (
    CarrierChange,
    Effect,
    FieldChange,
    declared_nowhere,
    differences,
    effect_of,
    field_changes,
)


def carrier(name: str = "mattel", **settings: object) -> CarrierSection:
    return CarrierSection.model_validate({"name": name, "driver": "smpp", **settings})


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        (None, None, None),
        (carrier(weight=2), carrier(weight=2), None),
        (None, carrier(), Effect.STARTS),
        (None, carrier(enabled=False), Effect.NONE),
        (carrier(), None, Effect.LEAVES),
        (carrier(enabled=False), None, Effect.NONE),
        (carrier(), carrier(enabled=False), Effect.LEAVES),
        (carrier(enabled=False), carrier(), Effect.STARTS),
        (carrier(enabled=False), carrier(enabled=False, weight=2), Effect.NONE),
        (carrier(enabled=False), carrier(enabled=False, driver="modem"), Effect.NONE),
        (carrier(), carrier(driver="modem"), Effect.RESTARTS),
        (carrier(smpp={"host": "a"}), carrier(smpp={"host": "b"}), Effect.RESTARTS),
        (carrier(), carrier(weight=2), Effect.AT_ONCE),
        (carrier(), carrier(modem={"port": "a"}), Effect.AT_ONCE),  # another driver's table
    ],
)
def test_what_a_change_does_to_a_carrier(before, after, effect):
    assert effect_of(before, after) is effect


def test_what_is_changed_and_removed_comes_in_its_order_and_then_what_is_added():
    before = [carrier("d"), carrier("same"), carrier("c"), carrier("e", enabled=False)]
    after = [carrier("b"), carrier("c", weight=7), carrier("same"), carrier("a", enabled=False)]
    weight = FieldChange("weight", 1, 7, is_secret=False)
    assert differences(before, after) == (
        CarrierChange("d", "removed", Effect.LEAVES, ()),
        CarrierChange("c", "changed", Effect.AT_ONCE, (weight,)),
        CarrierChange("e", "removed", Effect.NONE, ()),
        CarrierChange("b", "added", Effect.STARTS, ()),
        CarrierChange("a", "added", Effect.NONE, ()),
    )


def test_what_a_driver_declares_a_secret_is_told_by_nobody():
    before, after = carrier(smpp={"account": "one"}), carrier(smpp={"account": "two"})
    told = FieldChange("smpp.account", "one", "two", is_secret=False)
    hidden = FieldChange("smpp.account", None, None, is_secret=True)

    def is_account(driver: str, key: str) -> bool:
        return (driver, key) == ("smpp", "account")

    assert [each.fields for each in differences([before], [after])] == [(told,)]
    assert [each.fields for each in differences([before], [after], is_account)] == [(hidden,)]


def everything(driver: str, key: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("before", "after", "is_secret", "told"),
    [
        # in words that JSON has, too: lists and no tuples
        (
            carrier(prefixes=["+2222"]),
            carrier(prefixes=["+2223"]),
            declared_nowhere,
            [FieldChange("prefixes", ["+2222"], ["+2223"], is_secret=False)],
        ),
        # and texts for what TOML has and JSON has not
        (
            carrier(smpp={"since": date(2026, 1, 1)}),
            carrier(smpp={"since": date(2026, 2, 1)}),
            declared_nowhere,
            [FieldChange("smpp.since", "2026-01-01", "2026-02-01", is_secret=False)],
        ),
        # what is gone first, then what is new
        (
            carrier(smpp={"old": 1}),
            carrier(smpp={"new": {"port": 2}}, priority=3),
            declared_nowhere,
            [
                FieldChange("priority", 0, 3, is_secret=False),
                FieldChange("smpp.old", 1, None, is_secret=False),
                FieldChange("smpp.new.port", None, 2, is_secret=False),
            ],
        ),
        # a value that is nothing is not a missing one
        (
            carrier(smpp={"tls": None}),
            carrier(smpp={}),
            declared_nowhere,
            [FieldChange("smpp.tls", None, None, is_secret=False)],
        ),
        (
            carrier(smpp={}),
            carrier(smpp={"tls": None}),
            declared_nowhere,
            [FieldChange("smpp.tls", None, None, is_secret=False)],
        ),
        # by its name, whatever the driver says of it
        (
            carrier(smpp={"password": "one"}),
            carrier(smpp={"password": "two"}),
            declared_nowhere,
            [FieldChange("smpp.password", None, None, is_secret=True)],
        ),
        # a driver speaks of its own table, and of nothing else
        (
            carrier(weight=1, smpp={"tls": {"chain": 1}}),
            carrier(weight=2, smpp={"tls": {"chain": 2}}),
            everything,
            [
                FieldChange("weight", 1, 2, is_secret=False),
                FieldChange("smpp.tls.chain", None, None, is_secret=True),
            ],
        ),
        # a password within an address
        (
            carrier(smpp={"proxy": "http://me:one@proxy", "relay": "http://me:one@relay"}),
            carrier(smpp={"proxy": "http://me:two@proxy", "relay": "http://me:one@relay"}),
            declared_nowhere,
            [
                FieldChange(
                    "smpp.proxy", "http://me:***@proxy", "http://me:***@proxy", is_secret=False
                )
            ],
        ),
        (carrier(), carrier(), declared_nowhere, []),
    ],
)
def test_which_fields_are_told(before, after, is_secret, told):
    assert list(field_changes(before, after, is_secret)) == told


def test_a_key_of_a_table_within_a_table_is_asked_for_whole():
    asked = []

    def is_secret(driver: str, key: str) -> bool:
        asked.append((driver, key))
        return False

    field_changes(carrier(), carrier(smpp={"tls": {"chain": 1}}), is_secret)
    assert asked == [("smpp", "tls.chain")]
