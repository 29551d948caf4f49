"""Which looks leave no other line in the audit trail."""

from risala.engine.model.audit import HOLDS_MS, KEPT_MAX, AuditedReads

AT_MS = 1_795_250_476_123


def test_the_same_look_stands_for_a_minute():
    looks = AuditedReads()
    assert not looks.stands("a", AT_MS)
    looks.note("a", AT_MS)
    assert looks.stands("a", AT_MS + HOLDS_MS - 1)
    assert not looks.stands("a", AT_MS + HOLDS_MS)
    assert not looks.stands("b", AT_MS)


def test_a_look_does_not_stand_longer_for_being_repeated_without_a_line():
    looks = AuditedReads()
    looks.note("a", AT_MS)
    assert looks.stands("a", AT_MS + HOLDS_MS - 1)
    assert not looks.stands("a", AT_MS + HOLDS_MS + 1)


def test_a_clock_that_is_set_back_lets_nothing_stand():
    looks = AuditedReads()
    looks.note("a", AT_MS)
    assert not looks.stands("a", AT_MS - 1)


def test_the_oldest_are_forgotten_where_there_are_many():
    looks = AuditedReads()
    for number in range(KEPT_MAX + 1):
        looks.note(number, AT_MS)
    assert not looks.stands(0, AT_MS)
    assert looks.stands(1, AT_MS)
    assert looks.stands(KEPT_MAX, AT_MS)
