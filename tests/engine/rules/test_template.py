"""The text of a code's SMS: what a template may be, and what is sent."""

import pytest

from risala.engine.rules.template import (
    TEMPLATE_MAX,
    freeze,
    is_app_hash,
    is_origin,
    render,
    template_fault,
)


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ("{{code}}", None),
        ("a\n{{code}}\n{{expiry_minutes}}", None),
        ("x" * (TEMPLATE_MAX - 8) + "{{code}}", None),
        ("x" * (TEMPLATE_MAX - 7) + "{{code}}", "A template can have at most 480 characters."),
        ("code", "The template must contain {{code}}."),
        ("{{ code }}", "The template must contain {{code}}."),
        (
            "{{code}} {{name}} {{app}} {{expiry_minutes}}",
            "The template can use {{code}} and {{expiry_minutes}}, but not {{app}}, {{name}}.",
        ),
        ("{{code}}\t", "The template must not contain control characters."),
        ("{{code}}\x1f", "The template must not contain control characters."),
        ("{{code}} \x7f", None),
    ],
)
def test_what_a_template_may_be(template, fault):
    assert template_fault(template) == fault


@pytest.mark.parametrize(
    ("app_hash", "origin", "lines"),
    [
        (None, None, ["Code {{code}}, 10 min"]),
        ("FA+9qCX9VSu", None, ["Code {{code}}, 10 min", "FA+9qCX9VSu"]),
        (None, "example.com", ["Code {{code}}, 10 min", "@example.com #{{code}}"]),
        (
            "FA+9qCX9VSu",
            "example.com",
            ["Code {{code}}, 10 min", "FA+9qCX9VSu", "@example.com #{{code}}"],
        ),
    ],
)
def test_what_is_stored_has_everything_but_the_code(app_hash, origin, lines):
    frozen = freeze("Code {{code}}, {{expiry_minutes}} min", 10, app_hash, origin)
    assert frozen == "\n".join(lines)
    assert render(frozen, "123456") == "\n".join(lines).replace("{{code}}", "123456")


@pytest.mark.parametrize(
    ("text", "is_hash"),
    [
        ("FA+9qCX9VSu", True), ("FA/9qCX9VSu", True), ("FA+9qCX9VS", False),
        ("FA+9qCX9VSuu", False), ("FA-9qCX9VSu", False), ("", False),
    ],
)  # fmt: skip
def test_the_hash_of_an_app(text, is_hash):
    assert is_app_hash(text) is is_hash


@pytest.mark.parametrize(
    ("text", "is_host"),
    [
        ("example.com", True), ("a-b.example.co", True), ("localhost", True), ("example", False),
        ("Example.com", False), ("-a.com", False), ("a-.com", False), ("a..com", False),
        ("example.c", False), ("example.com/", False), (f"{'a' * 64}.com", False), ("", False),
        (".".join(["a" * 60] * 4) + ".example.com", False),
    ],
)  # fmt: skip
def test_a_host_that_a_code_is_bound_to(text, is_host):
    assert is_origin(text) is is_host
