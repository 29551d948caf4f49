"""Tables in any width: nothing lost, nothing broken."""

from hypothesis import given
from hypothesis import strategies as st

from risala.cli.show import layout

ID = "sms_01KAD4V5Q0Z8Y3X2W1V0T9S8R7Q6P5"
TIME = "2026-11-21 08:30:00.123"


def plain(text: str) -> str:
    return text


def lines_of(columns, rows, width):
    return layout.lines_of(columns, rows, width, measure=len, heading=plain, label=plain)


def test_what_fits_stands_side_by_side():
    assert lines_of(("Id", "Name"), [("1", "Salam"), ("22", "Nour")], 40) == [
        "Id  Name",
        "─────────",
        "1   Salam",
        "22  Nour",
    ]


def test_a_sentence_is_folded_between_words_in_its_column():
    text = "The carrier has refused the message, for good."
    assert lines_of(("Time", "What"), [(TIME, text)], 50) == [
        "Time                     What",
        "──────────────────────────────────────────────────",
        f"{TIME}  The carrier has refused",
        "                         the message, for good.",
    ]


def test_where_columns_do_not_fit_each_row_is_a_record():
    rows = [(ID, TIME, "one two three four five six seven"), (ID, TIME, "x")]
    assert lines_of(("Id", "Time", "Text"), rows, 40) == [
        f"Id    {ID}",
        f"Time  {TIME}",
        "Text  one two three four five six seven",
        "",
        f"Id    {ID}",
        f"Time  {TIME}",
        "Text  x",
    ]


def test_what_is_longer_than_the_line_stands_alone_and_whole():
    assert lines_of(("Message", ""), [(ID, ID)], 30) == ["Message", f"  {ID}", f"  {ID}"]


def test_a_time_and_an_amount_are_not_broken():
    assert layout.fold(f"{TIME} 99.50 MRU", 10, len) == [TIME, "99.50 MRU"]


@given(
    st.lists(
        st.lists(st.text("ab c", max_size=30), min_size=3, max_size=3), min_size=1, max_size=4
    ),
    st.integers(8, 120),
)
def test_every_word_is_there_and_lines_keep_to_the_width(rows, width):
    lines = lines_of(("A", "Bee", "Sea"), rows, width)
    there = " ".join(lines).split()
    for word in {word for row in rows for cell in row for word in cell.split()}:
        assert word in there
    for line in lines:
        assert len(line) <= width or len(line.split()) <= 2
