"""Whether a carrier repeats references: found out from its answers and receipts."""

import pytest

from risala.drivers.smpp.protocol.references import (
    CUT_MIN,
    RECEIPTS_MIN,
    REFUSALS,
    WATCHED_MAX,
    ReferenceWatch,
    Repeating,
    Wanted,
)
from risala.sms.receipt import Receipt, ReceiptState


def receipt(carrier_id, reference=None, *others):
    return Receipt(
        carrier_id=carrier_id,
        state=ReceiptState.DELIVERED,
        raw="DELIVRD",
        also_known_as=others,
        reference=reference,
    )


@pytest.fixture
def watch():
    return ReferenceWatch(Wanted.AUTO)


@pytest.mark.parametrize(
    ("wanted", "has_receipts", "state", "is_given"),
    [
        (Wanted.AUTO, True, Repeating.UNKNOWN, True),
        (Wanted.AUTO, False, Repeating.NO_RECEIPTS, False),
        (True, True, Repeating.UNKNOWN, True),
        (True, False, Repeating.UNKNOWN, True),
        (False, True, Repeating.OFF, False),
        (False, False, Repeating.OFF, False),
    ],
)
def test_what_the_setting_says(wanted, has_receipts, state, is_given):
    watch = ReferenceWatch(wanted, has_receipts=has_receipts)
    assert (watch.state, watch.is_given) == (state, is_given)


def test_one_that_comes_back_is_proof(watch):
    watch.answered("00AB", 7)
    watch.receipt(receipt("ab", 7))
    assert watch.state is Repeating.REPEATED
    assert watch.is_given


def test_a_receipt_may_come_before_the_answer_and_under_another_name(watch):
    watch.receipt(receipt("cd", 9, "ab"))
    watch.answered("AB", 9)
    assert watch.state is Repeating.REPEATED


def test_none_of_so_many_comes_back(watch):
    for n in range(1, RECEIPTS_MIN + 1):
        assert watch.state is Repeating.UNKNOWN
        watch.answered(f"a{n}", n)
        watch.receipt(receipt(f"a{n}", None if n % 2 else n + 1))
    assert watch.state is Repeating.NOT_REPEATED
    assert not watch.is_given
    watch.answered("b", 7)
    watch.receipt(receipt("b", 7))
    assert watch.state is Repeating.NOT_REPEATED


def test_others_receipts_and_answers_without_an_id_tell_nothing(watch):
    for n in range(2 * RECEIPTS_MIN):
        watch.receipt(receipt(f"x{n}"))
        watch.answered("", n)
    assert watch.state is Repeating.UNKNOWN


def test_an_answer_without_an_id_is_not_that_of_an_id_of_zeros(watch):
    watch.answered("", 7)
    watch.receipt(receipt("000", 7))
    assert watch.state is Repeating.UNKNOWN


def test_only_so_many_answers_are_waited_for(watch):
    for n in range(WATCHED_MAX + 1):
        watch.answered(f"a{n}", n)
    watch.receipt(receipt("a0", 0))
    assert watch.state is Repeating.UNKNOWN
    watch.receipt(receipt("a1", 1))
    assert watch.state is Repeating.REPEATED


@pytest.mark.parametrize("status", sorted(REFUSALS))
def test_a_refusal_may_be_for_the_reference(watch, status):
    assert watch.may_be_why(status)
    assert not watch.may_be_why(0x0B)
    assert not ReferenceWatch(True).may_be_why(status)
    watch.tried_without(is_taken=True)
    assert watch.state is Repeating.REFUSED
    assert not watch.may_be_why(status)


def test_a_refusal_for_another_reason_is_tried_once(watch):
    watch.tried_without(is_taken=False)
    assert watch.state is Repeating.UNKNOWN
    assert not watch.may_be_why(0xC4)


def test_what_is_known_stands_against_a_submit_that_was_taken_without():
    watch = ReferenceWatch(Wanted.AUTO)
    watch.answered("a", 7)
    watch.receipt(receipt("a", 7))
    watch.tried_without(is_taken=True)
    assert watch.state is Repeating.REPEATED


@pytest.mark.parametrize(
    ("version", "state"),
    [
        (None, Repeating.UNKNOWN),
        (0x33, Repeating.TOO_OLD),
        (0x34, Repeating.UNKNOWN),
        (0x50, Repeating.UNKNOWN),
    ],
)
def test_an_old_centre_takes_no_parameters(watch, version, state):
    watch.bound(version)
    assert watch.state is state
    watch.bound(0x34)
    assert watch.state is Repeating.UNKNOWN


def test_what_was_found_out_outlasts_a_bind_and_a_setting_every_bind(watch):
    watch.answered("a", 7)
    watch.receipt(receipt("a", 7))
    watch.bound(0x33)
    assert watch.state is Repeating.REPEATED
    given = ReferenceWatch(True)
    given.bound(0x33)
    assert given.is_given


def test_a_carrier_that_cuts_references_is_found_out_by_so_many(watch):
    for n in range(1, CUT_MIN + 1):
        assert watch.state is Repeating.UNKNOWN
        watch.answered(f"a{n}", 0x100 + n)
        watch.receipt(receipt(f"a{n}", n))
    assert watch.state is Repeating.CUT
    assert watch.is_given


def test_a_carrier_that_was_given_octets_repeats_them():
    watch = ReferenceWatch(Wanted.OCTET)
    watch.answered("a", 0x1234)
    watch.receipt(receipt("a", 0x34))
    assert watch.state is Repeating.REPEATED
