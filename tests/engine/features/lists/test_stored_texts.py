"""Saved texts as rows: each name once in a language, and so many of them."""

from dataclasses import replace

import pytest

from risala.engine.features.lists import stored_texts
from risala.engine.features.lists.records import TEXTS_MAX, SavedText
from risala.engine.model.errors import Conflict, Invalid, NotFound


@pytest.fixture
def organization_id(book):
    return book.organization()


@pytest.fixture
def make(book, organization_id):
    def make_one(name="Meeting", language="fr", owner=None):
        whose = owner or organization_id
        made = SavedText(book.id("txt"), whose, name, language, "{{name}} !", book.now_ms, "amina")
        return book.unit(lambda conn: stored_texts.add(conn, made))

    return make_one


def test_a_name_is_there_once_in_each_language(book, organization_id, make):
    french, arabic = make(), make(language="ar")
    found = stored_texts.of_organization(book.conn, organization_id)
    assert found == [arabic, french]
    with pytest.raises(Invalid, match="in this language already"):
        make()
    with pytest.raises(Invalid, match="in this language already"):
        book.unit(lambda conn: stored_texts.change(conn, arabic.id, {"language": "fr"}))
    make(owner=book.organization())


def test_so_many_and_no_more(make):
    for number in range(TEXTS_MAX):
        make(f"Text {number}")
    with pytest.raises(Conflict, match="at most 200 saved texts"):
        make("One more")


def test_a_text_is_changed_and_deleted(book, make):
    made = make()
    changed = book.unit(lambda conn: stored_texts.change(conn, made.id, {"text": "New"}))
    assert changed == replace(made, text="New")
    assert book.unit(lambda conn: stored_texts.delete(conn, made.id)) == changed
    with pytest.raises(NotFound):
        stored_texts.saved_text(book.conn, made.id)
