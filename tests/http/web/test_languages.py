"""Which language a reader gets, and that every sentence is there in each."""

import re

import pytest
from babel.messages.pofile import read_po
from werkzeug.datastructures import LanguageAccept

from risala.engine.model.people import Language
from risala.http.web.collect import untranslated, written
from risala.http.web.languages import LOCALE, load_words, preferred

CATALOGUES = sorted(LOCALE.glob("*/*.po"))
_HOLES = re.compile(r"\{[a-z_]+\}")


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ([("ar-MR", 1), ("fr", 0.5)], "ar"),
        ([("de", 1), ("en-GB", 0.8), ("fr", 0.9)], "fr"),
        ([("en", 0), ("de", 1)], "fr"),
        ([], "fr"),
    ],
)
def test_the_browser_is_asked(asked, language):
    assert preferred(LanguageAccept(asked)) == language


@pytest.mark.slow
def test_the_catalogues_are_those_of_the_sources():
    """`make messages` writes them."""
    texts = written()
    assert {*texts} == {*CATALOGUES}
    assert [path.name for path, text in texts.items() if path.read_text("utf-8") != text] == []


def messages():
    for path in CATALOGUES:
        with path.open("rb") as file:
            yield from ((path, each) for each in read_po(file, locale=path.parent.name) if each.id)


def test_every_sentence_is_translated():
    assert [(path.name, *each) for path in CATALOGUES for each in untranslated(path)] == []


def test_a_translation_has_the_holes_of_its_sentence():
    """A form for one or two may say its number in words."""
    for path, message in messages():
        forms = [message.id] if isinstance(message.id, str) else [*message.id]
        strings = [message.string] if isinstance(message.string, str) else [*message.string]
        holes = {hole for form in forms for hole in _HOLES.findall(form)}
        told = [{*_HOLES.findall(each)} for each in strings]
        assert all(each <= holes for each in told), (path.name, message.id)
        needed = holes - ({"{n}"} if len(strings) > 1 else set())
        assert all(needed <= each for each in told), (path.name, message.id)


def test_the_same_sentence_is_translated_the_same_way_on_all_pages():
    seen = {}
    for path, message in messages():
        if isinstance(message.id, str):
            key = path.parent.name, message.context, message.id
            assert seen.setdefault(key, message.string) == message.string, (path.name, message.id)


def test_french_spaces_break_no_line():
    words = load_words(Language.FRENCH)
    assert words("Delete “{name}”?", name="x") == "Supprimer «\u00a0x\u00a0»\u00a0?"


def test_what_fills_a_hole_is_escaped():
    words = load_words(Language.ENGLISH)
    assert words("Delete {name}", name="<b>{x}</b>") == "Delete &lt;b&gt;{x}&lt;/b&gt;"
    assert words("Write {{code}} here") == "Write {{code}} here"
