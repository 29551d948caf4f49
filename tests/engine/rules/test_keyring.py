"""Server keys: what belongs to which, and how their file is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.ids import first_id
from risala.engine.rules.keyring import Codes, KeyRing, ServerKey, key_for, read, written

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


# One-time codes: the same in every version, as one process derives them and another compares.

ONE_KEY = KeyRing.of(bytes(range(32)))
CODES, MAILED = Codes(lambda: ONE_KEY), Codes(lambda: ONE_KEY, "email")


@pytest.mark.parametrize(
    ("codes", "basis", "length", "code"),
    [
        (CODES, "ver_1 a", 6, "870927"),
        (CODES, "ver_1 a", 4, "0927"),
        (CODES, "ver_1 b", 6, "374704"),
        (CODES, "ver_1 51", 6, "008004"),  # zeros in front are digits too
        (MAILED, "ver_1 a", 8, "51479335"),
    ],
)
def test_what_is_derived_is_pinned(codes, basis, length, code):
    assert codes.code(basis, length, test=False) == code
    assert codes.matches(code, basis, length, test=False)


def test_a_purposes_key_is_pinned():
    wanted = "36c4ee504f93e6d494300f32a3cdf9770fa6a022886355486e78082f6444db13"
    assert key_for(bytes(32), "x").hex() == wanted


def test_codes_of_one_purpose_are_no_codes_of_another():
    mailed, of_nothing = Codes(lambda: ONE_KEY, "email"), Codes(lambda: ONE_KEY)
    assert mailed.code("ver_1 a", 8, test=False) == "51479335"
    assert not of_nothing.matches("51479335", "ver_1 a", 8, test=False)


def test_a_code_is_of_the_key_of_its_own_time():
    old, new = bytes(32), b"n" * 32
    basis = f"{first_id('ver', 1000)} 1"
    before = Codes(lambda: KeyRing.of(old))
    after = Codes(lambda: KeyRing.of(old).rotated(new, 2000, 9000))
    assert after.code(basis, 6, test=False) == before.code(basis, 6, test=False)
    later = f"{first_id('ver', 3000)} 1"
    assert after.code(later, 6, test=False) != before.code(later, 6, test=False)
    longer = f"{basis} and more"  # the id is its first word
    assert after.code(longer, 6, test=False) == before.code(longer, 6, test=False)


def test_the_code_of_a_test_key_is_zeros():
    assert CODES.code("ver_1 a", 6, test=True) == "000000"
    assert CODES.matches("000000", "ver_1 a", 6, test=True)
    assert not CODES.matches("870927", "ver_1 a", 6, test=True)
    assert not CODES.matches("000000", "ver_1 a", 6, test=False)


@pytest.mark.parametrize(
    "guess",
    [
        *(
            "870927",
            " 870927\n",
            "٨٧٠٩٢٧",
            "۸۷۰۹۲۷",
            "८७०९२७",
            "８７０９２７",
            "870 927",
            "870\u00a0927",
        ),
        *(
            "870-927",
            "870–927",
            "870927.",
            "\u2068870927\u2069",
            "870\ufe0f927",
            "\ufeff870927\u200b",
        ),
    ],
)
def test_people_write_digits_in_their_own_way(guess):
    assert CODES.matches(guess, "ver_1 a", 6, test=False)


@pytest.mark.parametrize(
    "guess", ["", "870928", "87092", "8709270", "870x927", "870927²", "\ud800", "0x8709"]
)
def test_what_is_no_match(guess):
    assert not CODES.matches(guess, "ver_1 a", 6, test=False)


def test_each_arabic_digit_is_the_one_that_it_means():
    for zero in ("٠", "۰"):
        for value in range(10):
            digit = chr(ord(zero) + value)
            codes = [f"ver_1 {n}" for n in range(200)]
            basis = next(b for b in codes if CODES.code(b, 1, test=False) == str(value))
            assert CODES.matches(digit, basis, 1, test=False)


@given(st.text(), st.integers(4, 8))
def test_a_code_has_its_length(basis, length):
    code = CODES.code(basis, length, test=False)
    assert len(code) == length
    assert code.isascii()
    assert code.isdigit()


def test_nobody_sees_the_key():
    assert repr(CODES) == "<Codes ***>"
