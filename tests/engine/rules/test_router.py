"""Which carriers serve which numbers, and in what order."""

from __future__ import annotations

import pytest

from risala.engine.rules.router import (
    TEST_ROUTE,
    UNSERVED,
    Router,
    as_flash,
    message_class_of,
    pinned,
    plain,
    usual_first,
    usual_of,
)


def tiers(router, recipient):
    return router.routes[router.route_key(recipient)].tiers


def test_the_longest_prefix_is_the_route(carrier):
    router = Router(
        [
            carrier("all"),
            carrier("mattel", prefixes=("+2223",)),
            carrier("range", prefixes=("+22236", "+22237")),
        ]
    )
    assert router.route_key("+22246000000") == "+222"
    assert router.route_key("+22235000000") == "+2223"
    assert router.route_key("+22236000000") == "+22236"
    # A more exact prefix comes first, the others stand behind it.
    assert tiers(router, "+22246000000") == (("all",),)
    assert tiers(router, "+22235000000") == (("mattel",), ("all",))
    assert tiers(router, "+22236000000") == (("range",), ("mattel",), ("all",))


def test_priority_makes_tiers_and_equals_share_one(carrier):
    router = Router(
        [
            carrier("c", priority=1),
            carrier("a", weight=3),
            carrier("b"),
            carrier("d", priority=100),
        ]
    )
    assert tiers(router, "+22236000000") == (("a", "b"), ("c",), ("d",))


def test_exactness_comes_before_priority(carrier):
    router = Router([carrier("general"), carrier("exact", prefixes=("+2224",), priority=50)])
    assert tiers(router, "+22246000000") == (("exact",), ("general",))


def test_a_number_that_nobody_serves_waits_in_a_queue_of_its_own(carrier):
    router = Router([carrier("mattel", prefixes=("+2223",))])
    assert router.route_key("+22246000000") == ""
    assert router.carriers_for("+22246000000") == []
    assert Router([]).route_key("+22236000000") == ""


def test_a_disabled_carrier_is_not_there(carrier):
    router = Router([carrier("off", enabled=False, prefixes=("+2223",)), carrier("on")])
    assert router.route_key("+22236000000") == "+222"
    assert pinned("off") not in router.routes
    assert router.carriers_for("+22236000000") == ["on"]


def test_each_carrier_has_a_route_of_its_own(carrier):
    router = Router([carrier("a"), carrier("b", priority=1)])
    assert pinned("a") == "@a"
    assert router.routes["@a"].tiers == (("a",),)
    assert router.routes["@b"].tiers == (("b",),)


def test_carriers_of_a_number_are_ranked(carrier):
    router = Router(
        [carrier("c", priority=2), carrier("a"), carrier("exact", prefixes=("+22236",))]
    )
    assert router.carriers_for("+22236000000") == ["exact", "a", "c"]
    assert router.carriers_for("+22246000000") == ["a", "c"]


def test_messages_of_test_keys_go_only_to_the_carrier_without_prefixes(carrier):
    router = Router([carrier("live"), carrier("test", prefixes=())])
    assert router.routes[TEST_ROUTE].tiers == (("test",),)
    assert router.carriers_for("+22236000000") == ["live"]


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"prefixes": ("+2223",)}, False),
        ({"name": "other"}, False),
        ({"enabled": False}, False),
        ({"weight": 7}, True),
        ({"priority": 7}, True),
        ({"rate_per_s": 7}, True),
    ],
)
def test_the_fingerprint_changes_when_the_queues_must_be_sorted_anew(carrier, changed, same):
    before = Router([carrier("a"), carrier("b", prefixes=("+2224",))])
    after = Router([carrier(**{"name": "a", **changed}), carrier("b", prefixes=("+2224",))])
    assert (before.fingerprint == after.fingerprint) is same


def test_a_route_knows_its_key(carrier):
    router = Router([carrier("a"), carrier("m", networks=("mattel",), prefixes=("+22236",))])
    for key, route in router.routes.items():
        assert route.key == key
    ordinary = {key for key in router.routes if message_class_of(key) is None}
    assert {plain(key) for key in router.routes.keys() - ordinary} == ordinary
    assert ordinary == {
        "+222", "+22236", "+222/mattel", "+22236/mattel", "/mattel", "@a", "@m", TEST_ROUTE,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("prefix", "meets"),
    [
        ("+222", True), ("+2223", True), ("+22230", True), ("+22236", True), ("+222365", True),
        ("+22239", True), ("+22235", False), ("+2224", False), ("+22246", False),
        ("+22220", False),
    ],
)  # fmt: skip
def test_a_prefix_has_a_route_of_a_network_where_a_number_may_have_both(carrier, prefix, meets):
    router = Router([carrier("p", prefixes=(prefix,)), carrier("m", networks=("mattel",))])
    assert (f"{prefix}/mattel" in router.routes) is meets


def test_the_lowest_numbers_of_a_network_have_their_route_too(carrier):
    router = Router([carrier("p", prefixes=("+22220",)), carrier("c", networks=("chinguitel",))])
    assert router.carriers_for("+22220123456") == ["p", "c"]


def test_where_a_message_may_wait(carrier):
    router = Router([carrier("a")])
    for key in ("+222", "@a", UNSERVED, TEST_ROUTE):
        assert router.is_route(key)
    assert not router.is_route("@gone")
    assert not router.is_route("+2223")


def test_after_a_change_other_carriers_decide(carrier):
    router = Router([carrier("a")])
    router.rearrange([carrier("b", prefixes=("+2223",))], ())
    assert tiers(router, "+22235000000") == (("b",),)
    assert router.route_key("+22245000000") == UNSERVED


def test_flash_messages_go_by_those_of_a_route_that_can_send_them(carrier):
    carriers = [
        carrier("a", sticky=True),
        carrier("b", priority=1),
        carrier("c", priority=2, sticky=True),
    ]
    router = Router(carriers, {"a", "c"})
    number = "+22236000000"
    assert router.routes["+222"].tiers == (("a",), ("b",), ("c",))
    assert router.routes["!+222"].tiers == (("a",), ("c",))
    assert router.routes["!@b"].tiers == ()
    assert router.routes["!" + usual_first("c", "+222")].tiers == (("c",), ("a",))
    assert router.carriers_for(number) == ["a", "b", "c"]
    assert router.carriers_for(number, "!@a") == ["a", "c"]
    assert router.carriers_for(number, "@a") == ["a", "b", "c"]
    router.rearrange(carriers, ())
    assert router.carriers_for(number, "!+222") == []
    assert router.is_route("!+222")
    assert router.is_route("!")
    assert Router(carriers, {"a"}).fingerprint == Router(carriers).fingerprint


def test_the_mark_of_flash_messages_is_kept_from_route_to_route():
    assert as_flash("@a", "!+222") == "!@a"
    assert as_flash("@a", "+222") == "@a"
    assert (message_class_of("!@a"), message_class_of("@a")) == (0, None)
    assert (plain("!@a"), plain("@a"), plain("!")) == ("@a", "@a", "")
    assert usual_of("!" + usual_first("a", "+222")) == usual_of(usual_first("a", "+222")) == "a"
