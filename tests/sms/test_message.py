"""What a carrier is given with a submit is the same after a restart, and in every version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.sms.message import names_submit, octet_reference, submit_reference


@pytest.mark.parametrize(
    ("submit", "reference"),
    [(("sms_01", 1, 1), 17357), (("sms_01", 2, 1), 49223), (("sms_01", 1, 2), 11294)],
)
def test_a_submits_reference_is_pinned(submit, reference):
    assert submit_reference(*submit) == reference


@given(st.text(), st.integers(1, 255), st.integers(1, 99))
def test_it_is_a_number_that_the_wire_has_room_for(message_id, number, attempt):
    assert 1 <= submit_reference(message_id, number, attempt) <= 0xFFFF


@pytest.mark.parametrize(
    ("reference", "octet"),
    [(0x0001, 0x01), (0x1234, 0x34), (0x12FF, 0xFF), (0x0100, 0xFF), (0x0101, 0x01)],
)
def test_the_low_octet_of_a_reference_is_never_zero(reference, octet):
    assert octet_reference(reference) == octet


@pytest.mark.parametrize(
    ("told", "names"),
    [(0x1234, True), (0x34, True), (0x12, False), (0xFF, False), (0x1235, False), (0, False)],
)
def test_a_receipt_names_a_submit_by_its_whole_reference_or_its_low_octet(told, names):
    assert names_submit(told, 0x1234) is names
