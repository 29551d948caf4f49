"""One form for each e-mail address."""

import pytest

from risala.engine.rules.people.emails import ADDRESS_MAX, LOCAL_MAX, domain_of, normalised


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Amina@Example.COM", "amina@example.com"),
        (" amina@example.com\n", "amina@example.com"),
        ("a.b+c@example.com", "a.b+c@example.com"),
        ("amina@münchen.de", "amina@xn--mnchen-3ya.de"),
        ("amina@MÜNCHEN.de", "amina@xn--mnchen-3ya.de"),
        ("amina@straße.de", "amina@xn--strae-oqa.de"),
        ("a" * LOCAL_MAX + "@example.com", "a" * LOCAL_MAX + "@example.com"),
    ],
)
def test_what_is_an_address(text, address):
    assert normalised(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "", "amina", "@example.com", "amina@", "amina@localhost", "amina@example.com.",
        "amina@.com", "a b@example.com", "a\n@example.com", "a@b@example.com", ".a@example.com",
        "a..b@example.com", '"a b"@example.com', "أمينة@example.com", "a@exa mple.com",
        "a@-example.com", "a@exam_ple.com", "a" * (LOCAL_MAX + 1) + "@example.com",
    ],
)  # fmt: skip
def test_what_is_none(text):
    assert normalised(text) is None


def test_the_longest_address():
    longest = f"{'a' * 64}@{'.'.join(['b' * 62] * 3)}."
    fits = longest[: ADDRESS_MAX - 1] + "c"
    for text, is_one in ((longest[:-1], True), (fits, True), (longest + "d" * 4, False)):
        assert len(text) <= ADDRESS_MAX or not is_one
        assert (normalised(text) is not None) is is_one


def test_the_domain_is_what_stands_behind():
    assert domain_of("amina@example.com") == "example.com"
