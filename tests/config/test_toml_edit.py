"""Changing single settings: everything else of the file stays, comments too."""

import tomllib
from difflib import ndiff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.config.files.toml_edit import EditRefused, edited
from risala.config.template import render_template

MINE = """\
# mine
[http]
port = 9000  # theirs
hosts = [
  "a",  # one
]

[[carriers]]
name = "one"
driver = "smpp"
[carriers.smpp]
host = "a"
# the end of one
[[carriers]]
name = "two"
driver = "modem"
[carriers.modem]
port = "/dev/a"
"""

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=9)


def changed_lines(before: str, after: str) -> list[str]:
    return [line for line in ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


def test_a_setting_is_written_in_the_place_of_its_explanation():
    before = render_template()
    after = edited(
        before, [(("pricing", "per_segment"), "15"), (("http", "public_url"), "https://a.b")]
    )
    assert sorted(changed_lines(before, after)) == [
        '+ per_segment = "15"',
        '+ public_url = "https://a.b"',
        "- # public_url is not set.",
        '- #per_segment = "0.50"',
    ]


def test_a_table_of_a_list_is_changed_where_it_stands():
    after = edited(
        MINE, [(("carriers", 0, "smpp", "port"), 2776), (("carriers", 1, "enabled"), False)]
    )
    assert changed_lines(MINE, after) == ["+ port = 2776", "+ enabled = false"]
    assert after.index("port = 2776") < after.index("# the end of one")


def test_a_list_gets_another_table_and_a_table_another_table():
    new = {"name": "x", "driver": "smpp", "smpp": {"host": "h"}}
    after = edited(
        MINE, [(("carriers", 2), new), (("carriers", 0, "retry", "n"), 1), (("mail", "host"), "m")]
    )
    tree = tomllib.loads(after)
    assert tree["carriers"][2] == new
    assert tree["carriers"][0]["retry"] == {"n": 1}
    assert tree["mail"] == {"host": "m"}
    assert not [line for line in changed_lines(MINE, after) if line[0] == "-"]


def test_a_setting_that_is_taken_out_is_commented_out():
    after = edited(MINE, [(("http", "hosts"), None)])
    assert "hosts" not in tomllib.loads(after)["http"]
    assert '#  "a",  # one' in after


@pytest.mark.parametrize(
    "text", ["http.port = 1\n", "http = { port = 1 }\n", "carriers = [{ a = 1 }]\n"]
)
def test_what_it_cannot_follow_is_refused(text):
    path = ("carriers", 0, "a") if "carriers" in text else ("http", "port")
    with pytest.raises(EditRefused, match="by hand"):
        edited(text, [(path, 2)])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    ("http", "port"),
                    ("http", "new"),
                    ("new", "a"),
                    ("carriers", 0, "name"),
                    ("carriers", 0, "smpp", "host"),
                    ("carriers", 1, "modem", "b"),
                    ("http", "hosts"),
                ]
            ),
            st.none() | st.integers(0, 9) | TEXTS | st.lists(TEXTS, max_size=3),
        ),
        max_size=6,
    )
)
def test_only_what_was_asked_for_changes(changes):
    after = tomllib.loads(edited(MINE, changes))
    wanted = tomllib.loads(MINE)
    for path, value in changes:
        here = wanted
        for step in path[:-1]:
            here = here[step] if isinstance(step, int) else here.setdefault(step, {})
        here.pop(path[-1], None)
        if value is not None:
            here[path[-1]] = value
    assert {key: each for key, each in after.items() if each} == {
        key: each for key, each in wanted.items() if each
    }
