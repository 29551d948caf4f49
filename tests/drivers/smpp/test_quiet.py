"""A carrier that brings nothing, though its links answer."""

from risala.drivers.smpp.quiet import QuietWatch


def test_it_is_due_while_receipts_are_awaited():
    watch = QuietWatch(100)
    assert not watch.is_due(1000), "nothing was accepted: nothing is awaited"
    watch.accepted(1000)
    watch.accepted(1090)
    assert not watch.is_due(1099)
    assert watch.is_due(1100)
    watch.came()
    assert not watch.is_due(5000)


def test_each_time_in_vain_takes_twice_as_long_and_the_second_is_told():
    watch = QuietWatch(100)
    watch.accepted(0)
    watch.bound_again(100)
    assert not watch.attention
    assert not watch.is_due(299)
    assert watch.is_due(300)
    watch.bound_again(300)
    assert "no receipts or messages" in watch.attention
    assert not watch.is_due(699)
    assert watch.came()
    assert not watch.attention


def test_it_can_be_switched_off():
    watch = QuietWatch(0)
    watch.accepted(0)
    assert not watch.is_due(1e9)
