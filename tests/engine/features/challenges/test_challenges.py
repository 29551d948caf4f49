"""Challenges: what counts as an answer, once, and for whom."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.challenges.challenges import ID_CHARACTERS, Challenges
from risala.engine.features.challenges.rules import (
    DIGITS_MAX,
    LIFE_S,
    PARTS,
    Challenge,
    is_solved,
    solution,
)

BITS = 8
MINE = ("key_1", "+22236123456", "3221225985")
VECTOR = Challenge("CAAAAHhyaXNhbGEuLi4uLi4uLi4uLi4uLi4uLi4u", 8)
"""The example of the reference."""
VECTOR_NONCE = "158.521.302.255.76.450.325.15.552.295.154.8.97.87.193.266"


def test_the_references_example_holds():
    assert solution(VECTOR) == VECTOR_NONCE
    assert is_solved(VECTOR, VECTOR_NONCE)


def test_a_solution_has_the_zero_bits_of_every_part():
    made = Challenge("c" * ID_CHARACTERS, 11)
    nonce = solution(made)
    for part, number in enumerate(nonce.split(".")):
        digest = sha256(f"{made.id}.{part}.{number}".encode()).digest()
        assert digest[0] == 0
        assert digest[1] < 32
    assert is_solved(made, nonce)
    assert not is_solved(Challenge(made.id, 18), nonce)


@given(st.text(max_size=300) | st.from_regex(r"[0-9.]{0,300}", fullmatch=True))
def test_nothing_else_is_a_nonce(text):
    assert not is_solved(Challenge("c" * ID_CHARACTERS, 18), text)


def test_what_is_hashed_is_one_block():
    longest = f"{'c' * ID_CHARACTERS}.{PARTS - 1}.{'9' * DIGITS_MAX}"
    assert len(longest) <= 55


async def test_an_answer_counts_once(quick):
    asked = Challenges(BITS)
    made = asked.ask(MINE)
    assert len(made.id) == ID_CHARACTERS
    nonce = solution(made)
    assert asked.take(MINE, made.id, nonce)
    assert not asked.take(MINE, made.id, nonce)
    again = asked.ask(MINE)
    assert asked.take(MINE, again.id, solution(again))


@pytest.mark.parametrize("part", range(3))
async def test_of_another_key_number_or_address_it_does_not(quick, part):
    asked = Challenges(BITS)
    made = asked.ask(MINE)
    nonce = solution(made)
    other = (*MINE[:part], "another", *MINE[part + 1 :])
    assert not asked.take(other, made.id, nonce)
    assert not asked.take(tuple(reversed(MINE)), made.id, nonce)
    assert not asked.take(("key_1+22236123456", "", MINE[2]), made.id, nonce)
    assert asked.take(MINE, made.id, nonce)  # those who tried took nothing from its owner


async def test_it_counts_for_two_minutes(quick):
    asked = Challenges(BITS)
    early, late = asked.ask(MINE), asked.ask(MINE)
    await trio.sleep(LIFE_S - 1)
    assert asked.take(MINE, early.id, solution(early))
    await trio.sleep(1)
    assert not asked.take(MINE, late.id, solution(late))
    assert not asked.take(MINE, early.id, solution(early))


async def test_what_was_taken_at_any_time_is_never_taken_again(quick):
    asked = Challenges(BITS)
    made = []
    for _ in range(8 * LIFE_S // 45):
        one = asked.ask(MINE)
        made.append((one.id, solution(one)))
        assert asked.take(MINE, *made[-1])
        await trio.sleep(45)
        assert not any(asked.take(MINE, *each) for each in made)
    assert len(asked._taken) + len(asked._taken_before) <= 2 * LIFE_S // 45 + 2


async def test_it_cannot_be_made_easier_or_longer_or_forged(quick):
    asked = Challenges(BITS + 2)
    made = asked.ask(MINE)
    head = base64.urlsafe_b64decode(made.id)
    for at in range(len(head)):
        for bit in range(8):
            other = bytearray(head)
            other[at] ^= 1 << bit
            text = base64.urlsafe_b64encode(bytes(other)).decode()
            easy = Challenge(text, min(other[0], 1))
            assert not asked.take(MINE, text, solution(easy))
    assert asked.take(MINE, made.id, solution(made))


@pytest.mark.parametrize(
    "text", ["", "x", "é" * 40, "=" * 40, "+" * 40, "/" * 40, " " * 40, "A" * 40, "A" * 39 + "\n"]
)
async def test_what_is_no_id_of_ours_does_not_count(quick, text):
    asked = Challenges(BITS)
    assert not asked.take(MINE, text, ".".join("0" * PARTS))


async def test_a_wrong_nonce_does_not_count_and_costs_nothing(quick):
    asked = Challenges(BITS)
    made = asked.ask(MINE)
    nonce = solution(made)
    first, _, rest = nonce.partition(".")
    for wrong in ("", ".".join("0" * PARTS), rest, f"{first}.{nonce}", f"0{nonce}", f"{nonce}.0"):
        assert not asked.take(MINE, made.id, wrong)
    assert asked.take(MINE, made.id, nonce)


async def test_after_a_restart_no_challenge_of_before_counts(quick):
    """Whether it was taken is in memory alone, and so is what seals it."""
    before, after = Challenges(BITS), Challenges(BITS)
    taken, open_one = before.ask(MINE), before.ask(MINE)
    assert before.take(MINE, taken.id, solution(taken))
    for each in (taken, open_one):
        assert not after.take(MINE, each.id, solution(each))


async def test_a_flood_fills_no_memory_and_lets_none_pass_twice(quick):
    asked = Challenges(BITS, taken_max=3)
    for _ in range(100):
        asked.ask(MINE)  # what is asked is kept nowhere
    made = [asked.ask(MINE) for _ in range(5)]
    nonces = [solution(each) for each in made]
    counted = [asked.take(MINE, each.id, nonce) for each, nonce in zip(made, nonces, strict=True)]
    assert counted == [True, True, True, True, False]  # the fourth made the seal anew
    assert len(asked._taken) + len(asked._taken_before) <= 3
    assert not any(
        asked.take(MINE, each.id, nonce) for each, nonce in zip(made, nonces, strict=True)
    )
    fresh = asked.ask(MINE)
    assert asked.take(MINE, fresh.id, solution(fresh))
