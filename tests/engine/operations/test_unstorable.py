"""What no database can keep is refused at the door: in each argument of each operation."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.operations.test_operations_trail import ORDER, world

from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.errors import EngineError, Invalid
from risala.engine.model.wire import INTEGER_MAX, Unstorable, is_text, unstorable

__all__ = ["world"]

SURROGATE, NUL, HUGE = "a\ud800b", "a\0b", 10**30
UNSTORABLE = {
    SURROGATE: Unstorable.CHARACTERS,
    NUL: Unstorable.CHARACTERS,
    HUGE: Unstorable.NUMBER,
    -HUGE: Unstorable.NUMBER,
    INTEGER_MAX + 1: Unstorable.NUMBER,
    float("inf"): Unstorable.NUMBER,
    float("nan"): Unstorable.NUMBER,
}
EXTREMES = [
    *(INTEGER_MAX, -INTEGER_MAX - 1, INTEGER_MAX - 1, 2**53 + 1, -1, 0, 1e300, True),
    *("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"),
    *("10000-01-01T00:00:00Z", "9" * 400, "1e300", "", "\u202e", "x" * 100_000),
    *([], {}, [INTEGER_MAX], {"a": INTEGER_MAX}, [[[]]]),
]
"""What can be kept, and what sums with it cannot."""


@pytest.mark.slow
async def test_each_argument_of_each_operation(world, autojump_clock):
    """Never another exception than the engine's own: it would be a 500 of a page or of the API."""
    perform, broken = world.house.gateway.perform, []
    for name in ORDER:
        await world.prepare(name)
        good = world.arguments(name)
        for field, info in OPERATIONS[name].arguments.model_fields.items():
            argument = info.alias or field
            for value, why in UNSTORABLE.items():
                for hidden in (value, [value], {"inner": [value]}):
                    with pytest.raises(Invalid) as refused:
                        await perform(name, {**good, argument: hidden})
                    assert (argument, why.value) in [
                        (each.path, each.code) for each in refused.value.faults
                    ], name
            for value in EXTREMES:
                try:
                    with suppress(EngineError):
                        await perform(name, {**good, argument: value})
                except Exception as error:  # noqa: BLE001 -- named below, with all others
                    broken.append((name, argument, str(value)[:30], repr(error)))
        with pytest.raises(Invalid) as refused:
            await perform(name, {**good, SURROGATE: 1})
        str(refused.value).encode()
    assert broken == []


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=None))
    | st.sampled_from([*UNSTORABLE]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(categories=None)), inner, max_size=3)
    ),
    max_leaves=8,
)


def leaves(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


@given(JSON)
def test_a_value_is_stored_if_all_its_parts_are(value):
    whys = {unstorable(each) for each in leaves(value)} - {None}
    assert unstorable(value) in (whys or {None})


@given(st.text(st.characters(categories=None)))
def test_a_text_can_be_encoded(text):
    has_half = any("\ud800" <= each <= "\udfff" for each in text)
    assert is_text(text) is not ("\0" in text or has_half)
