from risala.sms.cause import Cause, cause_of


def test_a_stored_word_is_its_cause_and_any_other_is_what_the_caller_says():
    assert cause_of("ABSENT", Cause.UNDELIVERABLE) is Cause.ABSENT
    for word in ("of a later version", "", None):
        assert cause_of(word, Cause.UNDELIVERABLE) is Cause.UNDELIVERABLE
