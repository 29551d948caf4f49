from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import (
    IdSource,
    MessageIds,
    concat_reference,
    event_id,
    is_id,
    key_ms,
    key_of,
    message_id,
)

TIMES = st.integers(min_value=0, max_value=2**48 - 1)
RANDOM = st.binary(min_size=23, max_size=23)


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


def whole_of(text: str) -> int:
    """The 160 bits of an id."""
    return functools.reduce(
        lambda bits, digit: bits << 5 | "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(digit), text[4:], 0
    )


def test_known_values():
    assert made(0, bytes(23)) == "sms_" + "0" * 32
    assert made(2**48 - 1, b"\xff" * 23) == "sms_" + "Z" * 32
    assert made(1, bytes(23)) == "sms_" + "000000000" + "4" + "0" * 22


@given(TIMES, RANDOM)
def test_shape(now_ms, random):
    text = made(now_ms, random)
    assert len(text) == 4 + 32
    assert is_id(text, "sms")
    assert not is_id(text, "org")
    assert not is_id(text, "sm")
    value = whole_of(text)
    assert value >> 112 == now_ms
    digits = [octet % 32 for octet in random[1:]]
    assert value & ((1 << 110) - 1) == functools.reduce(lambda bits, d: bits << 5 | d, digits)
    assert value >> 110 & 3 == random[0] % 4


@given(TIMES, TIMES, RANDOM, RANDOM)
def test_text_order_is_time_order(first_ms, second_ms, first, second):
    if first_ms < second_ms:
        assert made(first_ms, first) < made(second_ms, second)


@given(TIMES, RANDOM)
def test_concat_reference_is_the_last_sixteen_random_bits(now_ms, random):
    text = made(now_ms, random)
    assert concat_reference(text) == whole_of(text) & 0xFFFF


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


KEYS = st.integers(min_value=0, max_value=2**63 - 1)


@given(TIMES, RANDOM)
def test_the_key_of_an_id_is_its_first_sixty_three_bits(now_ms, random):
    text = made(now_ms, random)
    key = key_of(text)
    assert key == whole_of(text) >> 97
    assert key_ms(key) == now_ms


@given(KEYS, st.integers(min_value=0, max_value=2**97 - 1))
def test_a_message_s_id_begins_with_its_key(key, rest):
    text = message_id(key, rest)
    assert is_id(text, "sms")
    assert key_of(text) == key


@pytest.mark.parametrize("text", ["", "sms_", "sms_1", "sms_" + "O" * 32, "x" * 40])
def test_what_is_no_id_has_no_key(text):
    assert key_of(text) is None


@given(st.lists(st.integers(min_value=0, max_value=2**47), min_size=1), KEYS)
def test_no_two_messages_have_one_key_whatever_the_clock_does(times, last):
    ids = MessageIds(last >> 1)
    made = [(key, key_of(text)) for now_ms in times for key, text in ids.new(now_ms, 10)]
    assert all(key == of_text for key, of_text in made)
    keys = [key for key, _ in made]
    assert keys == sorted({*keys})
    assert keys[0] > last >> 1
    assert all(key_ms(keys[10 * n]) >= now_ms for n, now_ms in enumerate(times))


@given(KEYS.filter(lambda key: key < 2**63 - 9), st.binary(min_size=160, max_size=160))
def test_many_ids_are_what_their_keys_and_random_bits_make(last, random):
    made = MessageIds(last, lambda count: random[:count]).new(0, 8)
    for n, (key, text) in enumerate(made):
        drawn = random[20 * n : 20 * n + 20]
        rest = functools.reduce(lambda bits, octet: bits << 5 | octet % 32, drawn[1:], drawn[0] % 4)
        assert (key, text) == (last + 1 + n, message_id(last + 1 + n, rest))


@given(KEYS, st.integers(min_value=0, max_value=2**97 - 1))
def test_an_event_s_id_begins_with_its_key_and_ends_as_what_it_tells_of(key, rest):
    subject = message_id(key, rest)
    text = event_id(key, subject)
    assert is_id(text, "evt")
    assert key_of(text) == key
    assert text[-19:] == subject[-19:]
