"""An organization's Verify settings, and what is wrong with them, by the names of the API."""

import pytest

from risala.engine.model.errors import FieldFault, Invalid
from risala.engine.rules.verify_settings import BOUNDS, VerifySettings, parse_verify_settings
from risala.sms.code_texts.catalogue import built_in
from risala.sms.message import Alphabet
from risala.sms.segment import SegmentCount

KNOWN = "ar, en, es, fr, ha, pt, sw, tr, wo"


def faults(**values):
    with pytest.raises(Invalid) as told:
        parse_verify_settings(values)
    return [(fault.path, fault.code, fault.message) for fault in told.value.faults]


@pytest.mark.parametrize("name", BOUNDS)
def test_a_number_is_within_its_bounds(name):
    low, high = BOUNDS[name].low, BOUNDS[name].high
    for value in (low, high):
        assert getattr(parse_verify_settings({name: value}), name) == value
    assert faults(**{name: low - 1}) == [
        (name, "invalid_setting", f"`{name}`: must be at least {low}.")
    ]
    assert faults(**{name: high + 1}) == [
        (name, "invalid_setting", f"`{name}`: must be at most {high}.")
    ]


@pytest.mark.parametrize(
    ("values", "path", "text"),
    [
        ({"code_length": "six"}, "code_length", "valid integer"),
        ({"colour": "red"}, "colour", "`colour`: there is no such setting."),
        (
            {"language": "de"},
            "language",
            f"`language`: 'de' is not a supported language. Use one of: {KNOWN}.",
        ),
        (
            {"templates": {"de": "{{code}}"}},
            "templates",
            f"`templates`: 'de' is not a supported language. Use one of: {KNOWN}.",
        ),
        ({"template": "no"}, "template", "`template`: The template must contain {{code}}."),
        (
            {"templates": {"fr": "no"}},
            "templates.fr",
            "`templates.fr`: The template must contain {{code}}.",
        ),
        (
            {"app_hashes": ["FA+9qCX9VSu", "short"]},
            "app_hashes",
            "`app_hashes`: An app hash has 11 base64 characters.",
        ),
        (
            {"origins": ["example.com", "Example.com"]},
            "origins",
            "`origins`: An origin is a host name in lower case, like example.com.",
        ),
        ({"origins": ["a.co"] * 21}, "origins", "`origins`: must have at most 20 entries."),
    ],
)
def test_a_fault_is_told_with_its_place(values, path, text):
    (fault,) = faults(**values)
    assert fault[:2] == (path, "invalid_setting")
    assert text in fault[2]
    assert fault[2].endswith(".")
    assert not fault[2].endswith("..")


def test_all_faults_are_told_at_once():
    assert [fault[0] for fault in faults(code_length=1, expiry_minutes=0)] == [
        "code_length",
        "expiry_minutes",
    ]


def test_what_is_allowed():
    settings = parse_verify_settings(
        {
            "language": "fr",
            "template": "{{code}}",
            "templates": {"ar": "{{code}} ar"},
            "app_hashes": ["FA+9qCX9VSu"],
            "origins": ["example.com"] * 20,
        }
    )
    assert settings.language == "fr"
    assert settings.templates == {"ar": "{{code}} ar"}
    assert len(settings.origins) == 20


@pytest.mark.parametrize(
    ("settings", "locale", "text"),
    [
        (VerifySettings(), None, built_in()["en"].code),
        (VerifySettings(), "ar", built_in()["ar"].code),
        (VerifySettings(language="fr"), None, built_in()["fr"].code),
        (VerifySettings(language="fr"), "ar", built_in()["ar"].code),
        (VerifySettings(template="own {{code}}"), None, "own {{code}}"),
        (VerifySettings(template="own {{code}}"), "en", built_in()["en"].code),
        (VerifySettings(templates={"fr": "fr {{code}}"}), "fr", "fr {{code}}"),
        (VerifySettings(templates={"fr": "fr {{code}}"}), "ar", built_in()["ar"].code),
        (VerifySettings(language="fr", templates={"fr": "fr {{code}}"}), None, "fr {{code}}"),
    ],
)
def test_which_template_a_send_has(settings, locale, text):
    assert settings.text(locale, None, None) == text.replace("{{expiry_minutes}}", "10")


def test_a_send_has_the_lines_that_it_asks_for_and_the_settings_minutes():
    settings = VerifySettings(template="{{code}} {{expiry_minutes}}", expiry_minutes=3)
    text = settings.text(None, "FA+9qCX9VSu", "example.com")
    assert text == "{{code}} 3\nFA+9qCX9VSu\n@example.com #{{code}}"


def test_what_a_send_asks_for_is_registered():
    settings = VerifySettings(app_hashes=("FA+9qCX9VSu",), origins=("example.com",))
    assert settings.faults_of("fr", "FA+9qCX9VSu", "example.com") == []
    assert settings.faults_of(None, None, None) == []
    elsewhere = "is not registered in the organization's Verify configuration."
    assert settings.faults_of("de", "FB+9qCX9VSu", "example.org") == [
        FieldFault(
            "locale",
            "invalid_locale",
            f"`locale` must be one of {KNOWN}.",
        ),
        FieldFault("appHash", "not_registered", f"`appHash` {elsewhere}"),
        FieldFault("origin", "not_registered", f"`origin` {elsewhere}"),
    ]


def test_the_size_is_that_with_the_code_in_it():
    assert VerifySettings(code_length=8).size("x{{code}}") == SegmentCount(Alphabet.GSM7, 1, 9)
    assert VerifySettings(code_length=4).size("ع{{code}}") == SegmentCount(Alphabet.UCS2, 1, 5)


def test_the_size_with_the_line_of_a_page_is_that_of_the_longest():
    hosts = ("a.example", "shop.long.example", "b.example")
    settings = VerifySettings(origins=hosts)
    sizes = dict(settings.sizes())
    assert sizes[None, False, True] == settings.size(settings.text(None, None, hosts[1]))
