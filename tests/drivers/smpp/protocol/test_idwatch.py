"""Receipts that write ids in another form than the answers are noticed, and nothing else is."""

import pytest

from risala.drivers.smpp.protocol.receipt import IDS_MAX, RECEIPTS_MIN, IdForm, IdWatch, plain_id
from risala.lab.smsc.receipts import IdStyle, ids_of

_FIRST = 0x1A1FCA8B05300000


def seen(style: IdStyle, form: IdForm, count: int = RECEIPTS_MIN) -> list[IdForm | None]:
    watch = IdWatch(form)
    ids = [ids_of(_FIRST + number, style) for number in range(count)]
    for answered, _ in ids:
        watch.answered(answered)
    return [watch.better_form(receipt) for _, receipt in ids]


@pytest.mark.parametrize(
    ("style", "better"),
    [
        (IdStyle.RESP_HEX_RECEIPT_DEC, IdForm.RESP_HEX_RECEIPT_DEC),
        (IdStyle.RESP_DEC_RECEIPT_HEX, IdForm.RESP_DEC_RECEIPT_HEX),
    ],
)
def test_it_says_which_form_would_match(style, better):
    told = seen(style, IdForm.SAME)
    assert told == [None] * (RECEIPTS_MIN - 1) + [better]
    assert set(seen(style, better)) == {None}


@pytest.mark.parametrize(
    "style", [IdStyle.SAME, IdStyle.RECEIPT_UPPER, IdStyle.RECEIPT_PADDED, IdStyle.UUID]
)
def test_what_matches_needs_no_other_form(style):
    assert set(seen(style, IdForm.SAME, 20)) == {None}


def test_the_same_form_is_found_where_another_was_set():
    told = seen(IdStyle.SAME, IdForm.RESP_HEX_RECEIPT_DEC)
    assert set(told) == {None}, "an id as it was answered matches in any form"


def test_strangers_tell_nothing():
    watch = IdWatch(IdForm.SAME)
    watch.answered("abc")
    assert [watch.better_form(f"7{number}") for number in range(50)] == [None] * 50


def test_a_match_in_between_makes_it_a_chance():
    watch = IdWatch(IdForm.SAME)
    for one in ("10", "ff"):
        watch.answered(one)
    told = [watch.better_form(one) for one in (["16", "255"] * 2 + ["10"]) * 5]
    assert set(told) == {None}


def test_only_so_many_answers_are_remembered():
    watch = IdWatch(IdForm.SAME)
    for number in range(IDS_MAX + RECEIPTS_MIN):
        watch.answered(f"{_FIRST + number:x}")
    old = [watch.better_form(str(_FIRST + number)) for number in range(RECEIPTS_MIN)]
    new = [watch.better_form(str(_FIRST + IDS_MAX + number)) for number in range(RECEIPTS_MIN)]
    assert set(old) == {None}
    assert new[-1] is IdForm.RESP_HEX_RECEIPT_DEC


def test_as_many_answers_as_are_remembered_are():
    watch = IdWatch(IdForm.SAME)
    for number in range(IDS_MAX):
        watch.answered(f"{_FIRST + number:x}")
    told = [watch.better_form(str(_FIRST + number)) for number in range(RECEIPTS_MIN)]
    assert told[-1] is IdForm.RESP_HEX_RECEIPT_DEC


def test_forms_by_turns_are_chance():
    watch = IdWatch(IdForm.SAME)
    watch.answered("161")  # the hexadecimal of 353, and the decimal of a1
    told = [watch.better_form(one) for one in ["353", "a1"] * RECEIPTS_MIN]
    assert set(told) == {None}
    assert [watch.better_form("353") for _ in range(RECEIPTS_MIN)] == [
        *[None] * (RECEIPTS_MIN - 1),
        IdForm.RESP_HEX_RECEIPT_DEC,
    ]


@pytest.mark.parametrize(
    ("one", "other"), [("00AB", "ab"), ("ab", "AB"), ("0", ""), ("ab00", "AB00")]
)
def test_an_id_is_compared_without_case_and_zeros_in_front(one, other):
    assert plain_id(one) == plain_id(other)
    assert plain_id("ab00") != plain_id("ab")
