from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource, concat_reference, derived_id, is_id

TIMES = st.integers(min_value=0, max_value=2**48 - 1)
RANDOM = st.binary(min_size=14, max_size=14)


class FixedClock:
    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms


def made(now_ms: int, random: bytes) -> str:
    def take(count: int) -> bytes:
        assert count == len(random)
        return random

    return IdSource(FixedClock(now_ms), take).new("sms")


def test_known_values():
    assert made(0, bytes(14)) == "sms_" + "0" * 32
    assert made(2**48 - 1, b"\xff" * 14) == "sms_" + "Z" * 32
    assert made(1, bytes(14)) == "sms_" + "000000000" + "4" + "0" * 22


@given(TIMES, RANDOM)
def test_shape(now_ms, random):
    text = made(now_ms, random)
    assert len(text) == 4 + 32
    assert is_id(text, "sms")
    assert not is_id(text, "org")
    assert not is_id(text, "sm")
    value = 0
    for digit in text[4:]:
        value = value * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(digit)
    assert value == int.from_bytes(now_ms.to_bytes(6, "big") + random, "big")


@given(TIMES, TIMES, RANDOM, RANDOM)
def test_text_order_is_time_order(first_ms, second_ms, first, second):
    if first_ms < second_ms:
        assert made(first_ms, first) < made(second_ms, second)


@given(TIMES, RANDOM)
def test_concat_reference_is_the_last_sixteen_random_bits(now_ms, random):
    assert concat_reference(made(now_ms, random)) == int.from_bytes(random[-2:], "big")


@pytest.mark.parametrize(
    "text",
    ["", "sms_", "sms_" + "0" * 31, "sms_" + "0" * 33, "sms_" + "O" * 32, "sms_" + "a" * 32,
     "sms" + "0" * 33, "sms_" + "0" * 31 + "\n", "sms_" + "0" * 32 + "\n", "sms_" + "٣" * 32],
)  # fmt: skip
def test_is_id_refuses(text):
    assert not is_id(text, "sms")


def test_real_ones_differ():
    source = IdSource(SystemClock())
    assert len({source.new("ver") for _ in range(1000)}) == 1000


@given(TIMES, st.text(), st.text())
def test_a_derived_id_has_the_same_shape_and_is_the_same_again(now_ms, one, other):
    text = derived_id("evt", now_ms, one, other)
    assert is_id(text, "evt")
    assert text == derived_id("evt", now_ms, one, other)
    assert text[:13] == made(now_ms, bytes(14)).replace("sms", "evt")[:13]


def test_derived_ids_differ_by_what_they_are_of():
    ids = {derived_id("evt", 1, *of_what) for of_what in (("a", "b"), ("ab", ""), ("a", "c"))}
    assert len(ids) == 3
