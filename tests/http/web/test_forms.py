"""What a form says, and its marks."""

import pytest

from risala.http.common.problems import Problem
from risala.http.web.forms import form_of, masked, unmasked


def test_fields():
    form = form_of("a=+x+&b=1&b=2&c=one%0D%0A%0D%0Atwo&empty=")
    assert (form.text("a"), form.text("none", "usual"), form.text("empty", "usual")) == (
        "x", "usual", "",
    )  # fmt: skip
    assert form.all("b") == ("1", "2")
    assert form.lines("c") == ["one", "two"]
    assert form.ticked("a")
    assert not form.ticked("d")


def test_whatever_ends_a_line_is_one_character():
    assert form_of("a=one%0D%0Atwo%0Dthree%0Afour%0D%0D%0Afive").text("a") == (
        "one\ntwo\nthree\nfour\n\nfive"
    )


@pytest.mark.parametrize("query", ["x=%ff", "x=%ED%A0%80", "&".join(["x=1"] * 201)])
def test_what_is_no_form(query):
    with pytest.raises(Problem) as refused:
        form_of(query)
    assert refused.value.status == 400


def test_a_mark_looks_different_each_time():
    assert masked("secret") != masked("secret")
    assert unmasked(masked("secret")) == "secret"


@pytest.mark.parametrize("shown", ["", "x", "é", "AAA", "AAAA", "=", "A" * 1001])
def test_what_is_no_mark(shown):
    assert "secret" not in unmasked(shown)
