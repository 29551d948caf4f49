"""The places of carriers' calls, and who may call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.answering.rules import (
    UNPROVED_ADDRESS_MAX,
    UNPROVED_CARRIER_MAX,
    UNPROVED_MAX,
    CallPlaces,
    may_call,
)
from risala.plugins.answering import REQUESTS_MAX, STREAMS_MAX, RequestRefusedError


def places_of(places, count, carrier=lambda _: "one", address=lambda number: number):
    entered = [places.enter(carrier(number), address(number)) for number in range(count)]
    return sum(place.may_wait for place in entered)


def test_each_kind_of_place_has_its_limit():
    assert places_of(CallPlaces(), 100) == UNPROVED_CARRIER_MAX
    assert places_of(CallPlaces(), 100, address=lambda _: "same") == UNPROVED_ADDRESS_MAX
    assert places_of(CallPlaces(), 100, carrier=str) == UNPROVED_MAX


def test_who_is_proved_needs_no_stranger_to_leave():
    places = CallPlaces()
    standing = [places.enter("one", number) for number in range(UNPROVED_CARRIER_MAX + 1)][-1]
    with pytest.raises(RequestRefusedError) as refused:
        standing.wait()
    assert (refused.value.status, standing.is_turned_away) == (503, True)
    standing.prove()
    standing.wait()
    assert (standing.may_wait, standing.is_turned_away) == (True, False)


def test_proved_calls_and_streams_have_limits_of_their_own():
    places = CallPlaces()
    proved = [places.enter_proved("one") for _ in range(REQUESTS_MAX)]
    with pytest.raises(RequestRefusedError):
        places.enter_proved("one")
    assert places.enter_proved("two").is_proved
    for place in proved[:STREAMS_MAX]:
        place.stream()
    last = places.enter_proved("one")
    with pytest.raises(RequestRefusedError):
        last.stream()
    assert last.is_turned_away


@given(
    st.lists(st.tuples(st.sampled_from(["enter", "prove", "stream", "leave"]), st.integers(0, 9)))
)
def test_all_places_are_given_back(steps):
    places, held = CallPlaces(), []
    for step, number in steps:
        if step == "enter":
            held.append(places.enter(f"carrier {number % 2}", number % 3))
        elif held:
            place = held[number % len(held)]
            try:
                getattr(place, step)()
            except RequestRefusedError:
                assert place.is_turned_away
    for place in held:
        place.leave()
        place.leave()
    assert len(places) == 0


@pytest.mark.parametrize(
    ("address", "allowed", "may"),
    [
        (None, (), True),
        (None, ("10.0.0.1",), False),
        ("10.0.0.1", ("10.0.0.1",), True),
        ("10.0.0.2", ("10.0.0.1", "10.0.1.0/24"), False),
        ("10.0.1.9", ("10.0.0.1", "10.0.1.0/24"), True),
        ("10.0.1.9", ("10.0.1.1/24",), True),
        ("fe80::1%eth0", ("fe80::/10",), True),
        ("2001:db8::1", ("10.0.0.0/8",), False),
    ],
)
def test_only_allowed_addresses_may_call(address, allowed, may):
    assert may_call(address, allowed) is may
