"""What a carrier is given with a submit is the same after a restart, and in every version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.sms.message import submit_reference


@pytest.mark.parametrize(
    ("submit", "reference"),
    [(("sms_01", 1, 1), 17357), (("sms_01", 2, 1), 49223), (("sms_01", 1, 2), 11294)],
)
def test_a_submits_reference_is_pinned(submit, reference):
    assert submit_reference(*submit) == reference


@given(st.text(), st.integers(1, 255), st.integers(1, 99))
def test_it_is_a_number_that_the_wire_has_room_for(message_id, number, attempt):
    assert 1 <= submit_reference(message_id, number, attempt) <= 0xFFFF
