"""Parts in any order, twice, too late or never: nothing that came is dropped."""

from hypothesis import given
from hypothesis import strategies as st

from risala.sms.assembly import REPEATS_S, Assembler, Part
from risala.sms.message import Concatenation


def place(number, total=2, reference=7) -> Concatenation:
    return Concatenation(reference, total, number, 8)


def test_what_stands_alone_is_whole_at_once():
    whole = Assembler().add("a", None, token="t")
    assert (whole.text, whole.segments, whole.is_complete) == ("a", 1, True)
    assert whole.parts == (Part(1, "a", "t"),)


def test_tokens_come_back_with_their_parts():
    assembler = Assembler()
    assembler.add("b", place(2), token="second")
    whole = assembler.add("a", place(1), token="first")
    assert [(part.number, part.token) for part in whole.parts] == [(1, "first"), (2, "second")]


def test_too_many_give_way_and_the_oldest_first():
    assembler = Assembler(assemblies_max=2)
    for reference in range(2):
        assembler.add("a", place(1, reference=reference))
    assert assembler.give_way() is None
    assembler.add("a", place(1, reference=2))
    gone = assembler.give_way()
    assert (gone.key[0], gone.text, gone.is_complete) == (0, "a[…]", False)
    assert assembler.give_way() is None


def test_incomplete_ones_are_given_up_on_by_time_since_their_last_part():
    assembler = Assembler()
    assembler.add("d", place(4, 5), now_s=0)
    assembler.add("other", place(1, reference=9), now_s=1)
    assembler.add("a", place(1, 5), now_s=10)
    assert assembler.oldest_s() == 1
    (other,) = assembler.take_older(5)
    assert other.text == "other[…]"
    (whole,) = assembler.take_older(10.1)
    assert whole.text == "a[…]d[…]"
    assert [part.number for part in whole.parts] == [1, 4]
    assert assembler.oldest_s() is None


def test_only_what_nothing_new_came_of_is_given_up_as_repeated():
    assembler = Assembler()
    for number, text in ((1, "a"), (2, "b")):
        assembler.add(text, place(number), now_s=0)
    assembler.add("new", place(1), "others", now_s=0)
    assert assembler.oldest_repeated_s() is None
    assembler.add("b", place(2), now_s=1)
    assert assembler.oldest_repeated_s() == 1
    assert assembler.take_repeated(1) == []
    (again,) = assembler.take_repeated(1.1)
    assert (again.repeats, len(assembler)) == (True, 1)


def test_a_part_that_comes_again_after_its_message_is_known():
    assembler = Assembler()
    assembler.add("a", place(1), now_s=0)
    assert not assembler.add("b", place(2), now_s=0).repeats
    assembler.add("b", place(2), now_s=1)
    (again,) = assembler.take_older(2)
    assert again.repeats
    for number, text in ((1, "a"), (2, "b")):
        whole = assembler.add(text, place(number), now_s=3)
    assert whole.repeats


def test_another_message_under_the_same_reference_is_another_message():
    assembler = Assembler()
    for number, text in ((1, "a"), (2, "b")):
        assembler.add(text, place(number), now_s=0)
    assembler.add("a", place(1), now_s=1)
    whole = assembler.add("c", place(2), now_s=1)
    assert (whole.text, whole.repeats) == ("ac", False)
    # And the same one again after a while is meant.
    later = REPEATS_S + 2
    for number, text in ((1, "a"), (2, "c")):
        whole = assembler.add(text, place(number), now_s=later)
    assert not whole.repeats


def test_a_message_is_known_again_by_how_long_ago_it_was_whole():
    for later_s, known in ((REPEATS_S, True), (REPEATS_S + 1, False)):
        assembler = Assembler()
        for number, text in ((1, "a"), (2, "b")):
            assembler.add(text, place(number), now_s=5000)
        for number, text in ((1, "a"), (2, "b")):
            whole = assembler.add(text, place(number), now_s=5000 + later_s)
        assert whole.repeats is known


def test_of_a_message_that_has_not_begun_nothing_is_held():
    assert Assembler().held((7, 8, 2), 1) is None


def test_what_could_not_be_stored_is_new_when_all_of_it_comes_again():
    assembler = Assembler()
    for number, text in ((1, "a"), (2, "b")):
        whole = assembler.add(text, place(number))
    assembler.put_back(whole, [], 5)
    for number, text in ((1, "a"), (2, "b")):
        again = assembler.add(text, place(number), now_s=6)
    assert (again.text, again.repeats) == ("ab", False)


def test_what_could_not_be_stored_is_held_again_where_nothing_whole_is_known():
    assembler = Assembler(finished_max=0)
    for number, text in ((1, "a"), (2, "b")):
        whole = assembler.add(text, place(number), now_s=3)
    assembler.put_back(whole, [2], 5)
    assert assembler.oldest_s() == 5
    assert assembler.take_begun(5) == []
    assert [one.text for one in assembler.take_begun(5.1)] == ["[…]b"]


def test_what_could_not_be_stored_joins_what_came_meanwhile():
    assembler = Assembler()
    for number, text in ((1, "a"), (2, "b")):
        whole = assembler.add(text, place(number, 3))
    (whole,) = assembler.take_older()
    assembler.add("c", place(3, 3), now_s=4)
    assembler.put_back(whole, [1], 5)
    assert assembler.add("b", place(2, 3), now_s=6).text == "abc"


def test_what_came_meanwhile_is_new_beside_a_repeat_that_is_held_again():
    assembler = Assembler()
    for number, text in ((1, "a"), (2, "b")) * 2:
        whole = assembler.add(text, place(number))
    assert whole.repeats
    assembler.add("x", place(1), now_s=4)
    assembler.put_back(whole, [2], 5)
    (mixed,) = assembler.take_older()
    assert (mixed.text, mixed.repeats) == ("xb", False)


def test_what_could_not_be_stored_is_held_again():
    assembler = Assembler()
    assembler.add("a", place(1), token="ours")
    whole = assembler.add("b", place(2))
    assembler.put_back(whole, [1], 5)
    again = assembler.add("b", place(2), now_s=6)
    assert (again.text, again.repeats) == ("ab", False)
    assert again.parts[0].token == "ours"
    assembler.put_back(again, [], 7)
    assert assembler.oldest_s() is None


def test_a_repeat_that_is_held_again_is_still_one():
    assembler = Assembler()
    for number, text in ((1, "a"), (2, "b")) * 2:
        whole = assembler.add(text, place(number))
    assert whole.repeats
    assembler.put_back(whole, [1], 5)
    assert assembler.add("b", place(2), now_s=6).repeats


def test_a_part_is_taken_back_by_its_own_token_only():
    assembler = Assembler()
    assembler.add("a", place(1), token="first")
    key = (7, 8, 2)
    before = assembler.held(key, 1)
    assembler.add("a", place(1), token="again")
    assembler.take_back(key, 1, "first", None)
    assert assembler.held(key, 1).token == "again"
    assembler.take_back(key, 1, "again", before)
    assert assembler.held(key, 1).token == "first"
    assembler.take_back(key, 1, "first", None)
    assert assembler.oldest_s() is None


def test_a_reference_used_anew_ends_the_message_before():
    assembler = Assembler()
    assembler.add("a", place(1))
    assert assembler.displaced((7, 8, 2), 1, "a") is None
    assert assembler.displaced((7, 8, 2), 2, "b") is None
    assert assembler.displaced((7, 8, 2), 1, "c").text == "a[…]"
    assert assembler.oldest_s() is None


def test_finished_ones_are_known_in_another_run_and_forgotten_in_time():
    one, other = Assembler(), Assembler()
    one.add("é😀"[:1], place(1))
    whole = one.add("\ud83d", place(2))
    other.recall_finished(whole.key, whole.marks, 0)
    other.add("é", place(1), now_s=1)
    assert other.add("\ud83d", place(2), now_s=1).repeats
    other.recall_finished(whole.key, whole.marks, 900)
    assert other.forget_finished(900 + REPEATS_S) == []
    other.recall_finished(whole.key, whole.marks, 0)
    assert other.forget_finished(REPEATS_S) == []
    assert other.forget_finished(REPEATS_S + 1) == [whole.key]


def test_only_so_many_finished_ones_are_known():
    assembler = Assembler(finished_max=2)
    for reference in range(4):
        for number in (1, 2):
            assembler.add("x", place(number, reference=reference))
    assert [key[0] for key in assembler.forget_finished(0)] == [0, 1]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), max_size=40),
    st.integers(1, 3),
)
def test_every_part_comes_back_in_some_message(arrivals, assemblies_max):
    assembler = Assembler(assemblies_max)
    came, back = set(), []
    for now_s, (reference, number) in enumerate(arrivals):
        token = (reference, number)
        came.add(token)
        ended = [
            assembler.add("x", place(number, 3, reference), token=token, now_s=now_s),
            assembler.give_way(),
        ]
        back += [part.token for whole in ended if whole for part in whole.parts]
    back += [part.token for whole in assembler.take_older() for part in whole.parts]
    assert set(back) == came


def test_what_began_first_and_was_touched_last():
    assembler = Assembler(finished_max=0)
    assembler.add("a", Concatenation(1, 3, 1, 8), now_s=1.0)
    assembler.add("b", Concatenation(2, 3, 1, 8), now_s=2.0)
    assembler.add("c", Concatenation(1, 3, 2, 8), now_s=3.0)
    assert len(assembler) == 2
    assert assembler.take_begun(1.0) == []
    assert [whole.text for whole in assembler.take_older(3.0)] == ["b[…]"]
    assert assembler.take_first_begun().text == "ac[…]"
    assert len(assembler) == 0


def test_what_began_first_is_neither_what_came_last_nor_what_has_the_lowest_reference():
    assembler = Assembler()
    for reference, began_s in ((2, 1.0), (3, 2.0), (1, 3.0)):
        assembler.add("a", place(1, 3, reference), now_s=began_s)
    assembler.add("b", place(2, 3, 2), now_s=4.0)
    assert [whole.key[0] for whole in assembler.take_begun(1.5)] == [2]
    assembler.add("c", place(2, 3, 3), now_s=5.0)
    assert assembler.take_first_begun().key[0] == 3
    assert assembler.take_first_begun().key[0] == 1


def test_nothing_is_kept_of_whole_messages_where_somebody_else_knows_them():
    assembler = Assembler(finished_max=0)
    for _ in range(2):
        assembler.add("a", Concatenation(1, 2, 1, 8))
        whole = assembler.add("b", Concatenation(1, 2, 2, 8))
        assert not whole.repeats
    assert assembler.forget_finished(0.0) == []
