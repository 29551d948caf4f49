"""Server keys: what belongs to which, and how their file is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.ids import first_id
from risala.engine.rules.keyring import KeyRing, ServerKey, read, written

A, B, C = (each * 32 for each in (b"a", b"b", b"c"))
RING = KeyRing.of(A).rotated(B, 1000, 5000).rotated(C, 2000, 9000)
keys = st.binary(min_size=32, max_size=40)
times = st.integers(0, 2**47)


@pytest.mark.parametrize(
    ("at", "key"), [(0, A), (999, A), (1000, B), (1999, B), (2000, C), (9_999, C)]
)
def test_an_id_belongs_to_the_key_of_its_time(at, key):
    assert RING.for_id(first_id("ver", at)) == key


def test_what_is_no_id_belongs_to_the_newest():
    assert RING.for_id("ver_a") == RING.for_id("") == C


def test_old_keys_hold_until_their_end():
    assert RING.holding(4999) == [C, B, A]
    assert RING.holding(5000) == [C, B]
    assert RING.holding(9000) == [C]
    assert RING.without_old(5000).keys == RING.keys[:2]
    assert RING.without_old(5000).for_id(first_id("ver", 1)) == B


def test_at_once_none_of_before_holds():
    ring = RING.rotated(A, 3000, None)
    assert ring.keys == (ServerKey(A, 3000),)
    assert ring.for_id(first_id("ver", 1)) == A


@given(keys, st.lists(st.tuples(keys, times, times), max_size=4))
def test_a_file_says_what_was_written(first, rotations):
    ring = KeyRing.of(first)
    for secret, since, until in rotations:
        ring = ring.rotated(secret, since, until)
    assert read(written(ring)) == ring
    assert read(written(ring).upper().replace("\n", "\r\n")) == ring


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", "zz" * 32, "ab" * 31, f"{'ab' * 32} x", f"{'ab' * 32} 1 2 3"),
        f"{'ab' * 32} -1",
        f"{'ab' * 32} 1 2",
        f"{'ab' * 32}\n{'cd' * 32}",
        f"{'ab' * 32} 1\n{'cd' * 32} 0",
        f"{'ab' * 32} 1\n{'cd' * 32} 0 5 9",
        f"{'ab' * 32}\nnonsense 0 5",
    ],
)
def test_anything_else_is_no_key(text):
    assert read(text) is None
    assert "ab" * 32 not in repr(read("ab" * 32))
