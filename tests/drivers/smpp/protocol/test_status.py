"""What each command_status makes of a submit."""

import pytest

from risala.drivers.smpp.protocol.status import (
    BIND_ADVICE,
    STATUSES,
    StatusVerdict,
    is_unknown_request,
    refusal,
    status_of,
    unknown_bind,
)
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope, Throttled


@pytest.mark.parametrize(("value", "name"), [(0x58, "ESME_RTHROTTLED"), (0x14, "ESME_RMSGQFUL")])
def test_slow_down_is_no_refusal(value, name):
    outcome = refusal(value)
    assert isinstance(outcome, Throttled)
    assert outcome.raw == name


@pytest.mark.parametrize(
    ("scope", "values"),
    [
        (Scope.NOW, [0x08, 0x64, 0x45, 0x04, 0xFE, 0xFF, 0x99, 0x500]),
        (Scope.FINAL, [0x0B, 0x65, 0x66]),
        (Scope.CARRIER, [0x0A, 0x01, 0x43, 0x48, 0x61, 0xC4, 0x104, 0x400, 0x4FF]),
    ],
)
def test_how_far_a_refusal_reaches(scope, values):
    for value in values:
        outcome = refusal(value)
        assert isinstance(outcome, Refused)
        assert outcome.scope is scope, hex(value)


def test_a_carrier_may_mean_something_else():
    verdicts = {0x45: StatusVerdict.FINAL, 0x401: StatusVerdict.THROTTLED}
    told = refusal(0x45, verdicts)
    assert told == Refused(Scope.FINAL, "ESME_RSUBMITFAIL", "", Cause.REJECTED)
    assert isinstance(refusal(0x401, verdicts), Throttled)


def test_every_row_is_a_sentence_of_its_own():
    texts = [row.text for row in STATUSES.values()]
    assert all(text.startswith("The ") and text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)
    assert all(row.name.startswith("ESME_R") for row in STATUSES.values())
    assert set(BIND_ADVICE) <= set(STATUSES)


def test_what_nobody_knows_keeps_its_number():
    assert status_of(0x455).name == "VENDOR_0x455"
    assert status_of(0xDEAD).name == "UNKNOWN_0x0000DEAD"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0x01, "ESME_RINVMSGLEN"),
        (0x0B, "ESME_RINVDSTADR"),
        (0x33, "ESME_RINVNUMDESTS"),
        (0x67, "ESME_RQUERYFAIL"),
        (0xC4, "ESME_RINVOPTPARAMVAL"),
        (0xFE, "ESME_RDELIVERYFAILURE"),
        (0x104, "ESME_RINVDCS"),
        (0x10C, "ESME_RINVBCASTMSGCLASS"),
        (0x112, "ESME_RINVBCASTCHANIND"),
    ],
)
def test_numbers_are_those_of_the_standard(value, name):
    assert status_of(value).name == name


def test_no_number_of_the_standard_is_left_out():
    """SMPP 3.4 §5.1.3, and 5.0 §4.7.6 from 0x100 on."""
    reserved = {0x09, 0x10, 0x12, *range(0x16, 0x33), *range(0x35, 0x40), 0x41, 0x46, 0x47}
    reserved |= {*range(0x4A, 0x50), 0x52, 0x56, 0x57, 0x59, 0x5A, *range(0x5B, 0x61)}
    reserved |= {*range(0x68, 0xC0), *range(0xC5, 0xFE)}
    assert set(STATUSES) == {*range(1, 0x113)} - reserved


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (0x0A, Cause.SENDER_REFUSED),
        (0x0B, Cause.RECIPIENT_REFUSED),
        (0x08, Cause.CARRIER_FAULT),
        (0x58, Cause.THROTTLED),
        (0x66, Cause.REJECTED),
        (0x101, Cause.NOT_ALLOWED),
        (0x43, Cause.UNSUPPORTED),
        (0x410, Cause.REJECTED),
        (0xDEAD, Cause.REJECTED),
    ],
)
def test_each_status_is_a_word_of_the_closed_list(value, cause):
    assert refusal(value).cause is cause


def test_a_status_has_a_sentence_of_its_own_only_where_it_says_more_than_the_cause():
    assert refusal(0x0B).text == ""
    assert refusal(0x43).text == "The carrier does not take this esm_class."


@pytest.mark.parametrize("value", [0x45, 0x64, 0xFE, 0xFF, 0x102, 0x10D, 0x2FF])
def test_only_rsyserr_says_that_the_carrier_has_a_fault(value):
    """The others say that it did not take the message; why is not known."""
    assert refusal(0x08).cause is Cause.CARRIER_FAULT
    assert refusal(value).cause is Cause.REJECTED


def test_a_carrier_may_have_another_reason():
    told = refusal(0x410, causes={0x410: Cause.NO_CREDIT})
    assert told == Refused(Scope.CARRIER, "VENDOR_0x410", "", Cause.NO_CREDIT)


@pytest.mark.parametrize(
    ("value", "name", "says"),
    [
        (0x400, "VENDOR_0x400", "a code of its own"),
        (0x4FF, "VENDOR_0x4FF", "a code of its own"),
        (0x500, "UNKNOWN_0x00000500", "the standard does not know"),
        (0x3FF, "UNKNOWN_0x000003FF", "the standard does not know"),
    ],
)
def test_a_code_of_nobody_has_its_number_and_a_sentence(value, name, says):
    row = status_of(value)
    assert (row.value, row.name) == (value, name)
    assert says in row.text
    assert refusal(value).text == row.text


def test_a_code_that_throttles_says_why_in_the_carriers_own_meaning():
    throttled = refusal(0x400, {0x400: StatusVerdict.THROTTLED})
    assert throttled == Throttled("VENDOR_0x400", status_of(0x400).text, cause=Cause.REJECTED)
    known = refusal(0x400, {0x400: StatusVerdict.THROTTLED}, {0x400: Cause.BUSY})
    assert known == Throttled("VENDOR_0x400", "", cause=Cause.BUSY)


@pytest.mark.parametrize(
    ("status", "scope", "cause"),
    [
        (0x0B, Scope.FINAL, Cause.UNKNOWN_NUMBER),
        (0xFE, Scope.RECIPIENT, Cause.ABSENT),
        (0x64, Scope.RECIPIENT, Cause.PHONE_FULL),
        (0x65, Scope.FINAL, Cause.PHONE_FULL),
        (0x66, Scope.FINAL, Cause.PHONE_FULL),
        (0x08, Scope.NOW, Cause.CARRIER_FAULT),
    ],
)
def test_what_the_network_says_of_the_phone_is_a_word_of_the_closed_list(status, scope, cause):
    told = refusal(status, is_transaction=True)
    assert told == Refused(scope, status_of(status).name, "", cause)


def test_the_settings_of_a_carrier_count_before_what_the_network_says():
    told = refusal(0xFE, {0xFE: StatusVerdict.FINAL}, is_transaction=True)
    assert told.scope is Scope.FINAL
    assert refusal(0xFE, causes={0xFE: Cause.BARRED}, is_transaction=True).cause is Cause.BARRED


@pytest.mark.parametrize(
    ("status", "is_nack", "is_unknown"),
    [
        (0x03, False, True),
        (0x03, True, True),
        (0x00, True, True),  # no status: it says nothing but that it refuses
        (0x02, True, True),
        (0x02, False, False),
        (0x0D, False, False),
        (0x0D, True, False),  # it may pass later
        (0x08, True, False),
        (0x58, True, False),
    ],
)
def test_whether_a_carrier_does_not_know_a_kind_of_request(status, is_nack, is_unknown):
    assert is_unknown_request(status, is_nack=is_nack) is is_unknown


@pytest.mark.parametrize(
    ("bind", "other"),
    [("transceiver", "transmitter_receiver"), ("transmitter_receiver", "transceiver")],
)
def test_a_bind_that_the_carrier_does_not_know_is_answered_by_the_other_one(bind, other):
    told = unknown_bind("bind_receiver", bind)
    assert "does not know bind_receiver" in told
    assert f'bind = "{other}"' in told
