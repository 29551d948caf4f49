"""Texts of codes by language: the built-in ones, and those of an operator's folder."""

import json

import pytest

from risala.engine.rules.template import freeze, render, template_fault, variables_of
from risala.sms.code_texts import catalogue
from risala.sms.code_texts.catalogue import (
    BUILT_IN,
    FILE_BYTES_MAX,
    LANGUAGES_MAX,
    CatalogueError,
    built_in,
    language_of,
    with_folder,
)
from risala.sms.segment import count

GOOD = {
    "name": "አማርኛ",
    "code": "የማረጋገጫ ኮድዎ {{code}} ነው። ለ{{expiry_minutes}} ደቂቃ ይሠራል።",
    "payment": "{{amount}} {{currency}} ለ{{payee}}።",
    "never_share": "ለማንም አይስጡ።",
}


def write(folder, file="am.toml", /, **changes):
    table = {**GOOD, **changes}
    texts = {key: json.dumps(each, ensure_ascii=False) for key, each in table.items() if each}
    lines = [f"{key} = {each}" for key, each in texts.items()]
    (folder / file).write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("language", BUILT_IN)
def test_each_built_in_text_is_one_sms_and_names_what_it_must(language):
    text = built_in()[language]
    assert template_fault(text.code) is None
    assert "{{expiry_minutes}}" in text.code
    assert count(render(freeze(text.code, 60, None, None), "12345678")).segments == 1
    assert sorted(variables_of(text.payment)) == ["amount", "currency", "payee"]
    assert text.never_share.endswith(".")


def test_no_language_says_what_another_says():
    for name in ("name", "code", "payment", "never_share"):
        assert len({getattr(each, name) for each in built_in().values()}) == len(BUILT_IN)


def test_a_folder_adds_languages_and_replaces_texts(tmp_path):
    write(tmp_path)
    write(tmp_path, "pt-br.toml", name="Português (Brasil)")
    write(tmp_path, "fr.toml", code="Code {{code}}")
    (tmp_path / "notes.txt").write_text("not read")
    texts = with_folder(tmp_path)
    assert set(texts) == {*BUILT_IN, "am", "pt-br"}
    assert texts["am"].code == GOOD["code"]
    assert texts["fr"].code == "Code {{code}}"
    assert texts["en"] == built_in()["en"]
    assert built_in()["fr"].code != "Code {{code}}"


def test_a_joiner_is_a_letter_s_part(tmp_path):
    write(tmp_path, "fa.toml", never_share="به کسی نمی\u200cدهید.")
    assert "\u200c" in with_folder(tmp_path)["fa"].never_share


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("amharic.toml", {}, "amharic.toml: a file is named after its language"),
        ("AM.toml", {}, "AM.toml: a file is named after its language"),
        ("am.toml", {"code": None}, "am.toml: the text code is missing."),
        ("am.toml", {"name": " "}, "am.toml: the text name is missing."),
        ("am.toml", {"payment": 5}, "am.toml: the text payment is missing."),
        ("am.toml", {"other": "x"}, "am.toml: there is no text other."),
        ("am.toml", {"code": "ኮድ"}, "am.toml: code: the text must contain {{code}}."),
        ("am.toml", {"code": "{{code}} {{app}}"}, "code: the text cannot contain {{app}}."),
        ("am.toml", {"never_share": "{{code}}"}, "never_share: the text cannot contain {{code}}."),
        ("am.toml", {"payment": "{{amount}}"}, "must contain {{currency}} and {{payee}}."),
        (
            "am.toml",
            {"code": "{{code}} evil.example"},
            "code: the text must not contain a link",
        ),
        ("am.toml", {"never_share": "evil.example/x"}, "never_share: the text must not contain a"),
        ("am.toml", {"code": "{{code}}\u202e"}, "code: the text must be one line"),
        ("am.toml", {"code": "ኮድ {{code}} " + "ሀ" * 60}, "takes 72 of the 70 characters (ucs2)"),
        ("am.toml", {"code": "Code {{code}} " + "a" * 150}, "of the 160 characters (gsm7)"),
        ("am.toml", {"never_share": "a" * 101}, "the text has 101 characters. It may have 100"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path, name, changes, told):
    write(tmp_path, name, **changes)
    with pytest.raises(CatalogueError) as error:
        with_folder(tmp_path)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"name = ", "am.toml is not TOML: "),
        (b"name = " + b"[" * 16_000, "am.toml is not TOML: "),
        (b"name = '\xff'", "am.toml is not UTF-8. Save it as UTF-8."),
        (b"#" * (FILE_BYTES_MAX + 1), "am.toml is larger than 16384 bytes."),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, raw, told):
    (tmp_path / "am.toml").write_bytes(raw)
    with pytest.raises(CatalogueError) as error:
        with_folder(tmp_path)
    assert told in str(error.value)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CatalogueError, match=r"gone cannot be read: No such file"):
        with_folder(tmp_path / "gone")


def test_files_are_counted_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "LANGUAGES_MAX", 1)
    write(tmp_path)
    write(tmp_path, "fa.toml")
    assert len(BUILT_IN) < LANGUAGES_MAX
    with pytest.raises(CatalogueError, match="has 2 files of texts"):
        with_folder(tmp_path)


@pytest.mark.parametrize(
    ("tag", "language"),
    [("pt-BR", "pt"), ("PT", "pt"), ("fr_FR", "fr"), ("zh-HK", None), ("", None), ("en", "en")],
)
def test_a_tag_asks_for_the_nearest_language(tag, language):
    assert language_of(tag, built_in()) == language
    texts = {**built_in(), "pt-br": built_in()["pt"]}
    assert language_of("pt-BR", texts) == "pt-br"
